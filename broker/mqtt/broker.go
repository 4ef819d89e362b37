package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/transport"
)

// handOverLimit is the time that Close may take to hand over what was published.
const handOverLimit = time.Second

// broker is a connection that is made again whenever it breaks.
type broker struct {
	settings *settings
	events   transport.BusEvents
	conn     atomic.Pointer[conn] // nil while there is none
	largest  atomic.Int64         // bytes of a payload
	closed   atomic.Bool
	failed   backoff.LastFailure // of the last attempt to connect again
	ctx      context.Context     // ends with Close
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu             sync.Mutex
	subscriptions  map[string]*subscription // by topic
	unacknowledged map[uint16]chan error    // SUBSCRIBE packets that wait for their answer
	lastID         uint16                   // of those
}

type subscription struct {
	deliver   func([]byte)
	confirmed bool
}

func connect(ctx context.Context, s *settings, events transport.BusEvents) (transport.Broker, error) {
	c, err := s.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the broker at %s: %w", s.Name, err)
	}
	b := &broker{settings: s, events: events, subscriptions: make(map[string]*subscription), unacknowledged: make(map[uint16]chan error)}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.use(c)
	b.running.Go(func() { b.run(c) })
	return b, nil
}

func (b *broker) Addr() string { return b.settings.Addr }

func (b *broker) MaxMessage() int { return int(b.largest.Load()) }

func (b *broker) Publish(subject string, data []byte) error {
	c, err := b.usable(len(data))
	if err == nil {
		err = c.publish(subject, 0, data)
	}
	return b.explain(err)
}

func (b *broker) Probe(subject string, data []byte) error {
	c, err := b.usable(len(data))
	if err == nil {
		err = c.probe(subject, data)
	}
	return b.explain(err)
}

var errNotConnected = errors.New("there is no connection now")

func (b *broker) usable(size int) (*conn, error) {
	if limit := b.MaxMessage(); size > limit {
		return nil, fmt.Errorf("a message of %d bytes is larger than the %d that it takes", size, limit)
	}
	if c := b.conn.Load(); c != nil {
		return c, nil
	}
	return nil, errNotConnected
}

// explain adds to an error which broker it is from.
func (b *broker) explain(err error) error {
	if err == nil {
		return nil
	}
	if b.closed.Load() {
		err = net.ErrClosed
	}
	return fmt.Errorf("the broker at %s: %w", b.settings.Name, err)
}

