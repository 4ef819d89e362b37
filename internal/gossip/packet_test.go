package gossip_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/gossip"
	"github.com/sabir-go/sabir/internal/membership"
)

func TestPacketsAndConnectionsOutsideOfItsLifeAreDropped(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a := net.node(t, "a")
		if err := a.stop(); err != nil {
			t.Fatal(err)
		}
		a.Packet("b", []byte("late"))
		a.Failed("b")
		one, two := pipePair()
		a.Conn(two)
		if _, err := one.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is open")
		}
	})
}

func TestGarbageFromAPeerDoesNoHarm(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		for _, packet := range [][]byte{nil, {0}, {244}, {244, 4, 't', 'e', 's', 't'}, {244, 4, 't', 'e', 's', 't', 4, 0x80}, bytes.Repeat([]byte{0xff}, 5000)} {
			a.Packet("b", packet)
			one, two := pipePair()
			a.Conn(two)
			one.SetDeadline(time.Now().Add(time.Second))
			one.Write(packet)
			one.Close()
		}
		time.Sleep(10 * time.Second)
		if !acquainted(a, b) {
			t.Error("they lost each other")
		}
	})
}

// aliveB is memberlist's packet that announces b.
const aliveB = "\x04\x86\xabIncarnation\x01\xa4Node\xa1b\xa4Addr\xc4\x04\x7f\x00\x00\x01\xa4Port\x01\xa4Meta\xc4\x07{\"i\":7}\xa3Vsn\xc4\x06\x01\x05\x02\x00\x00\x00"

// A peer is authenticated, but its packets are not trusted: whatever it sends must not end this node, where memberlist reads
// it on goroutines of its own.
func FuzzPacket(f *testing.F) {
	net := &network{nodes: make(map[string]*node), dials: make(map[string]int), cut: func(string, string) bool { return false }}
	a := &node{network: net, self: membership.Member{ID: "a", Addr: url("a")}}
	a.Membership = gossip.New(a, nil, membership.GossipConfig{Log: slog.New(slog.DiscardHandler)})
	net.nodes[url("a")] = a
	if err := a.Start(context.Background(), a.self, a.watch); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { a.Stop(context.Background()) })

	f.Add([]byte(aliveB))
	f.Add([]byte("\x03\x83\xabIncarnation\x01\xa4Node\xa1b\xa4From\xa1b")) // suspect
	f.Add([]byte("\x05\x83\xabIncarnation\x01\xa4Node\xa1b\xa4From\xa1c")) // dead
	f.Add([]byte("\x00\x82\xa5SeqNo\x01\xa4Node\xa1a"))                    // ping
	f.Add([]byte("\x07\x02\x00\x01\x00\x01\x00\x00"))                      // compound
	f.Add([]byte("\x08{\"goodbye\":\"b\",\"i\":7}"))                       // user message
	f.Fuzz(func(t *testing.T, packet []byte) { a.Packet("b", packet) })
}

func TestThePacketsOfTheFuzzTestAreRead(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a := net.start(t, membership.Member{ID: "a", Addr: url("a")}, membership.GossipConfig{})
		a.Packet("b", []byte(aliveB))
		within(t, time.Second, "b is a member", func() bool { return len(a.Members()) == 1 })
	})
}
