package links

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/redis"
	"github.com/sabir-go/sabir/transport"
)

func init() {
	transport.RegisterBus("redis", driver{})
	transport.RegisterBus("rediss", driver{})
}

const (
	// maxMessage is far below the limit of Redis for a message (512 MiB), and below the 32 MiB that may wait for a
	// subscriber before Redis ends its connection.
	maxMessage = 8 << 20
	// handOver is the time that Close may take to hand over what was published.
	handOver = time.Second
	// unheardLimit bounds how many reports wait; more are dropped, as a prober tries again.
	unheardLimit = 4096
)

var (
	errClosed = fmt.Errorf("the connection to the broker: %w", net.ErrClosed)
	errDown   = errors.New("there is no connection to the broker: try again when it is restored")
)

type driver struct{}

// broker has one session after the other.
type broker struct {
	address *redis.Address
	config  transport.Config
	events  transport.BusEvents
	queue   *queue
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup
	closed  atomic.Bool
	failed  backoff.LastFailure // of the last attempt to connect again
	ended   chan struct{}       // closed by the first Close when it is done

	notifying sync.Mutex  // held while events run
	unheard   chan string // to be reported; nil where nothing listens

	mu       sync.Mutex
	session  *session // the last one
	subjects map[string]*subscription
}

// subscription is one subject's.
type subscription struct {
	sync.Mutex // held while deliver runs
	deliver    func(data []byte)
	ended      bool
}

