package links

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/internal/nats"
	"github.com/sabir-go/sabir/transport"
)

func init() { transport.RegisterBus("nats", driver{}) }

type driver struct{}

// handOver is the time that Close may take to hand over what was published.
const handOver = time.Second

// broker is a connection for links. The order of locks: of a subscription, then events.
type broker struct {
	*nats.Connection
	events transport.BusEvents
	probes string // the beginning of the subjects to which servers answer probes, with a '.'

	down   atomic.Bool // from Lost to Restored
	closed atomic.Bool
	ended  chan struct{} // closed by the first Close when it is done

	notifying sync.Mutex // held while events run
	mu        sync.Mutex
	subjects  map[string]*subscription
	shared    map[*subscription]bool
}

// subscription is one subject's.
type subscription struct {
	sync.Mutex // held while deliver runs
	deliver    func(data []byte)
	ended      bool
}

func (driver) Connect(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	a, err := nats.Parse(at)
	if err != nil {
		return nil, err
	}
	b := &broker{events: events, ended: make(chan struct{}), subjects: make(map[string]*subscription)}
	b.Connection, err = nats.Connect(ctx, a, config, natsgo.DisconnectErrHandler(b.lost), natsgo.ReconnectHandler(b.restored))
	if err != nil {
		return nil, err
	}
	inbox := b.Conn.NewInbox()
	b.probes = inbox + "."
	if _, err := b.subscribe(ctx, inbox+".>", "", b.answered); err != nil {
		b.Close()
		return nil, fmt.Errorf("connecting to %s: %w", at.Redacted(), err)
	}
	return b, nil
}

func (b *broker) Publish(subject string, data []byte) error {
	if b.down.Load() {
		return b.without()
	}
	if err := b.Conn.Publish(subject, data); err != nil {
		return b.fault(subject, data, err)
	}
	return nil
}

// Probe asks for an answer: the server gives one itself where nothing subscribes (NATS calls it "no responders", ADR-4).
func (b *broker) Probe(subject string, data []byte) error {
	if b.down.Load() {
		return b.without()
	}
	if err := b.Conn.PublishRequest(subject, b.probes+subject, data); err != nil {
		return b.fault(subject, data, err)
	}
	return nil
}

// without is the error of what cannot be done now.
func (b *broker) without() error {
	if b.closed.Load() {
		return nats.ErrClosed
	}
	return errors.New("there is no connection to the broker: try again when it is restored")
}

func (b *broker) fault(subject string, data []byte, err error) error {
	switch {
	case b.closed.Load() || errors.Is(err, natsgo.ErrConnectionClosed):
		return nats.ErrClosed
	case errors.Is(err, natsgo.ErrReconnectBufExceeded):
		return b.without()
	case errors.Is(err, natsgo.ErrMaxPayload):
		return fmt.Errorf("a message of %d bytes on %s is too large: the broker takes %d", len(data), subject, b.MaxMessage())
	}
	return fmt.Errorf("publishing on %s: %w", subject, err)
}

func (b *broker) Subscribe(ctx context.Context, subject string, deliver func(data []byte)) error {
	s := &subscription{deliver: deliver}
	b.mu.Lock()
	if b.closed.Load() {
		b.mu.Unlock()
		return nats.ErrClosed
	}
	if b.subjects[subject] != nil {
		b.mu.Unlock()
		return fmt.Errorf("%s is subscribed to already", subject)
	}
	b.subjects[subject] = s
	b.mu.Unlock()

	_, err := b.subscribe(ctx, subject, "", s.take)
	if err != nil {
		b.mu.Lock()
		delete(b.subjects, subject)
		b.mu.Unlock()
		s.end()
	}
	return err
}

// SubscribeShared implements transports.Sharer by a queue group.
func (b *broker) SubscribeShared(ctx context.Context, subject, group string, deliver func(data []byte)) (stop func(), err error) {
	s := &subscription{deliver: deliver}
	b.mu.Lock()
	if b.closed.Load() {
		b.mu.Unlock()
		return nil, nats.ErrClosed
	}
	if b.shared == nil {
		b.shared = make(map[*subscription]bool)
	}
	b.shared[s] = true
	b.mu.Unlock()
	forget := func(string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.shared, s)
	}

	sub, err := b.subscribe(ctx, subject, group, s.take)
	if err != nil {
		forget(subject)
		s.end()
		return nil, err
	}
	sub.SetClosedHandler(forget)
	return func() {
		if sub.Drain() == nil && !b.down.Load() {
			b.Conn.FlushTimeout(handOver) // the server gives the next message to another
		}
	}, nil
}

