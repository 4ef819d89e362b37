package mqtt

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

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
	messages := make(chan string, 64)
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

func TestTheBrokersLimitOfAPacketIsThatOfAMessage(t *testing.T) {
	server := brokers.ForTest(t, brokers.Mosquitto, brokers.Config{Extra: "max_packet_size 300000"})
	m := join(t, server.URL(), transport.Config{})
	if m.MaxMessage() > 300_000 || m.MaxMessage() < 299_000 {
		t.Errorf("the largest message has %d bytes where a packet may have 300000", m.MaxMessage())
	}
	subject := strings.Repeat("s", 200) // the most that takes away from it
	messages := m.subscribe(t, subject)
	largest := strings.Repeat("x", m.MaxMessage())
	m.Probe(subject, []byte(largest))
	expect(t, messages, largest)
	if err := m.Publish(subject, []byte(largest+"x")); err == nil {
		t.Error("one byte more went through")
	}
}

func TestProbesWaitForABrokerThatTakesFewAtATime(t *testing.T) {
	server := brokers.ForTest(t, brokers.Mosquitto, brokers.Config{Extra: "max_inflight_messages 1"})
	m := join(t, server.URL(), transport.Config{})
	if probes := cap(m.conn.Load().ids); probes != 1 {
		t.Fatalf("%d probes may be under way", probes)
	}
	messages := m.subscribe(t, "few")
	for i := range 15 {
		if err := m.Probe("few", fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
		m.Publish("few", []byte("between"))
		if err := m.Probe("nobody", nil); err != nil {
			t.Fatal(err)
		}
		receive(t, m.unheard)
	}
	for i := range 15 {
		expect(t, messages, fmt.Sprint(i))
		expect(t, messages, "between")
	}
}

func TestARetainedMessageIsNotOnesOwn(t *testing.T) {
	m := join(t, brokers.ForTestShared(t, brokers.Mosquitto).URL(), transport.Config{})
	c := m.conn.Load()
	if err := c.write(&packets.Publish{Topic: "retained", Payload: []byte("of another program"), Retain: true, Properties: &packets.Properties{}}); err != nil {
		t.Fatal(err)
	}
	messages := m.subscribe(t, "retained")
	m.Publish("retained", []byte("fresh"))
	expect(t, messages, "fresh")
	c.write(&packets.Publish{Topic: "retained", Retain: true, Properties: &packets.Properties{}}) // removes it
}

func TestABrokerThatFallsSilentIsLost(t *testing.T) {
	server := brokers.ForTest(t, brokers.Mosquitto)
	m := join(t, server.URL(), transport.Config{KeepAlive: time.Second})
	messages := m.subscribe(t, "silent")
	if err := server.Suspend(); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, m.lost); !strings.Contains(err.Error(), "did not answer for 1s") {
		t.Errorf("the loss is told as %v", err)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	receive(t, m.restored)
	m.Publish("silent", []byte("again"))
	expect(t, messages, "again")
}

func TestAQuietConnectionIsKept(t *testing.T) {
	m := join(t, brokers.ForTestShared(t, brokers.Mosquitto).URL(), transport.Config{KeepAlive: time.Second})
	messages := m.subscribe(t, "quiet")
	select { // Mosquitto gives up after one and a half times KeepAlive
	case err := <-m.lost:
		t.Fatal(err)
	case <-time.After(3500 * time.Millisecond):
	}
	m.Publish("quiet", []byte("x"))
	expect(t, messages, "x")
}

func TestManyMessagesForASubscriberThatReadsNone(t *testing.T) {
	server := brokers.ForTestShared(t, brokers.Mosquitto)
	publisher, slow, other := join(t, server.URL(), transport.Config{}), join(t, server.URL(), transport.Config{}), join(t, server.URL(), transport.Config{})
	release := make(chan struct{})
	if err := slow.Subscribe(t.Context(), "slow", func([]byte) { <-release }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(release) })
	messages := other.subscribe(t, "other")
	block := bytes.Repeat([]byte("x"), 64<<10)
	for range 500 {
		if err := publisher.Publish("slow", block); err != nil {
			t.Fatal(err)
		}
	}
	publisher.Publish("other", []byte("is not held up"))
	expect(t, messages, "is not held up")
}

func TestConformanceOverTLS(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	server := brokers.ForTest(t, brokers.Mosquitto, brokers.Config{Cert: files.Cert, Key: files.Key, CA: files.CA, Password: "s3cret"})
	transporttest.Bus(t, server, transport.Config{TLS: clientTLS(t, files)})
}

func TestABrokerOfAnotherAuthorityIsRefused(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	strangers := transporttest.NewAuthority(t, "another authority").Issue(t, t.TempDir(), "127.0.0.1")
	server := brokers.ForTest(t, brokers.Mosquitto, brokers.Config{Cert: files.Cert, Key: files.Key, CA: files.CA})
	_, err := open(t, server.URL(), transport.Config{TLS: clientTLS(t, strangers)}, transport.BusEvents{})
	if err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("connecting gave %v", err)
	}
}
