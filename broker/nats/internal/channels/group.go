package channels

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/broker/nats/internal/natsstore"
	"github.com/sabir-go/sabir/internal/engine"
)

const (
	// pullFor is the time for which the server keeps a request for messages. The client repeats it then.
	pullFor = 30 * time.Second
	// heartbeat is the interval at which a server that keeps a request says so. A request of which two are missed ends with an error.
	heartbeat = 5 * time.Second
)

// group is one node's part of a durable consumer. One request at a time stands with the server, for as many messages as
// the caller wanted when it was made.
type group struct {
	store  *store
	spec   engine.GroupSpec
	failed failed
	ended  context.Context
	end    context.CancelFunc

	mu       sync.Mutex
	standing *request // under mu too for those who end it

	receiving sync.Mutex
	consumer  jetstream.Consumer // under receiving, as are the following
	made      time.Time          // when the server made the stream
	last      uint64             // the last place that was handed out to this node
	request   *request

	doubted atomic.Bool // the server may have lost the group
}

func (s *store) Join(ctx context.Context, spec engine.GroupSpec) (engine.Group, error) {
	if _, err := s.stream(spec.Channel); err != nil {
		return nil, err
	}
	g := &group{store: s, spec: spec, failed: failed{store: s, channel: spec.Channel, group: spec.Name}}
	if err := g.find(ctx); err != nil {
		return nil, err
	}
	g.ended, g.end = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = append(s.groups, g)
	return g, nil
}

// find finds the group at the server, and makes it where it is not there. It runs under receiving, or before others know the group.
func (g *group) find(ctx context.Context) error {
	spec := g.spec
	stream, err := g.store.conn.JetStream.Stream(ctx, g.store.streamName(spec.Channel))
	if err != nil {
		return failure(err)
	}
	made := stream.CachedInfo().Created
	switch {
	case !g.made.IsZero() && !made.Equal(g.made):
		spec.From = engine.Position{} // all that the new stream has was published after the group was made
	case spec.From.New && g.last > 0:
		spec.From = engine.Position{Sequence: g.last + 1}
	}
	config := jetstream.ConsumerConfig{
		Durable: durable(spec.Name), Description: "group " + spec.Name + " of channel " + spec.Channel,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: spec.AckWait, MaxDeliver: -1, MaxAckPending: maxOut, DeliverPolicy: jetstream.DeliverAllPolicy,
	}
	switch {
	case spec.From.New:
		config.DeliverPolicy = jetstream.DeliverNewPolicy
	case spec.From.Sequence > 0:
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, spec.From.Sequence
	case !spec.From.Time.IsZero():
		at := spec.From.Time.UTC()
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &at
	}
	consumer, err := stream.Consumer(ctx, config.Durable)
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		consumer, err = stream.CreateOrUpdateConsumer(ctx, config)
	case err == nil && consumer.CachedInfo().Config.AckWait != spec.AckWait:
		config = consumer.CachedInfo().Config // where the group started cannot be changed
		config.AckWait = spec.AckWait
		consumer, err = stream.UpdateConsumer(ctx, config)
	}
	if err != nil {
		return failure(err)
	}
	g.consumer, g.made = consumer, made
	return nil
}

// findAgain looks for the group after the connection was lost, or a request has failed: a server that starts without its files has lost it.
func (g *group) findAgain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, natsstore.AnswerLimit)
	defer cancel()
	defer context.AfterFunc(g.ended, cancel)()
	if err := g.store.remake(ctx, g.spec.Channel); err != nil {
		return err
	}
	return g.find(ctx)
}

