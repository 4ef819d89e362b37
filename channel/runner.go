package channel

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/vouch"
)

// runner is a running consumer: one goroutine receives messages, each message has one for its handler, and one notifies the
// broker which messages are still being handled.
type runner struct {
	*consumer
	broker   *broker
	node     *sabir.Node
	log      *slog.Logger // of the node, with the consumer in each line
	store    engine.Store
	group    engine.Group
	receiver *sabir.EventReceiver
	begun    bool

	receiving context.Context // ends when no more is to be received
	stop      context.CancelFunc
	handling  context.Context // ends when handlers are no longer waited for
	abandon   context.CancelFunc

	memory    *memory.Account       // of the messages in flight
	expected  int64                 // bytes of the next message: those of the largest lately; 0 before the first. For receive alone
	slots     chan struct{}         // one taken for each message in flight
	handled   chan *engine.Delivery // whose handlers have returned nil; its buffer holds all that are in flight
	idle      chan struct{}         // closed when nothing is in flight any more, and nothing will be
	inFlight  sync.WaitGroup        // handlers, and messages in handled
	extending sync.WaitGroup
	ended     chan struct{} // closed when nothing is received any more

	mu      sync.Mutex
	tracked map[*engine.Delivery]bool
}

// openRunner joins the group of a consumer.
func openRunner(ctx context.Context, c *consumer, n *sabir.Node) (*runner, error) {
	b, err := brokerOf(n, c.spec.Name)
	if err != nil {
		return nil, err
	}
	if c.publishers != nil && !vouch.Of(n).ProvesNames() {
		return nil, b.failure(errBadOption, "the consumer of channel %s cannot tell who has published: PublishedBy needs nodes that prove their names; "+
			"join with cluster.Config.TLS that demands certificates of other nodes, or with cluster.Config.NodeKeys", c.spec.Name)
	}
	if _, err := b.declare(ctx, deadSpec(c.DeadLettersTo)); err != nil {
		return nil, err
	}
	store, err := b.declare(ctx, c.spec)
	if err != nil {
		return nil, err
	}
	sub := sabir.Subscription{Pattern: c.spec.Name, Group: c.Group, Type: c.payload, Queued: true, Durable: true}
	receiver, err := c.service.EventReceiver(c.spec.Name, sub, c.invoke, c.Use...)
	if err != nil {
		return nil, err
	}
	r := &runner{consumer: c, broker: b, node: n, store: store, receiver: receiver,
		log:   n.Log().With("node", n.ID(), "channel", c.spec.Name, "group", c.Group),
		slots: make(chan struct{}, c.MaxInFlight), handled: make(chan *engine.Delivery, c.MaxInFlight),
		idle: make(chan struct{}), ended: make(chan struct{}), tracked: make(map[*engine.Delivery]bool)}
	r.memory = memory.OfNode(n).Queue()
	r.group, err = store.Join(ctx, engine.GroupSpec{Channel: c.spec.Name, Name: c.Group, From: c.position(), AckWait: c.AckWait,
		InFlight: c.MaxInFlight})
	if err != nil {
		return nil, b.callerError("join group "+c.Group, err)
	}
	r.receiving, r.stop = context.WithCancel(context.Background())
	r.handling, r.abandon = context.WithCancel(context.Background())
	return r, nil
}

// begin begins to receive.
func (r *runner) begin() {
	r.begun = true
	go r.receive()
	go r.acknowledge()
	if r.store.Features().Lease {
		r.extending.Go(r.extend)
	}
}

// close receives no more and waits for the handlers that run, or for the context. Where nothing was begun it leaves the group.
func (r *runner) close(ctx context.Context) error {
	r.stop()
	if !r.begun {
		r.abandon()
		_ = r.group.Close() // nothing was received
		return nil
	}
	<-r.ended
	err := r.group.Close()
	go func() {
		r.inFlight.Wait()
		close(r.idle)
	}()
	defer r.extending.Wait()
	defer r.abandon()
	select {
	case <-r.idle:
		return err
	case <-ctx.Done():
		return errors.Join(err, r.broker.failure(sabir.ErrDeadlineExceeded,
			"handlers of channel %s in %s were still running; their messages come again: %w", r.spec.Name, r.service.Name(), ctx.Err()))
	}
}

