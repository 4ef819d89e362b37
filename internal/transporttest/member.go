package transporttest

import (
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// Member is a connection to a broker, and the events it received. Each channel has space for more than a test expects.
type Member struct {
	transport.Broker
	Lost     chan error
	Restored chan struct{}
	Unheard  chan string
	events   atomic.Int64 // that run
}

// Join connects to a broker until the test ends, which fails where that fails, or where two events come at a time.
func Join(t *testing.T, address string, config transport.Config) *Member {
	t.Helper()
	m := &Member{Lost: make(chan error, 16), Restored: make(chan struct{}, 16), Unheard: make(chan string, 1<<14)}
	broker, err := Connect(t, address, config, transport.BusEvents{
		Lost: func(err error) {
			defer m.event(t)()
			notify(t, m.Lost, err)
		},
		Restored: func() {
			defer m.event(t)()
			notify(t, m.Restored, struct{}{})
		},
		Unheard: func(subject string) {
			defer m.event(t)()
			notify(t, m.Unheard, subject)
		},
	})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	m.Broker = broker
	return m
}

// Connect connects to a broker, which may not be there or refuse it, until the test ends. The transport must be registered.
func Connect(t *testing.T, address string, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	t.Helper()
	at, err := schemes.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	driver, ok := transports.Bus(at.Scheme)
	if !ok {
		t.Fatalf("no bus is registered for %s://", at.Scheme)
	}
	broker, err := driver.Connect(t.Context(), at, config, events)
	if err == nil {
		t.Cleanup(func() { broker.Close() })
	}
	return broker, err
}

// event is called when an event begins, and what it returns when that ends.
func (m *Member) event(t *testing.T) func() {
	if m.events.Add(1) > 1 {
		t.Error("two events came at a time")
	}
	return func() { m.events.Add(-1) }
}

// notify sends a value to the test without waiting.
func notify[T any](t *testing.T, to chan<- T, value T) {
	select {
	case to <- value:
	default:
		t.Errorf("more came than a test expects: %v", value)
	}
}

// Messages subscribes to a subject and returns where the messages on it arrive.
func (m *Member) Messages(t *testing.T, subject string) <-chan []byte {
	t.Helper()
	messages := make(chan []byte, 1<<15)
	if err := m.Subscribe(t.Context(), subject, func(data []byte) { notify(t, messages, data) }); err != nil {
		t.Fatalf("subscribe to %s: %v", subject, err)
	}
	return messages
}

func (m *Member) publish(t *testing.T, subject, text string) {
	t.Helper()
	if err := m.Publish(subject, []byte(text)); err != nil {
		t.Fatalf("publish on %s: %v", subject, err)
	}
}

func (m *Member) probe(t *testing.T, subject, text string) {
	t.Helper()
	if err := m.Probe(subject, []byte(text)); err != nil {
		t.Fatalf("probe %s: %v", subject, err)
	}
}

// Await takes the next message, which must be the text.
func Await(t *testing.T, messages <-chan []byte, text string) {
	t.Helper()
	if got := string(Receive(t, messages)); got != text {
		t.Fatalf("%s arrived, want %s", short(got), short(text))
	}
}
