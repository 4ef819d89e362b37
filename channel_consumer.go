package sabir

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir/channel/engine"
)

// consumer is a running consumer: one goroutine receives messages, each message has one for its handler, and one notifies the
// broker which messages are still being handled.
type consumer struct {
	node  *Node
	def   *consumerDefinition
	store engine.Store
	group engine.Group
	sub   *Subscription
	op    *operation
	chain EventHandler

	receiving context.Context // ends when no more is to be received
	stop      context.CancelFunc
	handling  context.Context // ends when handlers are no longer waited for
	abandon   context.CancelFunc

	slots     chan struct{}         // one taken for each message in flight
	handled   chan *engine.Delivery // whose handlers have returned nil; its buffer holds all that are in flight
	idle      chan struct{}         // closed when nothing is in flight any more, and nothing will be
	running   sync.WaitGroup        // handlers, and messages in handled
	extending sync.WaitGroup
	ended     chan struct{} // closed when nothing is received any more

	mu      sync.Mutex
	tracked map[*engine.Delivery]bool
}

// openConsumers joins the groups of a service's consumers.
func (n *Node) openConsumers(ctx context.Context, s *Service) error {
	s.runningConsumers = nil
	for _, def := range s.consumers {
		c, err := n.openConsumer(ctx, s, def)
		if err != nil {
			n.dropConsumers(s)
			return fmt.Errorf("service %s: consumer of %s at %s: %w", s.fullName(), def.spec.Name, def.where, err)
		}
		s.runningConsumers = append(s.runningConsumers, c)
	}
	return nil
}

func (n *Node) openConsumer(ctx context.Context, s *Service, def *consumerDefinition) (*consumer, error) {
	if _, err := n.declare(ctx, deadSpec(def.dead)); err != nil {
		return nil, err
	}
	store, err := n.declare(ctx, def.spec)
	if err != nil {
		return nil, err
	}
	c := &consumer{node: n, def: def, store: store, op: newOperation(n, s.fullName(), def.spec.Name),
		sub:   &Subscription{Service: s.fullName(), Pattern: def.spec.Name, Group: def.group, Type: def.payload, Queued: true},
		slots: make(chan struct{}, def.inFlight), handled: make(chan *engine.Delivery, def.inFlight), idle: make(chan struct{}), ended: make(chan struct{}), tracked: make(map[*engine.Delivery]bool)}
	c.op.event = true
	c.chain = func(ctx context.Context, e *Event) error { return c.invoke(ctx, e.payload) }
	for _, list := range [][]Middleware{def.middlewares, s.middlewares, n.middlewares} {
		c.chain, _ = composeEvent(c.sub, c.chain, list)
	}
	c.group, err = store.Join(ctx, engine.GroupSpec{Channel: def.spec.Name, Name: def.group, From: def.from, AckWait: def.ackWait, InFlight: def.inFlight})
	if err != nil {
		return nil, n.channelError("join group "+def.group, err)
	}
	c.receiving, c.stop = context.WithCancel(context.Background())
	c.handling, c.abandon = context.WithCancel(context.Background())
	return c, nil
}

// beginConsumers begins to receive.
func (n *Node) beginConsumers(s *Service) {
	n.channels.mu.Lock()
	n.channels.consumed = append(n.channels.consumed, s.runningConsumers...)
	n.channels.mu.Unlock()
	for _, c := range s.runningConsumers {
		go c.receive()
		go c.acknowledge()
		if c.store.Features().Lease {
			c.extending.Go(c.extend)
		}
	}
}

// dropConsumers leaves the groups of consumers that have not begun.
func (n *Node) dropConsumers(s *Service) {
	for _, c := range s.runningConsumers {
		c.stop()
		c.abandon()
		_ = c.group.Close() // nothing was received
	}
	s.runningConsumers = nil
}

