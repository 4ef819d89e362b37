package links

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

func TestASubscriptionThatTheBrokerEndsIsMadeAgain(t *testing.T) {
	m := transporttest.Join(t, brokers.ForTestShared(t, brokers.RabbitMQ).URL(), transport.Config{})
	messages := m.Messages(t, "ended")
	b := m.Broker.(*broker)
	b.mu.Lock()
	queue := b.subscriptions["ended"].consumer
	b.mu.Unlock()
	if _, err := b.session.Load().consuming.channel.QueueDelete(queue, false, false, false); err != nil {
		t.Fatal(err)
	}
	if err := transporttest.Receive(t, m.Lost); !strings.Contains(err.Error(), "ended a subscription") {
		t.Errorf("the loss is reported as %v", err)
	}
	transporttest.Receive(t, m.Restored)
	if err := m.Publish("ended", []byte("again")); err != nil {
		t.Fatal(err)
	}
	transporttest.Await(t, messages, "again")
}

func TestAConnectionThatEndsWithoutAnErrorIsALossToo(t *testing.T) {
	for _, side := range []string{"publishing", "consuming"} {
		t.Run(side, func(t *testing.T) {
			m := transporttest.Join(t, brokers.ForTestShared(t, brokers.RabbitMQ).URL(), transport.Config{})
			messages := m.Messages(t, "quiet")
			p := m.Broker.(*broker).session.Load()
			if side == "publishing" {
				p.publishing.connection.Close() // after which the library returns no error
			} else {
				p.consuming.connection.Close()
			}
			transporttest.Receive(t, m.Lost)
			transporttest.Receive(t, m.Restored)
			m.Publish("quiet", []byte("again"))
			transporttest.Await(t, messages, "again")
		})
	}
}

func TestACancelledSubscriptionLeavesNoSubscriber(t *testing.T) {
	m := transporttest.Join(t, brokers.ForTestShared(t, brokers.RabbitMQ).URL(), transport.Config{})
	p := m.Broker.(*broker).session.Load()
	entry := &subscription{subject: "cancelled", deliver: func([]byte) { t.Error("a message was delivered") }}
	if err := p.subscribe(entry); err != nil {
		t.Fatal(err)
	}
	entry.cancelled.Store(true)
	p.unsubscribe(entry)
	if err := m.Probe("cancelled", []byte("anybody?")); err != nil {
		t.Fatal(err)
	}
	if got := transporttest.Receive(t, m.Unheard); got != "cancelled" {
		t.Errorf("%s is unheard", got)
	}
	// The session is as it was.
	messages := m.Messages(t, "cancelled")
	m.Publish("cancelled", []byte("x"))
	transporttest.Await(t, messages, "x")
}

func TestASubscriptionWhoseContextEndedCanBeMadeAgain(t *testing.T) {
	m := transporttest.Join(t, brokers.ForTestShared(t, brokers.RabbitMQ).URL(), transport.Config{})
	p := m.Broker.(*broker).session.Load()
	p.requestMu.Lock() // as if the broker took its time
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	err := m.Subscribe(ctx, "later", func([]byte) { t.Error("a message was delivered to who had given up") })
	p.requestMu.Unlock()
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Subscribe gave %v, want context.DeadlineExceeded", err)
	}
	messages := m.Messages(t, "later")
	m.Publish("later", []byte("x"))
	transporttest.Await(t, messages, "x")
}

// The session that comes next takes over what was confirmed when it was made. A subscription that is confirmed later, by the
// one before, would be lost.
func TestASubscriptionIsNotConfirmedByASessionThatIsGone(t *testing.T) {
	m := transporttest.Join(t, brokers.ForTestShared(t, brokers.RabbitMQ).URL(), transport.Config{})
	b := m.Broker.(*broker)
	p := b.session.Load()
	p.requestMu.Lock() // as if the broker took its time
	subscribed := make(chan error, 1)
	go func() { subscribed <- m.Subscribe(t.Context(), "late", func([]byte) {}) }()
	for asked := false; !asked; time.Sleep(time.Millisecond) {
		b.mu.Lock()
		asked = b.subscriptions["late"] != nil
		b.mu.Unlock()
	}
	b.session.Store(nil) // as where it has ended
	p.requestMu.Unlock()
	if err := transporttest.Receive(t, subscribed); !errors.Is(err, errNotConnected) {
		t.Errorf("Subscribe gave %v, want %v", err, errNotConnected)
	}
	b.session.Store(p) // for Close
}