// Subscribe fails at once where there is no connection.
func (b *broker) Subscribe(ctx context.Context, subject string, deliver func(data []byte)) error {
	if err := ctx.Err(); err != nil {
		return b.explain(err)
	}
	c := b.conn.Load()
	if c == nil {
		return b.explain(errNotConnected)
	}
	topic := string(appendTopic(nil, subject, b.settings.separator))
	entry := &subscription{deliver: deliver}
	b.mu.Lock()
	if b.subscriptions[topic] != nil {
		b.mu.Unlock()
		return b.explain(fmt.Errorf("%s is subscribed to already", subject))
	}
	if b.closed.Load() {
		b.mu.Unlock()
		return b.explain(net.ErrClosed)
	}
	b.subscriptions[topic] = entry
	request, answer := b.request(topic)
	b.running.Go(func() { c.write(request) }) // which may have to wait, as ctx need not
	b.mu.Unlock()

	var err error
	select {
	case err = <-answer:
	case <-ctx.Done():
		err = ctx.Err()
	case <-c.ended:
		err = c.reason()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil && b.conn.Load() != c { // the next connection may have been made without it
		err = errNotConnected
	}
	if err == nil {
		entry.confirmed = true
		return nil
	}
	delete(b.subscriptions, topic) // the broker may have it up to the next connection
	return b.explain(fmt.Errorf("subscribe to %s: %w", subject, err))
}

// request makes a subscription to topics. Its channel gets the broker's answer for all of them. The caller has b.mu.
func (b *broker) request(topics ...string) (*packets.Subscribe, <-chan error) {
	request := &packets.Subscribe{Properties: &packets.Properties{}}
	for _, topic := range topics {
		request.Subscriptions = append(request.Subscriptions, packets.SubOptions{Topic: topic, RetainHandling: packets.RetainDoNotSend})
	}
	for taken := true; taken; _, taken = b.unacknowledged[request.PacketID] {
		request.PacketID = b.nextID()
	}
	answer := make(chan error, 1)
	b.unacknowledged[request.PacketID] = answer
	return request, answer
}

// nextID is a number for a packet that is not a probe. The caller has b.mu.
func (b *broker) nextID() uint16 {
	b.lastID++
	return mostProbes + 1 + b.lastID%1024
}

// run reads the broker's packets and connects again when the connection ends.
func (b *broker) run(c *conn) {
	for c != nil {
		c.fail(b.read(c))
		b.conn.Store(nil)
		if b.closed.Load() {
			return
		}
		b.failed.Clear()
		if b.events.Lost != nil {
			b.events.Lost(b.explain(c.reason()))
		}
		if c, _ = backoff.Until(b.ctx, backoff.Reconnect, backoff.Keeping(&b.failed, b.renew)); c != nil && b.events.Restored != nil {
			b.events.Restored()
		}
	}
}

// WhyLost is why the last attempt to connect again failed; nil where none did.
func (b *broker) WhyLost() error { return b.failed.Err() }

// renew makes a connection with the subscriptions that were confirmed.
func (b *broker) renew() (*conn, error) {
	ctx, cancel := b.settings.config.WithDialLimit(b.ctx)
	defer cancel()
	c, err := b.settings.open(ctx)
	if err != nil {
		return nil, err
	}
	end := c.until(ctx)
	if err = end(b.resubscribe(c)); err == nil && !b.use(c) {
		err = net.ErrClosed
	}
	if err != nil {
		c.fail(err)
		return nil, err
	}
	return c, nil
}

func (b *broker) resubscribe(c *conn) error {
	var topics []string
	b.mu.Lock()
	clear(b.unacknowledged) // the waiting goroutines have seen the other connection end
	for topic, entry := range b.subscriptions {
		if entry.confirmed {
			topics = append(topics, topic)
		}
	}
	request, answer := b.request(topics...)
	b.mu.Unlock()
	if len(topics) == 0 {
		return nil
	}
	if err := c.write(request); err != nil {
		return err
	}
	for {
		select {
		case err := <-answer:
			return err
		default:
			if err := b.readOne(c); err != nil {
				return err
			}
		}
	}
}

// use makes a connection the one that is published to. It is false where the broker was closed meanwhile.
func (b *broker) use(c *conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed.Load() {
		return false
	}
	b.largest.Store(int64(c.largest))
	b.conn.Store(c)
	c.received.Store(true)
	b.running.Go(func() { c.keep() })
	return true
}

func (b *broker) read(c *conn) error {
	for {
		if err := b.readOne(c); err != nil {
			return err
		}
		c.received.Store(true)
	}
}

// readOne reads a packet and does what it asks for.
func (b *broker) readOne(c *conn) error {
	first, length, err := readHeader(c.reader)
	if err != nil {
		return fmt.Errorf("the connection ended: %w", err)
	}
	if first>>4 == packets.PUBLISH {
		return b.delivered(c, first, length)
	}
	packet, err := readControl(c.reader, first, length)
	if err != nil {
		return err
	}
	switch p := packet.(type) {
	case *packets.Puback:
		unheard, err := c.answered(p)
		if err == nil && unheard != "" && b.events.Unheard != nil && !b.closed.Load() {
			b.events.Unheard(unheard)
		}
		return err
	case *packets.Suback:
		b.subscribed(p)
	case *packets.Disconnect:
		return fmt.Errorf("the broker ended the connection with the code %#x", p.ReasonCode)
	case *packets.Pingresp, *packets.Unsuback:
	default:
		return fmt.Errorf("a packet of type %d, which brokers do not send", first>>4)
	}
	return nil
}

func (b *broker) delivered(c *conn, first byte, length int) error {
	var to *subscription
	message, err := readPublish(c.reader, first, length, func(topic []byte) bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		to = b.subscriptions[string(topic)]
		return to != nil
	})
	if err == nil && to != nil && !b.closed.Load() {
		to.deliver(message)
	}
	return err
}

// subscribed returns the result to the caller of Subscribe.
func (b *broker) subscribed(answer *packets.Suback) {
	b.mu.Lock()
	result := b.unacknowledged[answer.PacketID]
	delete(b.unacknowledged, answer.PacketID)
	b.mu.Unlock()
	if result == nil {
		return
	}
	var err error
	for i, code := range answer.Reasons {
		if code >= 0x80 {
			err = fmt.Errorf("the broker refuses it with the code %#x: %s", code, answer.Reason(i))
		}
	}
	result <- err
}

// Close leaves within a second or so, even where the broker stands still.
func (b *broker) Close() error {
	b.mu.Lock()
	first := !b.closed.Swap(true)
	b.mu.Unlock()
	if c := b.conn.Load(); first && c != nil {
		limit := time.AfterFunc(handOverLimit, func() { c.fail(net.ErrClosed) })
		defer limit.Stop()
		c.leave()
	}
	b.cancel()
	b.running.Wait()
	return nil
}
