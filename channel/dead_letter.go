package channel

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/engine"
)

// DeadLetter is a dead letter: a message that no attempt could handle.
type DeadLetter struct {
	Key  string    `json:"key"`            // for Replay and DeleteDeadLetters
	ID   string    `json:"id"`             // the dead letter's own; that of the message is in Dead
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
		letters = append(letters, DeadLetter{Key: l.Key, ID: l.ID, Dead: (*DeadInfo)(l.Dead), Codec: l.Codec, Data: readable(&l.Message), Attributes: l.Attributes})
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
// others, and takes them from the list; without keys all that are there now, up to 10,000. It returns how many. Their handlers see the ID
// of the message that failed. One that fails again becomes a dead letter again. Keys that are not among those 10,000 are an error that names
// them (see [errBadChannel]), after the others were replayed.
//
// The node must consume from or publish to the channels that the messages are from, so that it knows their limits.
func Replay(ctx context.Context, from sabir.Caller, name string, keys ...string) (int, error) {
	b, list, err := deadMessages(ctx, from, name, maxDeadMessages)
	if err != nil {
		return 0, err
	}
	replayed, missing := 0, missingKeys(list, keys)
	for _, l := range list {
		if len(keys) > 0 && !slices.Contains(keys, l.Key) {
			continue
		}
		if err := b.replay(ctx, name, l); err != nil {
			return replayed, err
		}
		replayed++
	}
	if missing != nil {
		return replayed, b.noSuchKeys(name, missing, replayed, "replayed")
	}
	return replayed, nil
}

// missingKeys are the keys that no dead letter of a list has.
func missingKeys(list []engine.DeadLetter, keys []string) (missing []string) {
	there := make(map[string]bool, len(list))
	for _, l := range list {
		there[l.Key] = true
	}
	for _, key := range keys {
		if !there[key] {
			missing = append(missing, key)
		}
	}
	return missing
}

// noSuchKeys is the error for keys that are not there, after what was done with the others.
func (b *broker) noSuchKeys(name string, missing []string, others int, did string) error {
	text := strings.Join(missing[:min(len(missing), 10)], ", ")
	if more := len(missing) - 10; more > 0 {
		text += fmt.Sprintf(" and %d others", more)
	}
	return b.failure(errBadChannel, "%s has no dead letters with these keys: %.1000s; of the others %d were %s", name, text, others, did)
}

func (b *broker) replay(ctx context.Context, name string, l engine.DeadLetter) error {
	if l.Dead == nil {
		return b.failure(errNoChannels, "message %s of %s is no dead letter: it does not say where it is from", l.Key, name)
	}
	b.mu.Lock()
	spec, known := b.declared[l.Dead.Channel]
	b.mu.Unlock()
	if !known {
		return b.failure(errNoChannels, "node %s does not use channel %s and does not know its limits: replay on a node that does",
			b.node.ID(), l.Dead.Channel)
	}
	b.believe(name, &l.Message)
	again := &engine.Outgoing{Message: l.Message, Dedup: true} // so that a crash before the removal does not bring it twice
	again.ID = derivedID(l.ID, l.Key, "again")
	again.Original, again.Only, again.Dead = l.Dead.ID, l.Dead.Group, nil
	if err := b.publish(ctx, spec, []*engine.Outgoing{again}); err != nil {
		return err
	}
	_, err := b.removeDeadMessages(ctx, name, l.Key)
	return err
}

// DeleteDeadLetters takes messages out of a channel of dead letters for good, and returns how many were there. Keys that are not there are an
// error that names them, after the others were deleted.
func DeleteDeadLetters(ctx context.Context, from sabir.Caller, name string, keys ...string) (int, error) {
	b, list, err := deadMessages(ctx, from, name, maxDeadMessages)
	if err != nil {
		return 0, err
	}
	var missing []string
	if len(list) < maxDeadMessages { // else a key may be that of one behind those
		missing = missingKeys(list, keys)
		keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(missing, key) })
	}
	removed, err := b.removeDeadMessages(ctx, name, keys...)
	if err == nil && missing != nil {
		err = b.noSuchKeys(name, missing, removed, "deleted")
	}
	return removed, err
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
		return nil, b.failure(errNoChannels, "%s holds no dead letters; those of its consumers are in %s, unless Consumer.DeadLettersTo says otherwise", name, name+deadSuffix)
	}
	return b, nil
}

// deadSpec is the declaration of a channel of dead letters.
func deadSpec(name string) engine.Spec { return engine.Spec{Name: name, DeadLetters: true} }
