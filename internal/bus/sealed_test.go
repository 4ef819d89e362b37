package bus_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/bus"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

const clusterKey = "the key of the cluster"

// sealedHub is a hub with a key.
func sealedHub(t *testing.T, address, node string, change ...func(*bus.Config)) *bus.Hub {
	t.Helper()
	config := bus.Config{Cluster: "c", Node: node, Keys: seal.NewKeys(clusterKey)}
	for _, f := range change {
		f(&config)
	}
	h, err := bus.Open(t.Context(), address, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// sealedPair is a connection between two hubs with a key.
func sealedPair(t *testing.T, from, to *bus.Hub) (dialled, accepted net.Conn) {
	t.Helper()
	l := to.Listener()
	dialled, err := from.Dial(t.Context(), l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if accepted, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return dialled, accepted
}

func TestSealedConnectionsOverABusAreAsOverAnyTransport(t *testing.T) {
	transporttest.Connections(t, func(t *testing.T) (func(context.Context) (transport.Listener, error), func(context.Context, string) (net.Conn, error)) {
		_, address := newBroker(t)
		a, b := sealedHub(t, address, "a"), sealedHub(t, address, "b")
		return func(context.Context) (transport.Listener, error) { return a.Listener(), nil }, b.Dial
	})
}

func TestNothingIsLostFromASealedSessionWhereTheBrokerLosesMessages(t *testing.T) {
	for _, share := range []float64{0.01, 0.2} {
		bubbletest.Run(t, func(t *testing.T) {
			b, address := newBroker(t)
			dialled, accepted := sealedPair(t, sealedHub(t, address, "a"), sealedHub(t, address, "b"))
			b.lose(share)
			exchange(t, 1<<20, dialled, accepted)
			b.stop()
			done := make(chan struct{})
			go func() {
				defer close(done)
				exchange(t, 1<<20, dialled, accepted)
			}()
			time.Sleep(4 * time.Second) // of the test's clock
			b.start()
			<-done
		})
	}
}

// stranger has access to the broker and no key. It gets what is sent to the inboxes of two hubs.
type stranger struct {
	t      *testing.T
	broker transport.Broker

	mu  sync.Mutex
	got map[string][][]byte // by inbox
}

func newStranger(t *testing.T, address string, hubs ...*bus.Hub) *stranger {
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
	s := &stranger{t: t, broker: broker, got: map[string][][]byte{}}
	for _, h := range hubs {
		broker.Subscribe(t.Context(), h.Inbox(), func(m []byte) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.got[h.Inbox()] = append(s.got[h.Inbox()], m)
		})
	}
	return s
}

func (s *stranger) to(h *bus.Hub) [][]byte {
	bubbletest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got[h.Inbox()])
}

func (s *stranger) publish(h *bus.Hub, message []byte) {
	s.t.Helper()
	if err := s.broker.Publish(h.Inbox(), message); err != nil {
		s.t.Fatal(err)
	}
}

func TestWhatAStrangerPublishesIntoASessionIsDroppedAndTheSessionGoesOn(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		_, address := newBroker(t)
		var log bytes.Buffer
		refusals := seal.NewRefusals(slog.New(slog.NewTextHandler(&log, nil)))
		a, b := sealedHub(t, address, "a"), sealedHub(t, address, "b", func(c *bus.Config) { c.Refusals = refusals })
		s := newStranger(t, address, a, b)
		dialled, accepted := sealedPair(t, a, b)
		exchange(t, 100, dialled, accepted)
		io.WriteString(dialled, "pay 100 to Alice")
		if _, err := io.ReadFull(accepted, make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		sent := s.to(b)
		last := sent[len(sent)-1]
		if bytes.Contains(slices.Concat(sent...), []byte("Alice")) {
			t.Error("it reads what goes over the session")
		}
		session := [16]byte(last[1:17])

		forgeries := map[string][]byte{
			"the next packet, without a seal":     bus.Packet(kindData, false, session, 116, 100, []byte("pay 1000000 to MALLORY")),
			"the next packet at another offset":   bus.Packet(kindData, false, session, 0, 0, []byte("MALLORY")),
			"a confirmation":                      bus.Packet(kindAck, false, session, 1<<20, 1<<20, nil),
			"the end of the stream":               bus.Packet(kindClose, false, session, 116, 100, []byte(a.Inbox())),
			"the end of the session":              bus.Packet(kindReset, false, session, 0, 0, nil),
			"another beginning":                   bus.Packet(kindOpen, false, session, 0, 0, []byte(a.Inbox())),
			"a beginning without a key":           bus.Packet(kindOpen, false, [16]byte{9}, 0, 0, []byte("stranger")),
			"a beginning with a key of its own":   bus.Packet(kindOpen, false, [16]byte{9}, 0, 0, []byte("stranger\x00\x01\x01\x30\x00"+strings.Repeat("x", 48))),
			"an answer":                           bus.Packet(kindAccept, false, session, 0, 0, nil),
			"nothing but the head":                last[:17],
			"a number far ahead":                  slices.Concat(last[:17], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, last[25:]),
			"the number that comes next":          slices.Concat(last[:17], []byte{last[17] + 1}, last[18:]),
			"what was sent, for another session":  append([]byte{last[0]}, append(bytes.Repeat([]byte{7}, 16), last[17:]...)...),
			"what was sent, as of another kind":   append([]byte{kindReset}, last[1:]...),
			"what was sent, with a bit changed":   append(slices.Clone(last[:len(last)-1]), last[len(last)-1]^1),
			"what was sent, again":                last,
			"what was sent in the other way":      s.to(a)[len(s.to(a))-1],
			"what was sent first, after the rest": sent[1],
		}
		count := uint64(0)
		for name, message := range forgeries {
			s.publish(b, message)
			bubbletest.Wait()
			if name != "what was sent, for another session" && name != "what was sent in the other way" { // for these there is no session
				count++
			}
			if refusals.Count() != count {
				t.Errorf("%s: %d are counted, want %d", name, refusals.Count(), count)
				count = refusals.Count()
			}
			exchange(t, 1000, dialled, accepted)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 {
			t.Errorf("%d lines are logged within a second: %s", lines, &log)
		}
		time.Sleep(2 * time.Second) // of the test's clock
		s.publish(b, last)
		bubbletest.Wait()
		if lines := strings.Count(log.String(), "\n"); lines != 2 {
			t.Errorf("%d lines are logged within three seconds: %s", lines, &log)
		}
	})
}

func TestASessionBeginsThoughAStrangerAnswersFirst(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		broker, address := newBroker(t)
		a, b := sealedHub(t, address, "a"), sealedHub(t, address, "b")
		s := newStranger(t, address, b)
		hold := broker.holdAccept()
		l := b.Listener()
		dialled := make(chan error)
		go func() {
			_, err := a.Dial(t.Context(), l.Addr())
			dialled <- err
		}()
		session := [16]byte(s.to(b)[0][1:17])
		for _, kind := range []byte{kindRefuse, kindReset, kindData} {
			s.publish(a, bus.Packet(kind, true, session, 0, 0, nil))
		}
		bubbletest.Wait()
		go func() { // the broker holds an accept of the stranger too
			for range 2 {
				hold <- struct{}{}
			}
			close(hold)
		}()
		// The ephemeral key of zero has no common secret with any other.
		s.publish(a, bus.Packet(kindAccept, true, session, 0, 0, make([]byte, 1+32+16+1)))
		if err := <-dialled; err != nil {
			t.Error(err)
		}
		if _, err := l.Accept(); err != nil {
			t.Error(err)
		}
	})
}

