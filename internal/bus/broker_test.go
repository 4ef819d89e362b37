package bus_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

// broker is one in this process that can be made to lose messages and to disconnect, as real ones do, at the moment a test
// wants. Real brokers have tests of their own, with the drivers.
type broker struct {
	mu    sync.Mutex
	users []*user
	loses func(subject string, message []byte) bool
	holds chan struct{} // before a packet that accepts a session is published, something is received from it
	away  bool
}

var (
	brokers    sync.Map // by host
	brokerName = make(chan int, 1)
)

func init() {
	brokerName <- 0
	transport.RegisterBus("test", driver{})
	transport.RegisterBus("shaky", shaky{})
}

// newBroker starts a broker with an address of its own.
func newBroker(t *testing.T) (*broker, string) {
	n := <-brokerName
	brokerName <- n + 1
	host := "b" + string(rune('a'+n%26)) + string(rune('a'+n/26%26))
	b := &broker{}
	brokers.Store(host, b)
	t.Cleanup(func() { brokers.Delete(host) })
	return b, "test://" + host
}

// lose makes the broker lose each message with a probability.
func (b *broker) lose(share float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loses = func(string, []byte) bool { return rand.Float64() < share }
}

// holdAccept makes the publisher of a packet that accepts a session wait for a value from the channel, or its end.
func (b *broker) holdAccept() chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holds = make(chan struct{})
	return b.holds
}

func (b *broker) hold(data []byte) {
	b.mu.Lock()
	holds := b.holds
	b.mu.Unlock()
	if holds != nil && data[0]&0x7f == kindAccept {
		<-holds
	}
}

// subjects lists what its users subscribe to.
func (b *broker) subjects() (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range b.users {
		u.mu.Lock()
		all = slices.AppendSeq(all, maps.Keys(u.subscriptions))
		u.mu.Unlock()
	}
	return all
}

// stop disconnects all users of the broker, and start brings it back.
func (b *broker) stop()  { b.set(true) }
func (b *broker) start() { b.set(false) }

func (b *broker) set(away bool) {
	b.mu.Lock()
	b.away = away
	users := slices.Clone(b.users)
	b.mu.Unlock()
	for _, u := range users {
		if away {
			u.tell(func() { u.events.Lost(net.ErrClosed) })
		} else {
			u.tell(u.events.Restored)
		}
	}
}

type driver struct{}

func (driver) Connect(_ context.Context, at *url.URL, _ transport.Config, events transport.BusEvents) (transport.Broker, error) {
	b, ok := brokers.Load(at.Host)
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: "test", Err: net.UnknownNetworkError(at.Host)}
	}
	u := &user{broker: b.(*broker), at: at, events: events, subscriptions: make(map[string]func([]byte))}
	u.changed.L = &u.mu
	u.broker.mu.Lock()
	u.broker.users = append(u.broker.users, u)
	u.broker.mu.Unlock()
	u.running.Go(u.run)
	return u, nil
}

// shaky is a driver whose connection is lost as soon as it is there, and back again.
type shaky struct{ driver }

func (s shaky) Connect(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	broker, err := s.driver.Connect(ctx, at, config, events)
	if err == nil {
		events.Lost(net.ErrClosed)
		events.Restored()
	}
	return broker, err
}

// user is a connection to the broker. Its events and its messages come one after the other on a goroutine of its own.
type user struct {
	broker *broker
	at     *url.URL
	events transport.BusEvents

	mu            sync.Mutex
	changed       sync.Cond
	todo          []func()
	subscriptions map[string]func([]byte)
	closed        bool
	running       sync.WaitGroup
}

func (u *user) run() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for {
		for len(u.todo) == 0 && !u.closed {
			u.changed.Wait()
		}
		if u.closed {
			return
		}
		next := u.todo[0]
		u.todo = u.todo[1:]
		u.mu.Unlock()
		next()
		u.mu.Lock()
	}
}

func (u *user) tell(what func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.todo = append(u.todo, what)
		u.changed.Signal()
	}
}

func (u *user) Publish(subject string, data []byte) error { return u.publish(subject, data, false) }
func (u *user) Probe(subject string, data []byte) error   { return u.publish(subject, data, true) }

func (u *user) publish(subject string, data []byte, probe bool) error {
	u.mu.Lock()
	closed := u.closed
	u.mu.Unlock()
	if closed {
		return net.ErrClosed
	}
	b := u.broker
	b.hold(data)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away || b.loses != nil && b.loses(subject, data) {
		return nil
	}
	onBroadcast := false
	for _, other := range b.users {
		other.mu.Lock()
		if deliver := other.subscriptions[subject]; deliver != nil {
			onBroadcast = true
			message := slices.Clone(data)
			other.todo = append(other.todo, func() { deliver(message) })
			other.changed.Signal()
		}
		other.mu.Unlock()
	}
	if probe && !onBroadcast {
		u.tell(func() { u.events.Unheard(subject) })
	}
	return nil
}

func (u *user) Subscribe(_ context.Context, subject string, deliver func([]byte)) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.subscriptions[subject] = deliver
	return nil
}

// WhyLost is why the broker cannot be reached, while there is no connection.
func (u *user) WhyLost() error {
	u.broker.mu.Lock()
	defer u.broker.mu.Unlock()
	if u.broker.away {
		return errors.New("the password is wrong")
	}
	return nil
}

func (u *user) MaxMessage() int { return 64 << 10 }
func (u *user) Addr() string    { return u.at.String() }

func (u *user) Close() error {
	u.broker.mu.Lock()
	u.broker.users = slices.DeleteFunc(u.broker.users, func(other *user) bool { return other == u })
	u.broker.mu.Unlock()
	u.mu.Lock()
	u.closed = true
	u.subscriptions = nil
	u.changed.Broadcast()
	u.mu.Unlock()
	u.running.Wait()
	return nil
}
