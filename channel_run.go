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

	"github.com/google/uuid"

	"github.com/sabir-go/sabir/channel"
)

// consumption is a running consumer: one goroutine receives messages, each message has one for its handler, and one tells
// the broker which messages are still being handled.
type consumption struct {
	node  *Node
	def   *consumerDefinition
	store channel.Store
	group channel.Group
	sub   *Subscription
	step  *step
	chain EventHandler

	receiving context.Context // ends when no more is to be received
	stop      context.CancelFunc
	handling  context.Context // ends when handlers are no longer waited for
	abandon   context.CancelFunc

	slots     chan struct{}          // one taken for each message in flight
	handled   chan *channel.Delivery // whose handlers have returned nil; of room for all in flight
	idle      chan struct{}          // closed when nothing is in flight any more, and nothing will be
	running   sync.WaitGroup         // handlers, and messages in handled
	extending sync.WaitGroup
	ended     chan struct{} // closed when nothing is received any more

	mu   sync.Mutex
	held map[*channel.Delivery]bool
}

// openConsumers joins the groups of a service's consumers.
func (n *Node) openConsumers(ctx context.Context, s *Service) error {
	s.consuming = nil
	for _, def := range s.consumers {
		c, err := n.openConsumer(ctx, s, def)
		if err != nil {
			n.dropConsumers(s)
			return fmt.Errorf("service %s: consumer of %s at %s: %w", s.fullName(), def.spec.Name, def.where, err)
		}
		s.consuming = append(s.consuming, c)
	}
	return nil
}

func (n *Node) openConsumer(ctx context.Context, s *Service, def *consumerDefinition) (*consumption, error) {
	if _, err := n.declare(ctx, deadSpec(def.dead)); err != nil {
		return nil, err
	}
	store, err := n.declare(ctx, def.spec)
	if err != nil {
		return nil, err
	}
	c := &consumption{node: n, def: def, store: store, step: newStep(n, s.fullName(), def.spec.Name),
		sub:   &Subscription{Service: s.fullName(), Pattern: def.spec.Name, Group: def.group, Type: def.payload, Queued: true},
		slots: make(chan struct{}, def.inFlight), handled: make(chan *channel.Delivery, def.inFlight), idle: make(chan struct{}), ended: make(chan struct{}), held: make(map[*channel.Delivery]bool)}
	c.step.event = true
	c.chain = func(ctx context.Context, e *Event) error { return c.invoke(ctx, e.payload) }
	for _, list := range [][]Middleware{def.middlewares, s.middlewares, n.middlewares} {
		c.chain, _ = composeEvent(c.sub, c.chain, list)
	}
	c.group, err = store.Join(ctx, channel.GroupSpec{Channel: def.spec.Name, Name: def.group, From: def.from, AckWait: def.ackWait, InFlight: def.inFlight})
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
	n.channels.consumed = append(n.channels.consumed, s.consuming...)
	n.channels.mu.Unlock()
	for _, c := range s.consuming {
		go c.receive()
		go c.acknowledge()
		if c.store.Features().Lease {
			c.extending.Go(c.extend)
		}
	}
}

// dropConsumers leaves the groups of consumers that have not begun.
func (n *Node) dropConsumers(s *Service) {
	for _, c := range s.consuming {
		c.stop()
		c.abandon()
		_ = c.group.Close() // nothing was received
	}
	s.consuming = nil
}

// stopConsumers receives no more and waits for the handlers that run, or for the context.
func (n *Node) stopConsumers(ctx context.Context, s *Service) error {
	consuming := s.consuming
	s.consuming = nil
	for _, c := range consuming {
		c.stop()
	}
	var errs []error
	for _, c := range consuming {
		errs = append(errs, c.finish(ctx))
	}
	n.channels.mu.Lock()
	n.channels.consumed = slices.DeleteFunc(n.channels.consumed, func(c *consumption) bool { return slices.Contains(consuming, c) })
	n.channels.mu.Unlock()
	return errors.Join(errs...)
}