func TestABeginningThatComesAgainIsNeverAccepted(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		_, address := newBroker(t)
		a, b := sealedHub(t, address, "a"), sealedHub(t, address, "b")
		s := newStranger(t, address, b)
		dialled, accepted := sealedPair(t, a, b)
		l := b.Listener()
		opened := s.to(b)[0]
		dialled.Close()
		accepted.Close()
		time.Sleep(time.Minute) // of the test's clock: both have forgotten the session
		s.publish(b, opened)
		bubbletest.Wait()
		if b.Unproven() != 1 {
			t.Errorf("%d sessions wait for a proof, want 1", b.Unproven())
		}
		time.Sleep(bus.OpenLimit + time.Second)
		if b.Unproven() != 0 {
			t.Errorf("%d sessions wait for a proof after the limit", b.Unproven())
		}
		if _, err := a.Dial(t.Context(), l.Addr()); err != nil {
			t.Fatal(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if conn.RemoteAddr().String() != a.Addr() {
			t.Errorf("a connection from %s was accepted", conn.RemoteAddr())
		}
	})
}

func TestHubsWithOtherKeysOrNoneAreNotTaken(t *testing.T) {
	for name, keys := range map[string]seal.Keys{"another key": seal.NewKeys("a key of somebody else"), "no key": {}} {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				_, address := newBroker(t)
				refusals := seal.NewRefusals(slog.New(slog.DiscardHandler))
				a := sealedHub(t, address, "a", func(c *bus.Config) { c.Keys = keys })
				b := sealedHub(t, address, "b", func(c *bus.Config) { c.Refusals = refusals })
				if _, err := a.Dial(t.Context(), b.Listener().Addr()); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("dialling gave %v", err)
				}
				if _, err := b.Dial(t.Context(), a.Listener().Addr()); err == nil {
					t.Error("it was dialled")
				}
				if refusals.Count() == 0 {
					t.Error("nothing is counted")
				}
			})
		})
	}
}

