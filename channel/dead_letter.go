package channel

import (
	"context"
	stdjson "encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel/engine"
	"github.com/sabir-go/sabir/codec/json"
)

// DeadLetter is a dead letter: a message that no attempt could handle.
type DeadLetter struct {
	Key  string    `json:"key"` // for Replay and DeleteDeadLetters
	ID   string    `json:"id"`
	Dead *DeadInfo `json:"dead,omitempty"` // nil for a message that was published there
	// Codec names the codec of Data. Data is JSON, or a string of base64 where the codec is another.
	Codec string             `json:"codec"`
	Data  stdjson.RawMessage `json:"data"`
	// Attributes are those of a CloudEvent in the binary mode, beside which Data is its data.
	Attributes map[string]string `json:"attributes,omitempty"`
}

// maxDeadMessages bounds what one call lists or replays.
const maxDeadMessages = 10_000

// DeadLetters lists up to limit messages of a channel of dead letters, such as "shop.orders.dead", the oldest first.
func DeadLetters(ctx context.Context, from sabir.Caller, name string, limit int) ([]DeadLetter, error) {
	_, list, err := deadMessages(ctx, from, name, limit)
	var letters []DeadLetter
	for _, l := range list {
		letters = append(letters, DeadLetter{Key: l.Key, ID: l.ID, Dead: l.Dead, Codec: l.Codec, Data: readable(&l.Message), Attributes: l.Attributes})
	}
	return letters, err
}

// readable is a message's data as JSON.
func readable(m *engine.Message) stdjson.RawMessage {
	if (m.Codec == json.Name || m.Codec == "") && utf8.Valid(m.Data) && stdjson.Valid(m.Data) {
		return m.Data
	}
	text, _ := stdjson.Marshal(m.Data) // bytes always can be written
	return text
}

// Replay publishes dead letters again to the channels that they are from, for the groups that failed to handle them and no
// others, and takes them from the list; without keys all that are there now, up to 10,000. It returns how many. One that
// fails again becomes a dead letter again.
//
// The node must consume from or publish to the channels that the messages are from, so that it knows their limits.
func Replay(ctx context.Context, from sabir.Caller, name string, keys ...string) (int, error) {
	b, list, err := deadMessages(ctx, from, name, maxDeadMessages)
	if err != nil {
		return 0, err
	}
	replayed := 0
	for _, l := range list {
		if len(keys) > 0 && !slices.Contains(keys, l.Key) {
			continue
		}
		if err := b.replay(ctx, name, l); err != nil {
			return replayed, err
		}
		replayed++
	}
	return replayed, nil
}

func (b *broker) replay(ctx context.Context, name string, l engine.DeadLetter) error {
	if l.Dead == nil {
		return b.failure(ErrNoChannels, "message %s of %s is no dead letter: it does not say where it is from", l.Key, name)
	}
	b.mu.Lock()
	spec, known := b.declared[l.Dead.Channel]
	b.mu.Unlock()
	if !known {
		return b.failure(ErrNoChannels, "node %s does not use channel %s and does not know its limits: replay on a node that does",
			b.node.ID(), l.Dead.Channel)
	}
	b.believe(name, &l.Message)
	again := &engine.Outgoing{Message: l.Message, Dedup: true} // so that a crash before the removal does not bring it twice
	again.ID = derivedID(l.ID, l.Key, "again")
	again.Only, again.Dead = l.Dead.Group, nil
	if err := b.publish(ctx, spec, []*engine.Outgoing{again}); err != nil {
		return err
	}
	_, err := b.removeDeadMessages(ctx, name, l.Key)
	return err
}

// DeleteDeadLetters takes messages out of a channel of dead letters for good, and returns how many were there.
func DeleteDeadLetters(ctx context.Context, from sabir.Caller, name string, keys ...string) (int, error) {
	b, err := deadBroker(from, name)
	if err != nil {
		return 0, err
	}
	return b.removeDeadMessages(ctx, name, keys...)
}

func (b *broker) removeDeadMessages(ctx context.Context, name string, keys ...string) (int, error) {
	store, err := b.declare(ctx, deadSpec(name))
	if err != nil {
		return 0, err
	}
	removed, err := store.Remove(ctx, name, keys...)
	if err != nil {
		return removed, b.callerError("delete from "+name, err)
	}
	return removed, nil
}

func deadMessages(ctx context.Context, from sabir.Caller, name string, limit int) (*broker, []engine.DeadLetter, error) {
	b, err := deadBroker(from, name)
	if err != nil {
		return nil, nil, err
	}
	store, err := b.declare(ctx, deadSpec(name))
	if err != nil {
		return nil, nil, err
	}
	list, err := store.DeadLetters(ctx, name, min(max(limit, 1), maxDeadMessages))
	if err != nil {
		return nil, nil, b.callerError("list "+name, err)
	}
	return b, list, nil
}

// deadBroker returns the broker that keeps a channel of dead letters.
func deadBroker(from sabir.Caller, name string) (*broker, error) {
	b, err := brokerOf(from, name)
	if err != nil {
		return nil, err
	}
	if err := checkName("the channel", name); err != nil {
		return nil, err
	}
	b.mu.Lock()
	_, known := b.declared[name]
	holdsDead := b.holdDead[name] || strings.HasSuffix(name, deadSuffix)
	b.mu.Unlock()
	// Declaring it as a channel of dead letters would change how long it keeps its messages, and all of them could be deleted.
	if known && !holdsDead {
		return nil, b.failure(ErrNoChannels, "%s holds no dead letters; those of its consumers are in %s, unless Consumer.DeadLettersTo says otherwise", name, name+deadSuffix)
	}
	return b, nil
}

// deadSpec is the declaration of a channel of dead letters.
func deadSpec(name string) engine.Spec { return engine.Spec{Name: name, DeadLetters: true} }