// receive hands messages to handlers, as many at once as there are slots.
func (r *runner) receive() {
	defer close(r.ended)
	var failures backoff.Reasons
	for pause := 50 * time.Millisecond; ; {
		free := r.takeSlots()
		if free == 0 || !r.awaitSpace() {
			return
		}
		for fits := r.fits(); free > fits; free-- {
			<-r.slots
		}
		list, err := r.group.Receive(r.receiving, free)
		for range free - len(list) {
			<-r.slots
		}
		for _, d := range list {
			r.track(d)
			r.inFlight.Go(func() { r.handle(d) })
		}
		if r.receiving.Err() != nil {
			return
		}
		if err == nil {
			pause = 50 * time.Millisecond
			failures.End()
			continue
		}
		if failures.Due(err) {
			r.log.Warn("channel: cannot receive; trying on", "error", err)
		}
		sleepWithin(r.receiving, pause/2+rand.N(pause))
		pause = min(2*pause, time.Second)
	}
}

// takeSlots waits for a free slot and takes all that are free; 0 when no more is to be received.
func (r *runner) takeSlots() int {
	select {
	case r.slots <- struct{}{}:
	case <-r.receiving.Done():
		return 0
	}
	for taken := 1; ; taken++ {
		select {
		case r.slots <- struct{}{}:
		default:
			return taken
		}
	}
}

func (r *runner) track(d *engine.Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tracked[d] = true
	r.memory.Hold(len(d.Data))
	r.expected = max(int64(len(d.Data)), r.expected*15/16)
}

// awaitSpace waits while the messages that are here take as much memory as they may, and is false when no more is to be received.
func (r *runner) awaitSpace() bool {
	expected := int(r.size())
	if !r.memory.TakeWithin(r.receiving, expected) {
		return false
	}
	r.memory.Give(expected)
	return true
}

// size is the number of bytes that the next message is expected to have.
func (r *runner) size() int64 {
	if r.expected > 0 {
		return r.expected
	}
	return int64(max(1, r.spec.MaxMessage))
}

// fits is the number of messages to ask for, by the size of those before. It is one at least.
func (r *runner) fits() int {
	return int(max(1, min(r.memory.Space()/r.size(), int64(r.MaxInFlight))))
}

func (r *runner) free(d *engine.Delivery) {
	r.mu.Lock()
	delete(r.tracked, d)
	r.mu.Unlock()
	r.memory.Give(len(d.Data))
	<-r.slots
}

// extend reports to the broker, three times within AckWait, which messages are still being handled.
func (r *runner) extend() {
	tick := time.NewTicker(r.AckWait / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-r.handling.Done():
			return
		}
		r.mu.Lock()
		list := slices.Collect(maps.Keys(r.tracked))
		r.mu.Unlock()
		if len(list) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(r.handling, r.AckWait/3)
		if err := r.group.Extend(ctx, list...); err != nil {
			r.log.Debug("channel: messages could not be kept from coming again", "messages", len(list), "error", err)
		}
		cancel()
	}
}

// acknowledge reports handled messages to the broker. All that are handled during one report go with the next, so slots
// become free in groups too, and messages are received in groups.
func (r *runner) acknowledge() {
	for {
		select {
		case d := <-r.handled:
			list := []*engine.Delivery{d}
			for range len(r.handled) {
				list = append(list, <-r.handled)
			}
			r.done(list)
		case <-r.idle:
			return
		}
	}
}

func (r *runner) done(list []*engine.Delivery) {
	ctx, cancel := context.WithTimeout(context.Background(), brokerTimeout)
	defer cancel()
	if err := r.group.Done(ctx, list...); err != nil {
		r.log.Warn("channel: handled messages may come again: the report to the broker failed", "messages", len(list), "error", err)
	}
	for _, d := range list {
		r.free(d)
		r.inFlight.Done()
	}
}