func (c *consumption) finish(ctx context.Context) error {
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
		return errors.Join(err, &Error{Code: DeadlineExceeded, Name: nameDeadline, Node: c.node.id, cause: ctx.Err(),
			Message: "handlers of channel " + c.def.spec.Name + " in " + c.sub.Service + " were still running; their messages come again"})
	}
}

// receive hands messages to handlers, as many at once as there are slots.
func (c *consumption) receive() {
	defer close(c.ended)
	failing := false
	for pause := 50 * time.Millisecond; ; {
		room := c.room()
		if room == 0 {
			return
		}
		list, err := c.group.Receive(c.receiving, room)
		for range room - len(list) {
			<-c.slots
		}
		for _, d := range list {
			c.hold(d)
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
		pauseFor(c.receiving, pause/2+rand.N(pause))
		pause = min(2*pause, time.Second)
	}
}

// room takes as many slots as there are, at least one; 0 when no more is to be received.
func (c *consumption) room() int {
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

func (c *consumption) hold(d *channel.Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[d] = true
}

func (c *consumption) letGo(d *channel.Delivery) {
	c.mu.Lock()
	delete(c.held, d)
	c.mu.Unlock()
	<-c.slots
}

// extend tells the broker, three times within AckWait, which messages are still being handled.
func (c *consumption) extend() {
	tick := time.NewTicker(c.def.ackWait / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.handling.Done():
			return
		}
		c.mu.Lock()
		list := slices.Collect(maps.Keys(c.held))
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

// handle is the way of one message.
func (c *consumption) handle(d *channel.Delivery) {
	if !c.settle(d) {
		c.letGo(d)
		return
	}
	c.running.Add(1)
	c.handled <- d
}

// settle handles a message, and tells whether it is done with.
func (c *consumption) settle(d *channel.Delivery) (done bool) {
	if d.Only != "" && d.Only != c.def.group {
		return true
	}
	err := c.try(d)
	switch {
	case err == nil:
		return true
	case c.handling.Err() != nil: // nobody waits any more: it comes again elsewhere
		c.retry(d, 0)
	case d.Attempt >= c.def.attempts || hopeless(err):
		return c.bury(d, err)
	default:
		after := c.backoff(d.Attempt)
		c.node.log.Warn("channel: handler failed; the message comes again", "node", c.node.id, "channel", c.def.spec.Name, "group", c.def.group,
			"message", d.ID, "attempt", d.Attempt, "after", after, "request", d.Request, "error", AsError(err))
		c.retry(d, after)
	}
	return false
}

// try runs the handler once.
func (c *consumption) try(d *channel.Delivery) error {
	if d.Broken != nil {
		return DeadLetter(d.Broken)
	}
	if d.Attempt > c.def.attempts {
		return DeadLetter(fmt.Errorf("it was handed out %d times, and its handlers neither failed nor finished: their processes may have ended", d.Attempt-1))
	}
	payload, err := c.def.decode(&d.Message)
	if err != nil {
		return DeadLetter(badInput(c.node, fmt.Sprintf("the message, for the handler in %s which takes %s,", c.sub.Service, c.sub.Type), err))
	}
	ctx := context.WithValue(c.handling, deliveryKey{}, &Delivery{Channel: c.def.spec.Name, Group: c.def.group, ID: d.ID, Sequence: d.Sequence,
		Published: d.Time, Attempt: d.Attempt, Attempts: c.def.attempts, Dead: d.Dead})
	if len(d.Metadata) > 0 {
		ctx = context.WithValue(ctx, metadataKey{}, d.Metadata)
	}
	if d.Request != "" {
		ctx = WithRequestID(ctx, d.Request)
	}
	call, failed := c.step.enter(ctx)
	if failed != nil {
		return failed
	}
	e := &Event{Name: c.def.spec.Name, Subscription: c.sub, payload: payload}
	err = isolate(c.def.spec.Name, call, func(ctx context.Context) error { return c.chain(ctx, e) })
	c.node.logPanic(call, err)
	return err
}

// invoke is the inner end of the chain.
func (c *consumption) invoke(ctx context.Context, payload any) (err error) {
	call := callOf(ctx)
	defer func() {
		if v := recover(); v != nil {
			err = call.closeScope(panicError("the handler of "+c.def.spec.Name+" in "+c.sub.Service, v))
		}
	}()
	err = c.def.invoke(ctx, payload)
	if call.hasScope() {
		err = call.closeScope(err)
	}
	return err
}

// backoff is how long a message waits after an attempt.
func (c *consumption) backoff(attempt int) time.Duration {
	d := c.def.first << max(0, min(attempt-1, 30)) // an attempt is what a broker says
	if d > c.def.longest || d < c.def.first {
		d = c.def.longest
	}
	return d/2 + rand.N(d/2+1)
}

// settling bounds one word to the broker. What it does not hear comes again, which handlers bear.
const settling = 10 * time.Second

// acknowledge tells the broker what was handled: all at once that has come together while it was told of what came
// before. So slots become free in bunches too, and messages are received in bunches.
func (c *consumption) acknowledge() {
	for {
		select {
		case d := <-c.handled:
			list := []*channel.Delivery{d}
			for range len(c.handled) {
				list = append(list, <-c.handled)
			}
			c.done(list)
		case <-c.idle:
			return
		}
	}
}

func (c *consumption) done(list []*channel.Delivery) {
	ctx, cancel := context.WithTimeout(context.Background(), settling)
	defer cancel()
	if err := c.group.Done(ctx, list...); err != nil {
		c.node.log.Warn("channel: handled messages may come again: the broker could not be told", "node", c.node.id, "channel", c.def.spec.Name,
			"group", c.def.group, "messages", len(list), "error", err)
	}
	for _, d := range list {
		c.letGo(d)
		c.running.Done()
	}
}

func (c *consumption) retry(d *channel.Delivery, after time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), settling)
	defer cancel()
	err := c.group.Retry(ctx, d, after)
	if err != nil && after > 0 { // some brokers need more for a delay than they need to take it back
		err = c.group.Retry(ctx, d, 0)
	}
	if err != nil {
		c.node.log.Warn("channel: a failed message comes again when the broker misses it: it could not be told", "node", c.node.id, "channel", c.def.spec.Name,
			"group", c.def.group, "message", d.ID, "error", err)
	}
}

// bury makes a message a dead letter: first it is kept there, then it is done with here. While the broker is away it is
// tried again; when the node stops first, the message comes again, and bury is false.
func (c *consumption) bury(d *channel.Delivery, reason error) bool {
	e := AsError(reason)
	letter := &channel.Outgoing{Message: d.Message, Dedup: true}
	letter.ID = derivedID(d.ID, c.def.spec.Name, c.def.group)
	letter.Only = ""
	letter.Dead = &channel.Dead{Channel: c.def.spec.Name, Group: c.def.group, Sequence: d.Sequence, Attempts: d.Attempt, Code: e.Code.String(),
		Reason: shortened(reason.Error()), Time: time.Now(), Node: c.node.id}
	if e.cause != nil && e.stack != nil { // the panic's text, which the error keeps from callers
		letter.Dead.Reason = shortened(reason.Error() + ": " + e.cause.Error())
	}
	for {
		ctx, cancel := context.WithTimeout(c.handling, settling)
		err := c.node.publishTo(ctx, deadSpec(c.def.dead), []*channel.Outgoing{letter})
		cancel()
		if err == nil {
			break
		}
		c.node.log.Error("channel: a message could not be made a dead letter", "node", c.node.id, "channel", c.def.spec.Name, "group", c.def.group,
			"message", d.ID, "error", err)
		if c.receiving.Err() != nil || !pauseFor(c.handling, c.def.first/2+time.Second) {
			c.retry(d, 0)
			return false
		}
	}
	c.node.log.Error("channel: a message was given up", "node", c.node.id, "channel", c.def.spec.Name, "group", c.def.group, "message", d.ID,
		"attempts", d.Attempt, "dead letters", c.def.dead, "request", d.Request, "error", e)
	return true
}

// shortened keeps a reason to what a head has room for.
func shortened(text string) string { return text[:min(len(text), 4000)] }

// derivedID is an ID that is the same whenever it is made of the same parts.
func derivedID(parts ...string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "%q", parts)).String()
}