func (s *subscription) take(m *natsgo.Msg) {
	s.Lock()
	defer s.Unlock()
	if !s.ended {
		s.deliver(m.Data)
	}
}

func (s *subscription) end() {
	s.Lock()
	defer s.Unlock()
	s.ended = true
}

// subscribe returns when the server has the subscription.
func (b *broker) subscribe(ctx context.Context, subject, group string, handle natsgo.MsgHandler) (*natsgo.Subscription, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("subscribing to %s: %w", subject, ctx.Err())
	}
	if b.down.Load() {
		return nil, b.without()
	}
	sub, err := b.Conn.QueueSubscribe(subject, group, handle)
	if err == nil {
		limited, cancel := context.WithTimeout(ctx, nats.WriteLimit) // nats.go wants a limit
		err = b.Conn.FlushWithContext(limited)
		cancel()
		// The server reports a refusal before it answers the flush.
		if last := b.Conn.LastError(); err == nil && errors.Is(last, natsgo.ErrPermissionViolation) && strings.Contains(last.Error(), `"`+subject+`"`) {
			err = last
		}
		if err != nil {
			sub.Unsubscribe()
		}
	}
	switch {
	case err == nil:
		return sub, nil
	case b.closed.Load():
		return nil, nats.ErrClosed
	case ctx.Err() != nil:
		err = ctx.Err()
	}
	return nil, fmt.Errorf("subscribing to %s: %w", subject, err)
}

// answered takes the answer to a probe: the server's report that nothing subscribes.
func (b *broker) answered(m *natsgo.Msg) {
	if len(m.Data) > 0 || m.Header.Get("Status") != "503" {
		return
	}
	b.notifying.Lock()
	defer b.notifying.Unlock()
	if !b.closed.Load() && b.events.Unheard != nil {
		b.events.Unheard(strings.TrimPrefix(m.Subject, b.probes))
	}
}

// lost is called by nats.go, never while restored is.
func (b *broker) lost(_ *natsgo.Conn, err error) {
	if err == nil {
		err = errors.New("the broker ended the connection")
	}
	b.notifying.Lock()
	defer b.notifying.Unlock()
	if b.closed.Load() || b.down.Swap(true) {
		return
	}
	if b.events.Lost != nil {
		b.events.Lost(err)
	}
}

// restored is called when the subscriptions have been sent, and waits until the server has them.
func (b *broker) restored(conn *natsgo.Conn) {
	if b.closed.Load() {
		return
	}
	if err := conn.FlushTimeout(nats.WriteLimit); err != nil {
		conn.ForceReconnect() // does nothing where that is under way
		return
	}
	b.notifying.Lock()
	defer b.notifying.Unlock()
	if b.closed.Load() || !b.down.Swap(false) {
		return
	}
	if b.events.Restored != nil {
		b.events.Restored()
	}
}

func (b *broker) MaxMessage() int { return int(b.Conn.MaxPayload()) }

func (b *broker) Addr() string { return b.Connection.Addr }

func (b *broker) Close() error {
	b.mu.Lock()
	first := !b.closed.Swap(true)
	subjects := slices.AppendSeq(slices.Collect(maps.Values(b.subjects)), maps.Keys(b.shared))
	b.mu.Unlock()
	if !first {
		<-b.ended
		return nil
	}
	defer close(b.ended)

	// Callbacks end first: what the owner does in them must not go on beyond this.
	b.notifying.Lock()
	b.notifying.Unlock() //lint:ignore SA2001 waits for an event that runs
	for _, s := range subjects {
		s.end()
	}

	// A server that stands still holds the flush up, and all publishers, until the connection is cut.
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		if !b.down.Load() {
			b.Conn.FlushTimeout(handOver)
		}
	}()
	limit := time.NewTimer(handOver)
	defer limit.Stop()
	select {
	case <-flushed:
	case <-limit.C:
	}
	b.Cut()
	<-flushed
	b.Conn.Close()
	b.Release()
	return nil
}
