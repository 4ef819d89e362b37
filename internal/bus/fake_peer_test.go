package bus_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/bus"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/transport"
)

// The kinds of packets that tests send and expect themselves.
const (
	kindOpen   = 1
	kindAccept = 2
	kindRefuse = 3
	kindData   = 4
	kindAck    = 5
	kindClose  = 8
	kindReset  = 9
)

// fakePeer is a peer that has dialled a hub, each of whose packets the test chooses.
type fakePeer struct {
	t      *testing.T
	broker transport.Broker
	inbox  string // the hub's
	got    chan []byte
}

var fakePeerSession = [16]byte{1}

func newFakePeer(t *testing.T, address string, to *bus.Hub) *fakePeer {
	t.Helper()
	at, err := schemes.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	broker, err := driver{}.Connect(t.Context(), at, transport.Config{}, transport.BusEvents{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { broker.Close() })
	p := &fakePeer{t: t, broker: broker, got: make(chan []byte, 16)}
	_, p.inbox, _ = strings.Cut(to.Addr(), "#")
	if err := broker.Subscribe(t.Context(), "fakepeer", func(m []byte) { p.got <- m }); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *fakePeer) send(kind byte, at, taken uint64) {
	p.t.Helper()
	var text []byte
	if kind == kindOpen {
		text = []byte("fakepeer") // where the answers go
	}
	if err := p.broker.Publish(p.inbox, bus.Packet(kind, false, fakePeerSession, at, taken, text)); err != nil {
		p.t.Fatal(err)
	}
}

// expect takes the next packet, which must be of a kind and name an offset of the stream.
func (p *fakePeer) expect(kind byte, at uint64) {
	p.t.Helper()
	if gotKind, gotAt := bus.KindAndOffset(p.t, <-p.got); gotKind != kind || gotAt != at {
		p.t.Fatalf("a packet of kind %d at %d came, want one of kind %d at %d", gotKind, gotAt, kind, at)
	}
}