func (g *group) Receive(ctx context.Context, limit int) ([]*engine.Delivery, error) {
	g.receiving.Lock()
	defer g.receiving.Unlock()
	for {
		if g.ended.Err() != nil {
			return nil, engine.ErrClosed
		}
		if err := g.ask(ctx, limit); err != nil {
			return nil, err
		}
		select {
		case msg, ok := <-g.request.messages:
			if ok {
				list := g.collect(msg, limit)
				g.last = max(g.last, list[len(list)-1].Sequence)
				g.failed.notify(list)
				return list, nil
			}
			err := g.request.failure()
			g.request = nil
			if err != nil {
				g.doubted.Store(true)
				return nil, failure(err) // the caller waits a little before it asks again
			}
		case <-g.ended.Done():
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ask makes a request where none stands.
func (g *group) ask(ctx context.Context, limit int) error {
	if g.request != nil {
		return nil
	}
	if g.doubted.Swap(false) {
		if err := g.findAgain(ctx); err != nil {
			g.doubted.Store(true)
			return err
		}
	}
	g.mu.Lock() // a server may be gone with the request at any time from then on
	defer g.mu.Unlock()
	r, err := newRequest(g.consumer, limit, g.failed.store.conn.IsConnected)
	if err != nil {
		return failure(err)
	}
	g.request, g.standing = r, r
	return nil
}

// collect takes what came together with a message.
func (g *group) collect(msg jetstream.Msg, limit int) []*engine.Delivery {
	list := []*engine.Delivery{delivery(msg)}
	for len(list) < limit {
		select {
		case msg, ok := <-g.request.messages:
			if !ok {
				return list // Receive finds out why
			}
			list = append(list, delivery(msg))
		default:
			return list
		}
	}
	return list
}

func delivery(msg jetstream.Msg) *engine.Delivery {
	d := &engine.Delivery{Handle: msg, Attempt: 1}
	d.Message, d.Broken = message(msg.Headers(), msg.Data())
	meta, err := msg.Metadata()
	if err != nil {
		d.Broken = errors.Join(d.Broken, err)
		return d
	}
	d.Sequence, d.Lost = meta.Sequence.Stream, int(max(1, meta.NumDelivered)-1)
	return d
}

// each runs do for all deliveries.
func each(list []*engine.Delivery, do func(jetstream.Msg) error) error {
	for _, d := range list {
		if err := do(d.Handle.(jetstream.Msg)); err != nil {
			return fmt.Errorf("message %d: %w", d.Sequence, failure(err))
		}
	}
	return nil
}

// Done does not wait for the server: what is lost on the way to it is handed out again.
func (g *group) Done(_ context.Context, list ...*engine.Delivery) error {
	return each(list, jetstream.Msg.Ack)
}

// Retry gives the message back also where the attempt could not be counted: then it is Lost the next time.
func (g *group) Retry(ctx context.Context, d *engine.Delivery, after time.Duration) error {
	_ = g.failed.count(ctx, d)
	if after <= 0 {
		return g.Release(ctx, d)
	}
	return each([]*engine.Delivery{d}, func(msg jetstream.Msg) error { return msg.NakWithDelay(after) })
}

// Release has the server count one more delivery, which is Lost the next time.
func (g *group) Release(_ context.Context, d *engine.Delivery) error {
	return each([]*engine.Delivery{d}, jetstream.Msg.Nak)
}

func (g *group) Extend(_ context.Context, list ...*engine.Delivery) error {
	return each(list, jetstream.Msg.InProgress)
}

// renew ends the request that stands, so that the next one goes to the server that is there now.
func (g *group) renew() {
	g.doubted.Store(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.standing != nil {
		g.standing.end()
		g.standing = nil
	}
}

// closeLimit is how long Close waits for what is on its way.
const closeLimit = 2 * time.Second

func (g *group) Close() error {
	g.end()
	g.renew()
	g.receiving.Lock()
	defer g.receiving.Unlock()
	if g.request == nil {
		return nil
	}
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	for {
		select {
		case msg, ok := <-g.request.messages:
			if !ok {
				g.request = nil
				return nil
			}
			_ = msg.Nak() // it comes again without, later
		case <-limit.C: // the connection was lost meanwhile
			return nil
		}
	}
}
