package mqtt

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

func TestTheBrokersLimitOfAPacketIsThatOfAMessage(t *testing.T) {
	server := brokers.ForTest(t, brokers.Mosquitto, brokers.Config{Extra: "max_packet_size 300000"})
	m := transporttest.Join(t, server.URL(), transport.Config{})
	if m.MaxMessage() > 300_000 || m.MaxMessage() < 299_000 {
		t.Errorf("the largest message has %d bytes where a packet may have 300000", m.MaxMessage())
	}
	subject := strings.Repeat("s", 200) // the most that takes away from it
	messages := m.Messages(t, subject)
	largest := strings.Repeat("x", m.MaxMessage())
	m.Probe(subject, []byte(largest))
	transporttest.Await(t, messages, largest)
	if err := m.Publish(subject, []byte(largest+"x")); err == nil {
		t.Error("one byte more went through")
	}
}

func TestProbesWaitForABrokerThatTakesFewAtATime(t *testing.T) {
	server := brokers.ForTest(t, brokers.Mosquitto, brokers.Config{Extra: "max_inflight_messages 1"})
	m := transporttest.Join(t, server.URL(), transport.Config{})
	if probes := cap(m.Broker.(*broker).conn.Load().ids); probes != 1 {
		t.Fatalf("%d probes may be under way", probes)
	}
	messages := m.Messages(t, "few")
	for i := range 15 {
		if err := m.Probe("few", fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
		m.Publish("few", []byte("between"))
		if err := m.Probe("nobody", nil); err != nil {
			t.Fatal(err)
		}
		transporttest.Receive(t, m.Unheard)
	}
	for i := range 15 {
		transporttest.Await(t, messages, fmt.Sprint(i))
		transporttest.Await(t, messages, "between")
	}
}

func TestARetainedMessageIsNotOnesOwn(t *testing.T) {
	m := transporttest.Join(t, brokers.ForTestShared(t, brokers.Mosquitto).URL(), transport.Config{})
	c := m.Broker.(*broker).conn.Load()
	if err := c.write(&packets.Publish{Topic: "retained", Payload: []byte("of another program"), Retain: true, Properties: &packets.Properties{}}); err != nil {
		t.Fatal(err)
	}
	messages := m.Messages(t, "retained")
	m.Publish("retained", []byte("fresh"))
	transporttest.Await(t, messages, "fresh")
	c.write(&packets.Publish{Topic: "retained", Retain: true, Properties: &packets.Properties{}}) // removes it
}

func TestABrokerThatFallsSilentIsLost(t *testing.T) {
	server := brokers.ForTest(t, brokers.Mosquitto)
	m := transporttest.Join(t, server.URL(), transport.Config{KeepAlive: 3 * time.Second}) // in which a busy machine must answer
	messages := m.Messages(t, "silent")
	if err := server.Suspend(); err != nil {
		t.Fatal(err)
	}
	if err := transporttest.Receive(t, m.Lost); !strings.Contains(err.Error(), "did not answer for 3s") {
		t.Errorf("the loss is reported as %v", err)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	transporttest.Receive(t, m.Restored)
	m.Publish("silent", []byte("again"))
	transporttest.Await(t, messages, "again")
}

func TestAQuietConnectionIsKept(t *testing.T) {
	m := transporttest.Join(t, brokers.ForTestShared(t, brokers.Mosquitto).URL(), transport.Config{KeepAlive: 3 * time.Second})
	messages := m.Messages(t, "quiet")
	select { // Mosquitto closes the connection after one and a half times KeepAlive
	case err := <-m.Lost:
		t.Fatal(err)
	case <-time.After(7500 * time.Millisecond):
	}
	m.Publish("quiet", []byte("x"))
	transporttest.Await(t, messages, "x")
}

func TestManyMessagesForASubscriberThatReadsNone(t *testing.T) {
	server := brokers.ForTestShared(t, brokers.Mosquitto)
	publisher, slow, other := transporttest.Join(t, server.URL(), transport.Config{}), transporttest.Join(t, server.URL(), transport.Config{}), transporttest.Join(t, server.URL(), transport.Config{})
	release := make(chan struct{})
	if err := slow.Subscribe(t.Context(), "slow", func([]byte) { <-release }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(release) })
	messages := other.Messages(t, "other")
	block := bytes.Repeat([]byte("x"), 64<<10)
	for range 500 {
		if err := publisher.Publish("slow", block); err != nil {
			t.Fatal(err)
		}
	}
	publisher.Publish("other", []byte("is not held up"))
	transporttest.Await(t, messages, "is not held up")
}

func TestConformanceOverTLS(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	server := brokers.ForTest(t, brokers.Mosquitto, brokers.Config{Cert: files.Cert, Key: files.Key, CA: files.CA, Password: "s3cret"})
	transporttest.Bus(t, server, transport.Config{TLS: files.Client(t)})
}

func TestABrokerOfAnotherAuthorityIsRefused(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	strangers := transporttest.NewAuthority(t, "another authority").Issue(t, t.TempDir(), "127.0.0.1")
	server := brokers.ForTest(t, brokers.Mosquitto, brokers.Config{Cert: files.Cert, Key: files.Key, CA: files.CA})
	_, err := transporttest.Connect(t, server.URL(), transport.Config{TLS: strangers.Client(t)}, transport.BusEvents{})
	if err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("connecting gave %v", err)
	}
}