func TestHubsWithOldNewAndBothKeysMeet(t *testing.T) {
	_, address := newBroker(t)
	with := func(node string, keys ...string) *bus.Hub {
		return sealedHub(t, address, node, func(c *bus.Config) { c.Keys = seal.NewKeys(keys...) })
	}
	old, both, next := with("old", clusterKey), with("both", "the next key of the cluster", clusterKey), with("next", "the next key of the cluster")
	for _, way := range [][2]*bus.Hub{{old, both}, {both, old}, {both, next}, {next, both}} {
		dialled, accepted := sealedPair(t, way[0], way[1])
		exchange(t, 1000, dialled, accepted)
	}
}

func TestARefusedSealedSessionIsRefusedAtOnce(t *testing.T) {
	_, address := newBroker(t)
	a, b := sealedHub(t, address, "a"), sealedHub(t, address, "b")
	if _, err := b.Dial(t.Context(), a.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("without a listener: %v", err)
	}
}

func TestASessionIsSealedUnlessBothHubsArePlain(t *testing.T) {
	for _, test := range []struct{ dialler, acceptor, sealed bool }{{false, false, true}, {true, false, true}, {false, true, true}, {true, true, false}} {
		_, address := newBroker(t)
		a := sealedHub(t, address, "a", func(c *bus.Config) { c.Plain = test.dialler })
		b := sealedHub(t, address, "b", func(c *bus.Config) { c.Plain = test.acceptor })
		dialled, accepted := sealedPair(t, a, b)
		for _, conn := range []net.Conn{dialled, accepted} {
			if sealed := conn.(interface{ ChannelBinding() []byte }).ChannelBinding() != nil; sealed != test.sealed {
				t.Errorf("%+v: sealed %t", test, sealed)
			}
		}
		exchange(t, 1000, dialled, accepted)
	}
}

func TestBothSidesOfASessionHaveTheSameBindingAndNoOtherHasIt(t *testing.T) {
	_, address := newBroker(t)
	a, b := sealedHub(t, address, "a"), sealedHub(t, address, "b")
	binding := func(conn net.Conn) string {
		return string(conn.(interface{ ChannelBinding() []byte }).ChannelBinding())
	}
	one, other := sealedPair(t, a, b)
	next, _ := sealedPair(t, a, b)
	if len(binding(one)) != 32 || binding(one) != binding(other) || binding(one) == binding(next) {
		t.Errorf("%x, %x, %x", binding(one), binding(other), binding(next))
	}
}

// FuzzStranger holds that no message of somebody without the key begins a session or stops the one that is there.
func FuzzStranger(f *testing.F) {
	f.Add(byte(0), []byte{})
	f.Add(byte(4), bus.Packet(kindData, false, [16]byte{}, 0, 0, []byte("MALLORY"))[17:])
	f.Add(byte(1), bus.Packet(kindOpen, false, [16]byte{}, 0, 0, []byte("stranger\x00\x01\x01\x30\x00"+strings.Repeat("x", 48)))[17:])
	f.Fuzz(func(t *testing.T, kind byte, rest []byte) {
		bubbletest.Run(t, func(t *testing.T) {
			_, address := newBroker(t)
			a, b := sealedHub(t, address, "a"), sealedHub(t, address, "b")
			s := newStranger(t, address, b)
			dialled, accepted := sealedPair(t, a, b)
			session := s.to(b)[0][1:17]
			b.Arrived(slices.Concat([]byte{kind}, session, rest))
			b.Arrived(slices.Concat([]byte{kind}, bytes.Repeat([]byte{1}, 16), rest))
			if b.Unproven() != 0 {
				t.Error("a session has begun")
			}
			exchange(t, 10, dialled, accepted)
			a.Close()
			b.Close()
		})
	})
}
