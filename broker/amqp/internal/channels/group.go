package channels

import (
	"context"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/sabir-go/sabir/internal/engine"
)

// group is one node's part of a group: a consumer of its queue.
type group struct {
	store *store
	spec  engine.GroupSpec
	queue string
	held  atomic.Int64 // deliveries that were received and not answered
	ended context.Context
	end   context.CancelFunc

	receiving  sync.Mutex
	ch         *amqp091.Channel // under receiving, as are the following
	tag        string
	deliveries <-chan amqp091.Delivery // nil: not attached

	mu    sync.Mutex
	waits map[string]bool // the queues for delays that were made; false for those that the server may have lost
}

// handle is a delivery with the mark whether it was answered, so that it is answered once.
type handle struct {
	delivery amqp091.Delivery
	answered *atomic.Bool
}

func (s *store) Join(ctx context.Context, spec engine.GroupSpec) (engine.Group, error) {
	if _, err := s.spec(spec.Channel); err != nil {
		return nil, err
	}
	if spec.From.Sequence > 0 {
		return nil, fmt.Errorf("group %s of channel %s: to start at a sequence is %w: RabbitMQ tells no places; start at a time", spec.Name, spec.Channel, engine.ErrNotOffered)
	}
	g := &group{store: s, spec: spec, queue: s.queue(spec.Channel, spec.Name), waits: make(map[string]bool)}
	session, err := s.session()
	if err == nil {
		err = g.make(ctx, session)
	}
	if err != nil {
		return nil, err
	}
	g.ended, g.end = context.WithCancel(context.Background())
	g.receiving.Lock()
	err = g.attach(session)
	g.receiving.Unlock()
	if err != nil {
		return nil, err
	}
	if g.spec.From.New {
		g.spec.From = engine.Position{Time: time.Now()} // should the queue be made again, what was published since is for it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = append(s.groups, g)
	return g, nil
}

// attach begins to consume. It runs under receiving.
func (g *group) attach(session *session) error {
	ch, err := session.conn.Channel()
	if err != nil {
		return failure(err)
	}
	if err = ch.Qos(min(max(1, g.spec.InFlight), 65_535), 0, false); err == nil {
		g.tag = uuid.NewString()
		g.deliveries, err = ch.Consume(g.queue, g.tag, false, false, false, false, nil)
	}
	if err != nil {
		g.deliveries = nil
		if !ch.IsClosed() {
			_ = ch.Close()
		}
		return failure(err)
	}
	g.ch = ch
	g.held.Store(0) // what an earlier connection held is in the queue again
	return nil
}

func (g *group) Receive(ctx context.Context, limit int) ([]*engine.Delivery, error) {
	g.receiving.Lock()
	defer g.receiving.Unlock()
	if g.ended.Err() != nil {
		return nil, engine.ErrClosed
	}
	if g.deliveries == nil {
		session, err := g.store.session()
		if err == nil {
			err = g.attach(session)
		}
		if notFound(err) {
			if err = g.store.restore(ctx, session, g.spec.Channel); err == nil {
				err = g.attach(session)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	select {
	case d, ok := <-g.deliveries:
		if !ok {
			g.deliveries = nil
			return nil, fmt.Errorf("%w: the connection broke", engine.ErrUnreachable)
		}
		list := []*engine.Delivery{g.delivery(d)}
		for len(list) < limit {
			select {
			case d, ok := <-g.deliveries:
				if !ok {
					return list, nil // the next call finds out
				}
				list = append(list, g.delivery(d))
			default:
				return list, nil
			}
		}
		return list, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-g.ended.Done():
		return nil, engine.ErrClosed
	}
}

func (g *group) delivery(d amqp091.Delivery) *engine.Delivery {
	g.held.Add(1)
	out := &engine.Delivery{Handle: handle{d, new(atomic.Bool)}}
	out.Message, out.Broken = messageOf(&d)
	out.Attempt, out.Lost = 1+number(d.Headers[attemptHeader]), number(d.Headers["x-delivery-count"])
	return out
}

// mostAttempts is more than any message is handed out, and far from an overflow.
const mostAttempts = 1 << 20

// number is a count in a header, which any program may have written.
func number(v any) int {
	switch n := v.(type) {
	case int64:
		return int(max(0, min(n, mostAttempts)))
	case int32:
		return int(max(0, min(n, mostAttempts)))
	}
	return 0
}

// answer answers a delivery once.
func (g *group) answer(d *engine.Delivery, do func(amqp091.Delivery) error) error {
	h := d.Handle.(handle)
	if !h.answered.CompareAndSwap(false, true) {
		return nil
	}
	g.held.Add(-1)
	return failure(do(h.delivery))
}

// Done does not wait for the server: what is lost on the way to it is handed out again.
func (g *group) Done(_ context.Context, list ...*engine.Delivery) (err error) {
	for _, d := range list {
		if failed := g.answer(d, func(d amqp091.Delivery) error { return d.Ack(false) }); failed != nil {
			err = failed
		}
	}
	return err
}

// shortest is the shortest delay that a queue is made for.
const shortest = 100 * time.Millisecond

// rounded is the delay whose queue a message waits in: the next power of two times the shortest.
func rounded(after time.Duration) time.Duration {
	steps := (after + shortest - 1) / shortest
	return shortest << bits.Len64(uint64(max(1, steps)-1))
}

func (g *group) waitQueue(delay time.Duration) string {
	return fmt.Sprintf("%s:wait:%s:%s:%d", g.store.prefix, g.spec.Channel, g.spec.Name, delay.Milliseconds())
}

// Retry puts a copy, which records how many attempts there were, into a queue for the delay, or without one into the group's
// own, and then answers for the original; between the two there is a moment in which a crash leaves both.
func (g *group) Retry(ctx context.Context, d *engine.Delivery, after time.Duration) error {
	session, err := g.store.session()
	if err != nil {
		return err
	}
	queue := g.queue
	if after > 0 {
		delay := rounded(after)
		if err := g.makeWait(ctx, session, delay); err != nil {
			return err
		}
		queue = g.waitQueue(delay)
	}
	copied, err := publishing(&d.Message)
	if err != nil {
		return err
	}
	copied.Headers[attemptHeader] = int64(d.Attempt)
	errs := make([]error, 1)
	session.publishing.publish(ctx, "", queue, []amqp091.Publishing{copied}, errs)
	if errs[0] != nil {
		return errs[0]
	}
	return g.Done(ctx, d)
}

// Release has the server count one more delivery, which is Lost the next time.
func (g *group) Release(_ context.Context, d *engine.Delivery) error {
	return g.answer(d, func(d amqp091.Delivery) error { return d.Nack(false, true) })
}

// makeWait makes the queue for a delay, from which messages go to the group's queue when their time is over. It returns when the server will
// not forget it, a second later where this node has not used it yet.
func (g *group) makeWait(ctx context.Context, session *session, delay time.Duration) error {
	name := g.waitQueue(delay)
	g.mu.Lock()
	known := g.waits[name]
	g.mu.Unlock()
	if known {
		return nil
	}
	arguments := quorum()
	arguments[amqp091.QueueMessageTTLArg] = delay.Milliseconds()
	arguments["x-dead-letter-exchange"] = ""
	arguments["x-dead-letter-routing-key"] = g.queue
	arguments["x-dead-letter-strategy"] = "at-least-once"
	arguments[amqp091.QueueOverflowArg] = amqp091.QueueOverflowRejectPublish // at-least-once asks for it
	err := session.declare(name, arguments)
	if err == nil {
		// One that is there may have been made a moment ago, by another handler or another node: the message leaves the group's queue for it.
		err = wait(ctx, persistDelay)
	}
	if err == nil {
		g.mu.Lock()
		g.waits[name] = true
		g.mu.Unlock()
	}
	return err
}

// doubtWaits has the queues for delays made once more before they are used: the server may have lost them.
func (g *group) doubtWaits() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name := range g.waits {
		g.waits[name] = false
	}
}

// delayed counts what waits in the queues for delays that this node has used.
func (g *group) delayed(session *session) (sum uint64, err error) {
	g.mu.Lock()
	var names []string
	for name := range g.waits {
		names = append(names, name)
	}
	g.mu.Unlock()
	for _, name := range names {
		n, _, err := session.exists(name)
		if err != nil {
			return sum, err
		}
		sum += uint64(n)
	}
	return sum, nil
}

// Extend has nothing to do: see Features.Lease.
func (g *group) Extend(context.Context, ...*engine.Delivery) error { return nil }

// Close gives back what was not received. What was stays with this connection, so that it can be answered.
func (g *group) Close() error {
	g.end()
	g.receiving.Lock()
	defer g.receiving.Unlock()
	if g.deliveries == nil {
		return nil
	}
	if !g.ch.IsClosed() && g.store.ended.Err() == nil {
		_ = g.ch.Cancel(g.tag, false) // the channel stays, for answers
	}
	for {
		select {
		case d, ok := <-g.deliveries:
			if !ok {
				g.deliveries = nil
				return nil
			}
			_ = d.Nack(false, true)
		case <-time.After(answerLimit):
			g.deliveries = nil
			return nil
		}
	}
}
