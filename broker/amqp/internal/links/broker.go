package links

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/amqp"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/transport"
)

// handOverLimit is the time that Close may take to hand over what was published.
const handOverLimit = time.Second

// broker is a session that is made again whenever it breaks.
type broker struct {
	address *amqp.Address
	config  transport.Config
	events  transport.BusEvents
	queueOf func(subject string) (string, time.Duration) // of other programs: see ConnectNamed
	session atomic.Pointer[session]                      // nil while there is none
	closed  atomic.Bool
	failed  backoff.LastFailure // of the last attempt to connect again
	ctx     context.Context     // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu            sync.Mutex
	subscriptions map[string]*subscription // by subject
}

type subscription struct {
	subject   string
	deliver   func([]byte)
	consumer  string // in the present session
	confirmed bool
	cancelled atomic.Bool // before it was confirmed
}

func connect(ctx context.Context, a *amqp.Address, config transport.Config, events transport.BusEvents, queueOf func(string) (string, time.Duration)) (transport.Broker, error) {
	p, err := open(ctx, a, config, queueOf)
	if err != nil {
		return nil, fmt.Errorf("connect to the broker at %s: %w", a.Name, err)
	}
	b := &broker{address: a, config: config, events: events, queueOf: queueOf, subscriptions: make(map[string]*subscription)}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.session.Store(p)
	b.running.Go(func() { b.run(p) })
	return b, nil
}

func (b *broker) Addr() string { return b.address.Addr }

func (b *broker) MaxMessage() int { return largestMessage }

func (b *broker) Publish(subject string, data []byte) error { return b.publish(subject, data, false) }

func (b *broker) Probe(subject string, data []byte) error { return b.publish(subject, data, true) }

var errNotConnected = errors.New("there is no connection now")

func (b *broker) publish(subject string, data []byte, probe bool) error {
	if len(data) > largestMessage {
		return b.explain(fmt.Errorf("a message of %d bytes is larger than the %d that are taken", len(data), largestMessage))
	}
	p := b.session.Load()
	if p == nil {
		return b.explain(errNotConnected)
	}
	return b.explain(p.publish(subject, data, probe))
}

// explain adds to an error which broker it is from.
func (b *broker) explain(err error) error {
	if err == nil {
		return nil
	}
	if b.closed.Load() {
		err = net.ErrClosed
	}
	return fmt.Errorf("the broker at %s: %w", b.address.Name, err)
}

// Subscribe fails at once where there is no connection.
func (b *broker) Subscribe(ctx context.Context, subject string, deliver func(data []byte)) error {
	if err := ctx.Err(); err != nil {
		return b.explain(err)
	}
	entry := &subscription{subject: subject}
	entry.deliver = func(message []byte) {
		if !entry.cancelled.Load() && !b.closed.Load() {
			deliver(message)
		}
	}
	result := make(chan error, 1)
	b.mu.Lock()
	p := b.session.Load()
	switch {
	case b.closed.Load() || p == nil:
		b.mu.Unlock()
		return b.explain(errNotConnected)
	case b.subscriptions[subject] != nil:
		b.mu.Unlock()
		return b.explain(fmt.Errorf("%s is subscribed to already", subject))
	}
	b.subscriptions[subject] = entry
	b.running.Go(func() { result <- p.subscribe(entry) }) // the library's questions know no context
	b.mu.Unlock()

	var err error
	asking := false
	select {
	case err = <-result:
	case <-ctx.Done():
		err, asking = ctx.Err(), true
	case <-p.ended:
		err = p.reason()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil && b.session.Load() != p { // the next session may have been made without it
		err = errNotConnected
	}
	if err == nil {
		entry.confirmed = true
		return nil
	}
	entry.cancelled.Store(true)
	delete(b.subscriptions, subject)
	if asking && !b.closed.Load() {
		b.running.Go(func() {
			if <-result == nil {
				p.unsubscribe(entry)
			}
		})
	}
	return b.explain(fmt.Errorf("subscribe to %s: %w", subject, err))
}

// run waits for the end of the session and connects again.
func (b *broker) run(p *session) {
	for p != nil {
		p.watch(b.returned, b.alarm)
		b.session.Store(nil)
		if b.closed.Load() {
			return
		}
		b.failed.Clear()
		if b.events.Lost != nil {
			b.events.Lost(b.explain(p.reason()))
		}
		if p, _ = backoff.Until(b.ctx, backoff.Reconnect, backoff.Keeping(&b.failed, b.renew)); p != nil && b.events.Restored != nil {
			b.events.Restored()
		}
	}
}

func (b *broker) returned(subject string) {
	if b.events.Unheard != nil && !b.closed.Load() {
		b.events.Unheard(subject)
	}
}

// alarm takes an alarm of the broker for the loss of the connection until it is over, since nothing that is published arrives meanwhile.
func (b *broker) alarm(err error) {
	switch {
	case b.closed.Load():
	case err != nil && b.events.Lost != nil:
		b.events.Lost(b.explain(err))
	case err == nil && b.events.Restored != nil:
		b.events.Restored()
	}
}

// WhyLost is the alarm that the broker has, or why the last attempt to connect again failed; nil where none did.
func (b *broker) WhyLost() error {
	if p := b.session.Load(); p != nil {
		if alarm := p.alarm.Load(); alarm != nil {
			return *alarm
		}
	}
	return b.failed.Err()
}

// renew makes a session with the subscriptions that were confirmed.
func (b *broker) renew() (*session, error) {
	ctx, cancel := b.config.WithDialLimit(b.ctx)
	defer cancel()
	p, err := open(ctx, b.address, b.config, b.queueOf)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { p.fail(ctx.Err()) })
	defer stop()
	if err := b.resubscribe(p); err != nil {
		p.fail(err)
		p.watch(func(string) {}, func(error) {}) // until its deliveries have ended
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed.Load() || !stop() {
		p.fail(net.ErrClosed)
		p.watch(func(string) {}, func(error) {})
		return nil, net.ErrClosed
	}
	b.session.Store(p)
	return p, nil
}

func (b *broker) resubscribe(p *session) error {
	var confirmed []*subscription
	b.mu.Lock()
	for _, entry := range b.subscriptions {
		if entry.confirmed {
			confirmed = append(confirmed, entry)
		}
	}
	b.mu.Unlock()
	for _, entry := range confirmed {
		if err := p.subscribe(entry); err != nil {
			return err
		}
	}
	return nil
}

// Close leaves within a second or so, even where the broker stands still.
func (b *broker) Close() error {
	b.mu.Lock()
	first := !b.closed.Swap(true)
	b.mu.Unlock()
	if p := b.session.Load(); first && p != nil {
		p.leave(handOverLimit)
	}
	b.cancel()
	b.running.Wait()
	return nil
}