func (driver) Connect(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	a, err := redis.Parse(at, config.TLS)
	if err != nil {
		return nil, err
	}
	if a.Clustered() {
		return nil, fmt.Errorf("the address %q is of a Redis Cluster, each server of which counts only its own subscribers, so that links could not notice a node that is gone: "+
			"name one server, or Sentinels", a.Name)
	}
	for _, server := range a.Servers {
		if err := config.CheckBroker(ctx, &url.URL{Scheme: at.Scheme, Host: server}); err != nil {
			return nil, err
		}
	}
	b := &broker{
		address: a, config: config, events: events,
		queue: newQueue(), ended: make(chan struct{}), subjects: make(map[string]*subscription),
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if b.session, err = open(ctx, a, config, b.deliver); err != nil {
		b.cancel()
		return nil, fmt.Errorf("connecting to %s: %w", at.Redacted(), err)
	}
	if events.Unheard != nil {
		b.unheard = make(chan string, unheardLimit)
		b.running.Go(b.report)
	}
	first := b.session
	b.running.Go(func() { b.run(first) })
	return b, nil
}

// run serves sessions, one after the other, until Close.
func (b *broker) run(s *session) {
	for first := true; s != nil; first = false {
		var pump sync.WaitGroup
		pump.Go(func() { b.pump(s) })
		if !first {
			b.notify(func() {
				if b.events.Restored != nil {
					b.events.Restored()
				}
			})
		}
		var err error
		select {
		case err = <-s.gone:
		case <-s.ended:
			err = <-s.gone
		}
		if err == nil {
			err = errors.New("the broker ended the connection")
		}
		s.cut()
		b.queue.setDown()
		pump.Wait()
		err = s.why(err)
		s.close()
		b.failed.Clear()
		b.notify(func() {
			if b.events.Lost != nil {
				b.events.Lost(err)
			}
		})
		if s, _ = backoff.Until(b.ctx, backoff.Reconnect, backoff.Keeping(&b.failed, b.renew)); s != nil {
			b.queue.setUp()
		}
	}
}

// report reports the subjects of probes that reached no subscriber. It has a goroutine of its own, since the pump must go on
// when the owner of a lock waits for the queue.
func (b *broker) report() {
	for {
		select {
		case <-b.ctx.Done():
			return
		case subject := <-b.unheard:
			b.notify(func() { b.events.Unheard(subject) })
		}
	}
}

// notify calls the owner back, one call at a time, unless the owner has closed the broker.
func (b *broker) notify(event func()) {
	b.notifying.Lock()
	defer b.notifying.Unlock()
	if !b.closed.Load() {
		event()
	}
}

// WhyLost is why the last attempt to connect again failed; nil where none did.
func (b *broker) WhyLost() error { return b.failed.Err() }

// renew connects, with all subscriptions.
func (b *broker) renew() (*session, error) {
	s, err := open(b.ctx, b.address, b.config, b.deliver)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	closed := b.closed.Load()
	b.session = s
	subjects := slices.Collect(maps.Keys(b.subjects))
	b.mu.Unlock()
	if closed {
		s.close()
		return nil, errClosed
	}
	limited, cancel := context.WithTimeout(b.ctx, pingLimit(b.config))
	defer cancel()
	if err := s.subscribe(limited, subjects...); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// pump sends the published messages. A batch follows when the server has answered the one before, so that many messages share
// a write when there is much to send.
func (b *broker) pump(s *session) {
	var commands []rueidis.Completed
	for {
		batch := b.queue.take()
		if batch == nil {
			return
		}
		commands = commands[:0]
		begin := 0
		for _, m := range batch.messages {
			text := rueidis.BinaryString(batch.data[begin:m.end])
			commands = append(commands, s.publisher.B().Publish().Channel(m.subject).Message(text).Build())
			begin = m.end
		}
		var refused error
		lost := false
		for i, result := range s.publisher.DoMulti(context.Background(), commands...) {
			m := batch.messages[i]
			received, err := result.AsInt64()
			switch {
			case result.NonRedisError() != nil:
				s.unsent = err
				lost = true
			case err != nil:
				refused = fmt.Errorf("the broker refuses messages on %s: %w", m.subject, err)
			case m.probe && received == 0:
				select {
				case b.unheard <- m.subject:
				default: // nothing listens, or not fast enough
				}
			}
		}
		b.queue.done(batch, refused)
		if lost {
			s.cut()
			return
		}
	}
}

// deliver is called by the session, for one message at a time.
func (b *broker) deliver(channel, message string) {
	b.mu.Lock()
	s := b.subjects[channel]
	b.mu.Unlock()
	if s == nil {
		return
	}
	s.Lock()
	defer s.Unlock()
	if !s.ended {
		s.deliver([]byte(message))
	}
}

func (b *broker) Publish(subject string, data []byte) error { return b.publish(subject, data, false) }

func (b *broker) Probe(subject string, data []byte) error { return b.publish(subject, data, true) }

func (b *broker) publish(subject string, data []byte, probe bool) error {
	if len(data) > maxMessage {
		return fmt.Errorf("a message of %d bytes on %s is too large: the limit is %d", len(data), subject, maxMessage)
	}
	return b.queue.put(subject, data, probe)
}

func (b *broker) Subscribe(ctx context.Context, subject string, deliver func(data []byte)) error {
	if ctx.Err() != nil {
		return fmt.Errorf("subscribing to %s: %w", subject, ctx.Err())
	}
	added := &subscription{deliver: deliver}
	b.mu.Lock()
	session := b.session
	taken := b.subjects[subject] != nil
	switch {
	case b.closed.Load():
		b.mu.Unlock()
		return errClosed
	case taken:
		b.mu.Unlock()
		return fmt.Errorf("%s is subscribed to already", subject)
	case b.queue.isDown():
		b.mu.Unlock()
		return errDown
	}
	b.subjects[subject] = added
	b.mu.Unlock()

	err := session.subscribe(ctx, subject)
	if err == nil {
		return nil
	}
	b.mu.Lock()
	delete(b.subjects, subject)
	b.mu.Unlock()
	added.end()
	switch {
	case b.closed.Load():
		return errClosed
	case ctx.Err() != nil:
		err = ctx.Err()
	}
	return fmt.Errorf("subscribing to %s: %w", subject, err)
}

func (s *subscription) end() {
	s.Lock()
	defer s.Unlock()
	s.ended = true
}

func (b *broker) MaxMessage() int { return maxMessage }

func (b *broker) Addr() string { return b.address.Public() }

func (b *broker) Close() error {
	b.mu.Lock()
	first := !b.closed.Swap(true)
	subjects := slices.Collect(maps.Values(b.subjects))
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

	drained := make(chan struct{})
	go func() {
		defer close(drained)
		b.queue.drain()
	}()
	limit := time.NewTimer(handOver)
	defer limit.Stop()
	select {
	case <-drained:
	case <-limit.C:
	}
	b.queue.close()
	<-drained
	b.cancel()
	b.mu.Lock()
	last := b.session
	b.mu.Unlock()
	last.cut()
	b.running.Wait()
	return nil
}