// stopConsumers receives no more and waits for the handlers that run, or for the context.
func (n *Node) stopConsumers(ctx context.Context, s *Service) error {
	consuming := s.runningConsumers
	s.runningConsumers = nil
	for _, c := range consuming {
		c.stop()
	}
	var errs []error
	for _, c := range consuming {
		errs = append(errs, c.finish(ctx))
	}
	n.channels.mu.Lock()
	n.channels.consumed = slices.DeleteFunc(n.channels.consumed, func(c *consumer) bool { return slices.Contains(consuming, c) })
	n.channels.mu.Unlock()
	return errors.Join(errs...)
}

func (c *consumer) finish(ctx context.Context) error {
	<-c.ended
	err := c.group.Close()
	go func() {
		c.running.Wait()
		close(c.idle)
	}()
	defer c.extending.Wait()
	defer c.abandon()
	select {
	case <-c.idle:
		return err
	case <-ctx.Done():
		return errors.Join(err, &Error{Code: CodeDeadlineExceeded, Name: nameDeadlineExceeded, Node: c.node.id, cause: ctx.Err(),
			Message: "handlers of channel " + c.def.spec.Name + " in " + c.sub.Service + " were still running; their messages come again"})
	}
}

// receive hands messages to handlers, as many at once as there are slots.
func (c *consumer) receive() {
	defer close(c.ended)
	failing := false
	for pause := 50 * time.Millisecond; ; {
		free := c.takeSlots()
		if free == 0 {
			return
		}
		list, err := c.group.Receive(c.receiving, free)
		for range free - len(list) {
			<-c.slots
		}
		for _, d := range list {
			c.track(d)
			c.running.Go(func() { c.handle(d) })
		}
		if c.receiving.Err() != nil {
			return
		}
		if err == nil {
			pause, failing = 50*time.Millisecond, false
			continue
		}
		if !failing {
			c.node.log.Warn("channel: cannot receive; trying on", "node", c.node.id, "channel", c.def.spec.Name, "group", c.def.group, "error", err)
		}
		failing = true
		sleepWithin(c.receiving, pause/2+rand.N(pause))
		pause = min(2*pause, time.Second)
	}
}

// takeSlots waits for a free slot and takes all that are free; 0 when no more is to be received.
func (c *consumer) takeSlots() int {
	select {
	case c.slots <- struct{}{}:
	case <-c.receiving.Done():
		return 0
	}
	for taken := 1; ; taken++ {
		select {
		case c.slots <- struct{}{}:
		default:
			return taken
		}
	}
}

func (c *consumer) track(d *engine.Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tracked[d] = true
}

func (c *consumer) free(d *engine.Delivery) {
	c.mu.Lock()
	delete(c.tracked, d)
	c.mu.Unlock()
	<-c.slots
}

// extend reports to the broker, three times within AckWait, which messages are still being handled.
func (c *consumer) extend() {
	tick := time.NewTicker(c.def.ackWait / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.handling.Done():
			return
		}
		c.mu.Lock()
		list := slices.Collect(maps.Keys(c.tracked))
		c.mu.Unlock()
		if len(list) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(c.handling, c.def.ackWait/3)
		if err := c.group.Extend(ctx, list...); err != nil {
			c.node.log.Debug("channel: messages could not be kept from coming again", "channel", c.def.spec.Name, "messages", len(list), "error", err)
		}
		cancel()
	}
}

// acknowledge reports handled messages to the broker. All that are handled during one report go with the next, so slots
// become free in groups too, and messages are received in groups.
func (c *consumer) acknowledge() {
	for {
		select {
		case d := <-c.handled:
			list := []*engine.Delivery{d}
			for range len(c.handled) {
				list = append(list, <-c.handled)
			}
			c.done(list)
		case <-c.idle:
			return
		}
	}
}

func (c *consumer) done(list []*engine.Delivery) {
	ctx, cancel := context.WithTimeout(context.Background(), brokerTimeout)
	defer cancel()
	if err := c.group.Done(ctx, list...); err != nil {
		c.node.log.Warn("channel: handled messages may come again: the report to the broker failed", "node", c.node.id, "channel", c.def.spec.Name,
			"group", c.def.group, "messages", len(list), "error", err)
	}
	for _, d := range list {
		c.free(d)
		c.running.Done()
	}
}
