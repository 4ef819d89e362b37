package mqtt

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

// talk is a broker that answers the first packets of one connection by a list, and then closes it or, where the list
// ends in stay, waits for the other side to.
func talk(t *testing.T, answers ...string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		l.Close()
		if err != nil {
			return
		}
		defer conn.Close()
		r := bufio.NewReader(conn)
		for _, answer := range answers {
			if answer == stay {
				io.Copy(io.Discard, r)
				return
			}
			if _, err := packets.ReadPacket(r); err != nil {
				return
			}
			io.WriteString(conn, answer)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return "mqtt://ann:secret@" + l.Addr().String()
}

const (
	stay    = "stay"
	welcome = "\x20\x03\x00\x00\x00" // CONNACK
)

func TestAnswersToCONNECT(t *testing.T) {
	for _, test := range []struct{ name, answer, says string }{
		{"not authorised", "\x20\x03\x00\x87\x00", "0x87: Not authorized"},
		{"another version, in the way of MQTT 3", "\x20\x02\x00\x01", "does not speak MQTT 5"},
		{"another packet", "\xd0\x00", "the byte 0xd0"},
		{"another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n", "not a broker for MQTT"},
		{"no quality of service but 0", "\x20\x05\x00\x00\x02\x24\x00", "quality of service 1"},
		{"nothing", "", "no answer to CONNECT"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := transporttest.Connect(t, talk(t, test.answer), transport.Config{}, transport.BusEvents{})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("the error is %v, want one with %q", err, test.says)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestTheBrokersKeepAliveGoesBeforeOnesOwn(t *testing.T) {
	b, err := transporttest.Connect(t, talk(t, "\x20\x06\x00\x00\x03\x13\x00\x01", stay), transport.Config{}, transport.BusEvents{})
	if err != nil {
		t.Fatal(err)
	}
	if every := b.(*broker).conn.Load().every; every != time.Second {
		t.Errorf("the broker wants to hear something every second, and is asked every %v", every)
	}
}

func TestASubscriptionThatTheBrokerRefusesIsAnError(t *testing.T) {
	b, err := transporttest.Connect(t, talk(t, welcome, "\x90\x04\x01\x02\x00\x87", stay), transport.Config{}, transport.BusEvents{})
	if err != nil {
		t.Fatal(err)
	}
	err = b.Subscribe(t.Context(), "secret.plans", func([]byte) {})
	if err == nil || !strings.Contains(err.Error(), "0x87: Not authorized") || !strings.Contains(err.Error(), "secret.plans") {
		t.Errorf("Subscribe gave %v", err)
	}
}

// The connection that comes next takes over what was confirmed when it was made. A subscription that is confirmed later, by
// the one before, would be lost.
func TestASubscriptionIsNotConfirmedByAConnectionThatIsGone(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	connected := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		packets.ReadPacket(conn)
		io.WriteString(conn, welcome)
		connected <- conn
	}()
	b, err := transporttest.Connect(t, "mqtt://"+l.Addr().String(), transport.Config{}, transport.BusEvents{})
	if err != nil {
		t.Fatal(err)
	}
	conn := transporttest.Receive(t, connected)
	defer conn.Close()
	subscribed := make(chan error, 1)
	go func() { subscribed <- b.Subscribe(t.Context(), "late", func([]byte) {}) }()
	if _, err := packets.ReadPacket(conn); err != nil {
		t.Fatal(err)
	}
	b.(*broker).conn.Store(nil) // as where it has ended
	io.WriteString(conn, "\x90\x04\x01\x02\x00\x00")
	if err := transporttest.Receive(t, subscribed); !errors.Is(err, errNotConnected) {
		t.Errorf("Subscribe gave %v, want %v", err, errNotConnected)
	}
}

func TestWhatABrokerMustNotSayIsALossThatTellsIt(t *testing.T) {
	for _, test := range []struct{ name, says, want string }{
		{"goodbye", "\xe0\x02\x8b\x00", "code 0x8b"},
		{"a second welcome", welcome, "packet of type 2"},
		{"an acknowledgement of what was never sent", "\x40\x02\x00\x05", "acknowledged message 5 twice"},
		{"an acknowledgement of what cannot be", "\x40\x02\xff\xff", "acknowledged a message 65535"},
		{"nothing any more", "", "EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lost := make(chan error, 1)
			b, err := transporttest.Connect(t, talk(t, welcome, test.says), transport.Config{}, transport.BusEvents{Lost: func(err error) { lost <- err }})
			if err != nil {
				t.Fatal(err)
			}
			b.Publish("x", nil) // which is answered
			if err := transporttest.Receive(t, lost); !strings.Contains(err.Error(), test.want) {
				t.Errorf("the loss is reported as %v, want %q in it", err, test.want)
			}
		})
	}
}
