// Package transporttest states what transports do, as tests that every one of them runs.
//
//	func TestConformance(t *testing.T) {
//		transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return "tcp://:0", transport.Config{} })
//	}
//
// Transports through a broker are tested with a real one:
//
//	func TestConformance(t *testing.T) {
//		transporttest.Bus(t, brokers.ForTest(t, brokers.NATS, brokers.Config{Password: "secret"}), transport.Config{})
//	}
package transporttest

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/transport"
)

// waitLimit is the time that a test waits for something that must happen before it fails: long, for a broker that starts, or a
// machine with much else to do, may take its time.
const waitLimit = time.Minute

// Setup returns where a test listens and the configuration of both sides: an address that is free, different for each call or
// with a port 0, and a Config to listen and to dial with.
type Setup func(t *testing.T) (listen string, config transport.Config)

// Stream runs the conformance suite of the [transport.Stream] shape. The transport must be registered.
func Stream(t *testing.T, setup Setup) {
	run(t, append(slices.Clone(ofConnections), ofAddresses...), func(t *testing.T) *streamTest {
		address, config := setup(t)
		if config.DialTimeout == 0 {
			config.DialTimeout = 2 * waitLimit // many handshakes at once take their time under the race detector
		}
		return &streamTest{address: address, config: config,
			listener: func(ctx context.Context) (transport.Listener, error) { return transport.Listen(ctx, address, config) },
			dialTo:   func(ctx context.Context, to string) (net.Conn, error) { return transport.Dial(ctx, to, config) }}
	})
}

// Connections runs the part of the suite that is about connections, whatever makes them: two functions that do as
// [transport.Listen] and [transport.Dial] would.
func Connections(t *testing.T, setup func(t *testing.T) (listen func(context.Context) (transport.Listener, error), dial func(context.Context, string) (net.Conn, error))) {
	run(t, ofConnections, func(t *testing.T) *streamTest {
		listen, dial := setup(t)
		return &streamTest{listener: listen, dialTo: dial}
	})
}

func run(t *testing.T, tests []behaviour, setup func(t *testing.T) *streamTest) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			running := goleak.IgnoreCurrent()
			// Cleanups run last in, first out: this one after all connections are closed.
			t.Cleanup(func() { nothingLeft(t, running) })
			test.run(t, setup(t))
		})
	}
}

// nothingLeft fails where goroutines are left that are not known. They have a while to end, as they do on their own time, but
// less than the five seconds that a connection over UDP waits for a goodbye that does not come.
func nothingLeft(t *testing.T, known ...goleak.Option) {
	t.Helper()
	err := goleak.Find(known...)
	for limit := time.Now().Add(4 * time.Second); err != nil && time.Now().Before(limit); {
		err = goleak.Find(known...)
	}
	if err != nil {
		t.Error(err)
	}
}

type behaviour struct {
	name string
	run  func(*testing.T, *streamTest)
}

var (
	ofConnections = []behaviour{
		{"bytes arrive both ways", bytesArriveBothWays},
		{"many connections at once keep their bytes apart", manyConnections},
		{"random sizes arrive intact both ways at once", intactUnderConcurrency},
		{"concurrent writes do not mix", writesDoNotMix},
		{"several buffers arrive in order", buffersArriveInOrder},
		{"an empty write is nothing", emptyWriteIsNothing},
		{"a side that closed its writes still reads", halfClose},
		{"close ends the peer's waiting read after what was sent", closeEndsPeersRead},
		{"close ends the own waiting read", closeEndsOwnRead},
		{"close ends the own waiting write", closeEndsOwnWrite},
		{"close ends the peer's waiting write", closeEndsPeersWrite},
		{"a closed connection says so", closedConnectionErrors},
		{"a read deadline passes and can be set again", readDeadline},
		{"a read deadline set while a read waits ends it", readDeadlineWhileWaiting},
		{"a write to a peer that does not read stops after bounded bytes", backPressure},
		{"closing the listener ends accept", closeEndsAccept},
		{"connections outlive their listener", connectionsOutliveListener},
		{"dialling nobody is refused", dialWithoutListener},
		{"dialling ends with its context", dialCancelled},
	}
	ofAddresses = []behaviour{
		{"an address is free again after close", addressIsFreeAgain},
		{"an address is listened on once", listenTwice},
		{"the listener's address can be dialled", addresses},
		{"addresses with parts that mean nothing are refused", invalidAddresses},
		{"others are not let in without proof", uninvited},
	}
)

// streamTest is the setup of one test.
type streamTest struct {
	listener func(context.Context) (transport.Listener, error)
	dialTo   func(context.Context, string) (net.Conn, error)

	address string // these two for ofAddresses only
	config  transport.Config
}

func (s *streamTest) listen(t *testing.T) transport.Listener {
	t.Helper()
	l, err := s.listener(t.Context())
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func (s *streamTest) dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := s.dialTo(t.Context(), address)
	if err != nil {
		t.Fatalf("dial %s: %v", address, err)
	}
	return guard(t, c)
}

// pair is a connection seen from both sides. Both have a deadline, so that a fault fails the test instead of hanging it.
func (s *streamTest) pair(t *testing.T) (dialled, accepted net.Conn) {
	t.Helper()
	l := s.listen(t)
	return s.connect(t, l)
}

func (s *streamTest) connect(t *testing.T, l transport.Listener) (dialled, accepted net.Conn) {
	t.Helper()
	got := s.accepting(t, l)
	dialled = s.dial(t, l.Addr())
	accepted = Receive(t, got)
	if accepted == nil {
		t.FailNow()
	}
	return dialled, accepted
}

// accepting takes one connection and makes its handshake, if it has one; nil means that failed.
func (s *streamTest) accepting(t *testing.T, l transport.Listener) <-chan net.Conn {
	got := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Errorf("accept: %v", err)
			got <- nil
			return
		}
		guard(t, c)
		if h, ok := c.(interface{ HandshakeContext(context.Context) error }); ok {
			if err := h.HandshakeContext(t.Context()); err != nil {
				t.Errorf("handshake: %v", err)
				c = nil
			}
		}
		got <- c
	}()
	return got
}

func guard(t *testing.T, c net.Conn) net.Conn {
	if err := c.SetDeadline(time.Now().Add(2 * waitLimit)); err != nil {
		t.Errorf("set a deadline: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Receive waits for a value that must come, a minute at most.
func Receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(waitLimit):
		t.Fatalf("nothing came within %v", waitLimit)
	}
	return value
}
