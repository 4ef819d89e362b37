package amqp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/brokers"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/transporttest"
)

const patience = 20 * time.Second

func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(patience):
		t.Fatalf("nothing came within %v", patience)
	}
	return value
}

type member struct {
	*broker
	lost     chan error
	restored chan struct{}
	unheard  chan string
}

func join(t *testing.T, address string, config transport.Config) *member {
	t.Helper()
	m := &member{lost: make(chan error, 16), restored: make(chan struct{}, 16), unheard: make(chan string, 16)}
	b, err := open(t, address, config, transport.BusEvents{
		Lost:     func(err error) { m.lost <- err },
		Restored: func() { m.restored <- struct{}{} },
		Unheard:  func(subject string) { m.unheard <- subject },
	})
	if err != nil {
		t.Fatal(err)
	}
	m.broker = b.(*broker)
	return m
}

func open(t *testing.T, address string, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	t.Helper()
	at, err := transport.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	driver, _ := transport.LookupBus(at.Scheme)
	b, err := driver.Connect(t.Context(), at, config, events)
	if err == nil {
		t.Cleanup(func() { b.Close() })
	}
	return b, err
}

func (m *member) subscribe(t *testing.T, subject string) <-chan string {
	t.Helper()
	messages := make(chan string, 16)
	if err := m.Subscribe(t.Context(), subject, func(data []byte) { messages <- string(data) }); err != nil {
		t.Fatal(err)
	}
	return messages
}

func expect(t *testing.T, messages <-chan string, text string) {
	t.Helper()
	if got := receive(t, messages); got != text {
		t.Fatalf("%q arrived, want %q", got, text)
	}
}

func TestASubscriptionThatTheBrokerEndsIsMadeAgain(t *testing.T) {
	m := join(t, brokers.ForTestShared(t, brokers.RabbitMQ).URL(), transport.Config{})
	messages := m.subscribe(t, "ended")
	m.mu.Lock()
	queue := m.subscriptions["ended"].queue
	m.mu.Unlock()
	if _, err := m.session.Load().consuming.channel.QueueDelete(queue, false, false, false); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, m.lost); !strings.Contains(err.Error(), "ended a subscription") {
		t.Errorf("the loss is told as %v", err)
	}
	receive(t, m.restored)
	if err := m.Publish("ended", []byte("again")); err != nil {
		t.Fatal(err)
	}
	expect(t, messages, "again")
}

func TestAnEndThatNobodyWasToldOfIsALossToo(t *testing.T) {
	for _, side := range []string{"publishing", "consuming"} {
		t.Run(side, func(t *testing.T) {
			m := join(t, brokers.ForTestShared(t, brokers.RabbitMQ).URL(), transport.Config{})
			messages := m.subscribe(t, "quiet")
			p := m.session.Load()
			if side == "publishing" {
				p.publishing.connection.Close() // after which the library tells no error
			} else {
				p.consuming.connection.Close()
			}
			receive(t, m.lost)
			receive(t, m.restored)
			m.Publish("quiet", []byte("again"))
			expect(t, messages, "again")
		})
	}
}

func TestACancelledSubscriptionLeavesNobodyListening(t *testing.T) {
	m := join(t, brokers.ForTestShared(t, brokers.RabbitMQ).URL(), transport.Config{})
	p := m.session.Load()
	entry := &subscription{subject: "cancelled", deliver: func([]byte) { t.Error("a message was delivered") }}
	if err := p.subscribe(entry); err != nil {
		t.Fatal(err)
	}
	entry.cancelled.Store(true)
	p.unsubscribe(entry)
	if err := m.Probe("cancelled", []byte("anybody?")); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, m.unheard); got != "cancelled" {
		t.Errorf("%s is unheard", got)
	}
	// The session is as it was.
	messages := m.subscribe(t, "cancelled")
	m.Publish("cancelled", []byte("x"))
	expect(t, messages, "x")
}

func TestASubscriptionThatWasGivenUpCanBeMadeAgain(t *testing.T) {
	m := join(t, brokers.ForTestShared(t, brokers.RabbitMQ).URL(), transport.Config{})
	p := m.session.Load()
	p.asking.Lock() // as if the broker took its time
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	err := m.Subscribe(ctx, "later", func([]byte) { t.Error("a message was delivered to who had given up") })
	p.asking.Unlock()
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Subscribe gave %v, want context.DeadlineExceeded", err)
	}
	messages := m.subscribe(t, "later")
	m.Publish("later", []byte("x"))
	expect(t, messages, "x")
}

func TestAVirtualHostThatIsNotThereIsAnErrorThatSaysSo(t *testing.T) {
	address := brokers.ForTestShared(t, brokers.RabbitMQ).URL() + "/missing"
	if _, err := open(t, address, transport.Config{}, transport.BusEvents{}); err == nil || !strings.Contains(err.Error(), "vhost missing") {
		t.Errorf("connecting gave %v", err)
	}
}

func TestAMessageThatIsTooLargeForTheBrokerIsALossThatTellsTheCause(t *testing.T) {
	server := brokers.ForTest(t, brokers.RabbitMQ, brokers.Config{Extra: "max_message_size = 300000"})
	m := join(t, server.URL(), transport.Config{})
	messages := m.subscribe(t, "large")
	m.Publish("large", make([]byte, 300_001))
	if err := receive(t, m.lost); !strings.Contains(err.Error(), "300000") {
		t.Errorf("the loss is told as %v", err)
	}
	receive(t, m.restored)
	m.Publish("large", []byte("small"))
	expect(t, messages, "small")
}

// RabbitMQ with an alarm reads nothing from connections that publish.
func TestABrokerThatTakesNoMessagesStillTakesSubscriptions(t *testing.T) {
	server := brokers.ForTest(t, brokers.RabbitMQ, brokers.Config{Extra: "vm_memory_high_watermark.absolute = 1MB"})
	m := join(t, server.URL(), transport.Config{})
	m.subscribe(t, "first")
	full := make(chan error, 1)
	go func() {
		for {
			if err := m.Publish("first", make([]byte, 64<<10)); err != nil {
				full <- err
				return
			}
		}
	}()
	m.subscribe(t, "second")
	m.subscribe(t, "third")
	begun := time.Now()
	m.Close()
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("Close took %v", took)
	}
	receive(t, full)
}

func TestAMQPOverTLS(t *testing.T) {
	authority := transporttest.NewAuthority(t, "test authority")
	files := authority.Issue(t, t.TempDir(), "127.0.0.1")
	server := brokers.ForTest(t, brokers.RabbitMQ, brokers.Config{Cert: files.Cert, Key: files.Key, CA: files.CA, Password: "s3cret"})
	m := join(t, server.URL(), transport.Config{TLS: clientTLS(t, files)})
	messages := m.subscribe(t, "encrypted")
	m.Publish("encrypted", []byte("x"))
	expect(t, messages, "x")
	m.Probe("nobody", []byte("x"))
	receive(t, m.unheard)

	strangers := transporttest.NewAuthority(t, "another authority").Issue(t, t.TempDir(), "127.0.0.1")
	if _, err := open(t, server.URL(), transport.Config{TLS: clientTLS(t, strangers)}, transport.BusEvents{}); err == nil {
		t.Error("a broker of another authority was good enough")
	}
}
