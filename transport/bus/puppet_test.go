package bus_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/bus"
)

// The kinds of packets that tests send and expect themselves.
const (
	kindOpen   = 1
	kindAccept = 2
	kindData   = 4
	kindAck    = 5
	kindClose  = 8
	kindReset  = 9
)

// puppet is the side of a session that dialled a hub, of which the test says each packet.
type puppet struct {
	t      *testing.T
	broker transport.Broker
	inbox  string // the hub's
	got    chan []byte
}

var puppetSession = [16]byte{1}

func newPuppet(t *testing.T, address string, to *bus.Hub) *puppet {
	t.Helper()
	at, err := transport.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	broker, err := driver{}.Connect(t.Context(), at, transport.Config{}, transport.BusEvents{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { broker.Close() })
	p := &puppet{t: t, broker: broker, got: make(chan []byte, 16)}
	_, p.inbox, _ = strings.Cut(to.Addr(), "#")
	if err := broker.Subscribe(t.Context(), "puppet", func(m []byte) { p.got <- m }); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *puppet) send(kind byte, at, taken uint64) {
	p.t.Helper()
	var text []byte
	if kind == kindOpen {
		text = []byte("puppet") // where the answers go
	}
	if err := p.broker.Publish(p.inbox, bus.Packet(kind, false, puppetSession, at, taken, text)); err != nil {
		p.t.Fatal(err)
	}
}

// expect takes the next packet, which must be of a kind and name an offset of the stream.
func (p *puppet) expect(kind byte, at uint64) {
	p.t.Helper()
	if gotKind, gotAt := bus.KindAndOffset(p.t, <-p.got); gotKind != kind || gotAt != at {
		p.t.Fatalf("a packet of kind %d at %d came, want one of kind %d at %d", gotKind, gotAt, kind, at)
	}
}