func TestAVirtualHostThatIsNotThereIsAnErrorThatSaysSo(t *testing.T) {
	address := brokers.ForTestShared(t, brokers.RabbitMQ).URL() + "/missing"
	if _, err := transporttest.Connect(t, address, transport.Config{}, transport.BusEvents{}); err == nil || !strings.Contains(err.Error(), "vhost missing") {
		t.Errorf("connecting gave %v", err)
	}
}

// TestTheBrokersLimits has one broker for all, which takes five seconds of a processor to start.
func TestTheBrokersLimits(t *testing.T) {
	server := brokers.ForTest(t, brokers.RabbitMQ, brokers.Config{Extra: "max_message_size = 300000"})
	t.Run("a message that is too large is a loss that tells the cause", func(t *testing.T) { aMessageThatIsTooLarge(t, server) })
	t.Run("an alarm is a loss that tells the cause until it is over", func(t *testing.T) { anAlarm(t, server) })
	t.Run("a broker that takes no messages still takes subscriptions", func(t *testing.T) { aBrokerThatTakesNoMessages(t, server) })
}

func aMessageThatIsTooLarge(t *testing.T, server *brokers.Server) {
	m := transporttest.Join(t, server.URL(), transport.Config{})
	messages := m.Messages(t, "large")
	m.Publish("large", make([]byte, 300_001))
	if err := transporttest.Receive(t, m.Lost); !strings.Contains(err.Error(), "300000") {
		t.Errorf("the loss is reported as %v", err)
	}
	transporttest.Receive(t, m.Restored)
	m.Publish("large", []byte("small"))
	transporttest.Await(t, messages, "small")
}

// RabbitMQ with an alarm reads nothing from connections that publish.
func aBrokerThatTakesNoMessages(t *testing.T, server *brokers.Server) {
	m := transporttest.Join(t, server.URL(), transport.Config{})
	m.Messages(t, "first")
	watermark(t, server, "0")
	full := make(chan error, 1)
	go func() {
		for {
			if err := m.Publish("first", make([]byte, 64<<10)); err != nil {
				full <- err
				return
			}
		}
	}()
	m.Messages(t, "second")
	m.Messages(t, "third")
	begun := time.Now()
	m.Close()
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("Close took %v", took)
	}
	transporttest.Receive(t, full)
}

// watermark is the part of the memory above which the broker has an alarm.
func watermark(t *testing.T, server *brokers.Server, share string) {
	t.Helper()
	if err := server.RabbitMQControl("set_vm_memory_high_watermark", share); err != nil {
		t.Fatal(err)
	}
}

func anAlarm(t *testing.T, server *brokers.Server) {
	m := transporttest.Join(t, server.URL(), transport.Config{})
	messages := m.Messages(t, "alarmed")
	watermark(t, server, "0")
	m.Publish("alarmed", []byte("first")) // who publishes is told
	if err := transporttest.Receive(t, m.Lost); !strings.Contains(err.Error(), "alarm") {
		t.Errorf("the loss is reported as %v", err)
	}
	if err := m.Publish("alarmed", []byte("second")); err == nil || !strings.Contains(err.Error(), "alarm") {
		t.Errorf("publishing gives %v", err)
	}
	watermark(t, server, "0.4")
	transporttest.Receive(t, m.Restored)
	transporttest.Await(t, messages, "first")
	m.Publish("alarmed", []byte("third"))
	transporttest.Await(t, messages, "third")
}

func TestAMQPOverTLS(t *testing.T) {
	authority := transporttest.NewAuthority(t, "test authority")
	files := authority.Issue(t, t.TempDir(), "127.0.0.1")
	server := brokers.ForTest(t, brokers.RabbitMQ, brokers.Config{Cert: files.Cert, Key: files.Key, CA: files.CA, Password: "s3cret"})
	m := transporttest.Join(t, server.URL(), transport.Config{TLS: files.Client(t)})
	messages := m.Messages(t, "encrypted")
	m.Publish("encrypted", []byte("x"))
	transporttest.Await(t, messages, "x")
	m.Probe("nobody", []byte("x"))
	transporttest.Receive(t, m.Unheard)

	strangers := transporttest.NewAuthority(t, "another authority").Issue(t, t.TempDir(), "127.0.0.1")
	if _, err := transporttest.Connect(t, server.URL(), transport.Config{TLS: strangers.Client(t)}, transport.BusEvents{}); err == nil {
		t.Error("a broker of another authority was good enough")
	}
}
