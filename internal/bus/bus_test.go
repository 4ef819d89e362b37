package bus_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/bus"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

func hub(t *testing.T, address, node string) *bus.Hub {
	t.Helper()
	h, err := bus.Open(t.Context(), address, bus.Config{Cluster: "c", Node: node})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func TestConnectionsOverABusAreAsOverAnyTransport(t *testing.T) {
	transporttest.Connections(t, func(t *testing.T) (func(context.Context) (transport.Listener, error), func(context.Context, string) (net.Conn, error)) {
		_, address := newBroker(t)
		a, b := hub(t, address, "a"), hub(t, address, "b")
		return func(context.Context) (transport.Listener, error) { return a.Listener(), nil }, b.Dial
	})
}

func TestAnOutageThatLastsIsLoggedWithItsReasonOnceAMinute(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b, address := newBroker(t)
		var log bytes.Buffer
		h, err := bus.Open(t.Context(), address, bus.Config{Cluster: "c", Node: "n", Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		lines := func() int {
			bubbletest.Wait()
			return strings.Count(log.String(), "the broker cannot be reached; trying again")
		}
		b.stop()
		time.Sleep(time.Second)
		b.start()
		if got := lines(); got != 0 {
			t.Errorf("%d lines of an outage of a second", got)
		}
		for outage := 1; outage <= 2; outage++ {
			b.stop()
			time.Sleep(10 * time.Minute)
			if got := lines(); got != 10*outage {
				t.Errorf("%d lines after %d outages of ten minutes, want one a minute:\n%s", got, outage, log.String())
			}
			b.start()
		}
		if !strings.Contains(log.String(), "the password is wrong") {
			t.Errorf("no line says why:\n%s", log.String())
		}
	})
}

// pair is a connection between two hubs.
func pair(t *testing.T, address string) (dialled, accepted net.Conn) {
	t.Helper()
	a, b := hub(t, address, "a"), hub(t, address, "b")
	l := a.Listener()
	dialled, err := b.Dial(t.Context(), l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return dialled, accepted
}

// exchange sends random bytes both ways at once and compares what arrives.
func exchange(t *testing.T, size int, sides ...net.Conn) {
	t.Helper()
	var wg sync.WaitGroup
	for i, from := range sides {
		to := sides[1-i]
		sent := make([]byte, size)
		for i := range sent {
			sent[i] = byte(rand.Uint32())
		}
		wg.Go(func() {
			for left := sent; len(left) > 0; {
				n := min(len(left), 1+rand.IntN(40_000))
				if _, err := from.Write(left[:n]); err != nil {
					t.Errorf("write: %v", err)
					return
				}
				left = left[n:]
			}
		})
		wg.Go(func() {
			got := make([]byte, size)
			if _, err := io.ReadFull(to, got); err != nil {
				t.Errorf("read: %v", err)
			} else if !bytes.Equal(got, sent) {
				t.Error("what arrived is not what was sent")
			}
		})
	}
	wg.Wait()
}

func TestNothingIsLostWhereTheBrokerLosesMessages(t *testing.T) {
	size := 8 << 20
	if testing.Short() {
		size = 1 << 20
	}
	for _, share := range []float64{0.01, 0.2} {
		bubbletest.Run(t, func(t *testing.T) {
			b, address := newBroker(t)
			dialled, accepted := pair(t, address)
			b.lose(share)
			exchange(t, size, dialled, accepted)
		})
	}
}

func TestTheLastMessageIsSentAgainThoughNothingFollowsIt(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b, address := newBroker(t)
		dialled, accepted := pair(t, address)
		b.lose(1)
		io.WriteString(dialled, "last words")
		bubbletest.Wait()
		b.lose(0)
		began := time.Now()
		got := make([]byte, 10)
		if _, err := io.ReadFull(accepted, got); err != nil || string(got) != "last words" {
			t.Errorf("read %q, %v", got, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestWhatWasWrittenBeforeCloseArrivesThoughItIsLostAtFirst(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b, address := newBroker(t)
		dialled, accepted := pair(t, address)
		b.lose(1)
		io.WriteString(dialled, "last words")
		dialled.Close()
		bubbletest.Wait()
		b.lose(0)
		if got, err := io.ReadAll(accepted); err != nil || string(got) != "last words" {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

func TestWhatWasWrittenBeforeCloseArrivesThoughTheHubLeavesAndItIsLostAtFirst(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b, address := newBroker(t)
		from, to := hub(t, address, "a"), hub(t, address, "b")
		l := to.Listener()
		dialled, err := from.Dial(t.Context(), l.Addr())
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		b.lose(1)
		io.WriteString(dialled, "last words")
		dialled.Close()
		accepted.SetReadDeadline(time.Now().Add(time.Minute))
		left := make(chan error)
		go func() { left <- from.Close() }()
		bubbletest.Wait()
		b.lose(0)
		if got, err := io.ReadAll(accepted); err != nil || string(got) != "last words" {
			t.Errorf("read %q, %v", got, err)
		}
		if err := <-left; err != nil {
			t.Error(err)
		}
	})
}

func TestAHubThatLeavesDoesNotWaitForThoseThatLeaveToo(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		_, address := newBroker(t)
		one, other := hub(t, address, "a"), hub(t, address, "b")
		l := other.Listener()
		dialled, err := one.Dial(t.Context(), l.Addr())
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var leaving sync.WaitGroup
		leaving.Go(func() { dialled.Close(); one.Close() })
		leaving.Go(func() { accepted.Close(); other.Close() })
		leaving.Wait()
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestTheOtherSideReadsTheEndThoughAllElseIsConfirmedBeforeItIsSent(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b, address := newBroker(t)
		a := hub(t, address, "a")
		l := a.Listener()
		p := newFakePeer(t, address, a)
		accept := b.holdAccept()
		p.send(kindOpen, 0, 0)
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		bubbletest.Wait() // until the hub's worker is in the middle of sending that the session is there
		io.WriteString(conn, "last")
		conn.Close()
		p.send(kindOpen, 0, 0) // to have the worker send it again, in front of where the stream ends
		bubbletest.Wait()
		accept <- struct{}{}
		bubbletest.Wait() // until it does
		p.send(kindAck, 4, 4)
		bubbletest.Wait()
		close(accept)
		p.expect(kindData, 0)
		p.expect(kindAccept, 0)
		p.expect(kindAccept, 0)
		p.expect(kindClose, 4)
		p.send(kindAck, 5, 4)
	})
}

func TestASessionOutlivesARestartOfTheBroker(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b, address := newBroker(t)
		dialled, accepted := pair(t, address)
		exchange(t, 100, dialled, accepted)
		b.stop()
		done := make(chan struct{})
		go func() {
			defer close(done)
			exchange(t, 3<<20, dialled, accepted)
		}()
		time.Sleep(4 * time.Second) // of the test's clock
		b.start()
		<-done
	})
}

func TestABrokerMayBeLostWhileAHubIsOpened(t *testing.T) {
	_, address := newBroker(t)
	hub(t, strings.Replace(address, "test:", "shaky:", 1), "a")
}

func TestAPeerWithoutASubscriptionIsLostAfterSeconds(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b, address := newBroker(t)
		dialled, accepted := pair(t, address)
		inbox := accepted.LocalAddr().String()
		b.mu.Lock()
		for _, u := range b.users {
			u.mu.Lock()
			for subject := range u.subscriptions {
				if strings.HasSuffix(inbox, "#"+subject) { // as if its process had been killed
					delete(u.subscriptions, subject)
				}
			}
			u.mu.Unlock()
		}
		b.mu.Unlock()
		began := time.Now()
		io.WriteString(dialled, "hello")
		_, err := dialled.Read(make([]byte, 1))
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the read ended with %v", err)
		}
		if took := time.Since(began); took < time.Second || took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestDiallingAnUnknownInboxIsRefusedAtOnce(t *testing.T) {
	_, address := newBroker(t)
	a, b := hub(t, address, "a"), hub(t, address, "b")
	for name, to := range map[string]string{"without a hub": address + "#sabir.c.gone-12345678", "without a listener": a.Addr()} {
		if _, err := b.Dial(t.Context(), to); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.Dial(t.Context(), address); err == nil {
		t.Error("an address without an inbox was dialled")
	}
}

// Otherwise it would be a matter of chance whether a quick answer or the context arrives first.
func TestADialWhoseContextHasEndedSendsNothing(t *testing.T) {
	b, address := newBroker(t)
	to, from := hub(t, address, "a"), hub(t, address, "b")
	l := to.Listener()
	b.mu.Lock()
	b.loses = func(subject string, _ []byte) bool {
		t.Errorf("something was published on %s", subject)
		return false
	}
	b.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := from.Dial(ctx, l.Addr()); !errors.Is(err, context.Canceled) {
		t.Errorf("dialling gave %v, want context.Canceled", err)
	}
	b.lose(0)
}

func TestClosingAHubEndsItsConnectionsOnTheOtherSideToo(t *testing.T) {
	_, address := newBroker(t)
	a, b := hub(t, address, "a"), hub(t, address, "b")
	l := a.Listener()
	dialled, err := b.Dial(t.Context(), l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if _, err := dialled.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the read ended with %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept ended with %v", err)
	}
	if _, err := a.Dial(t.Context(), b.Addr()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed hub dials: %v", err)
	}
}

func TestBroadcastsReachTheHubsOfTheClusterAndNoOthers(t *testing.T) {
	_, address := newBroker(t)
	onBroadcast := make(chan string, 10)
	open := func(cluster, node string) *bus.Hub {
		h, err := bus.Open(t.Context(), address, bus.Config{Cluster: cluster, Node: node})
		if err != nil {
			t.Fatal(err)
		}
		h.Hear(func(m []byte) { onBroadcast <- node + " " + string(m) }, nil)
		t.Cleanup(func() { h.Close() })
		return h
	}
	a, _, _ := open("one", "a"), open("one", "b"), open("two", "c")
	if err := a.Broadcast([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{<-onBroadcast: true, <-onBroadcast: true}
	if !got["a hello"] || !got["b hello"] {
		t.Errorf("heard %v", got)
	}
	select {
	case more := <-onBroadcast:
		t.Errorf("heard %s", more)
	default:
	}
}

// Rights on a broker are given by the beginning of a name.
func TestTheSubjectsOfAHubBeginWithThePrefixOfItsAddressAndItsCluster(t *testing.T) {
	for _, test := range []struct{ parameters, cluster, prefix string }{
		{"", "shop", "sabir.shop"},
		{"?prefix=acme", "shop", "acme.shop"},
		{"?prefix=acme", "a.*", "acme.a_2e_2a"}, // a name cannot lead to the subjects of others
	} {
		broker, address := newBroker(t)
		h, err := bus.Open(t.Context(), address+test.parameters, bus.Config{Cluster: test.cluster, Node: "n"})
		if err != nil {
			t.Fatal(err)
		}
		for _, subject := range broker.subjects() {
			if subject != test.prefix && !strings.HasPrefix(subject, test.prefix+".") {
				t.Errorf("%s of the cluster %s: it subscribes to %s", test.parameters, test.cluster, subject)
			}
		}
		if n := len(broker.subjects()); n != 2 {
			t.Errorf("it has %d subscriptions", n)
		}
		h.Close()
	}
}

// A peer that breaks the rules loses its session, and memory is bounded.
func TestPacketsThatBreakTheRules(t *testing.T) {
	_, address := newBroker(t)
	for _, test := range []struct {
		name      string
		kind      byte
		at, taken uint64
	}{
		{"confirms what was not sent", kindAck, 1 << 40, 0},
		{"has read what was not sent", kindData, 0, 1 << 40},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := hub(t, address, "a")
			l := a.Listener()
			p := newFakePeer(t, address, a)
			p.send(kindOpen, 0, 0)
			p.expect(kindAccept, 0)
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			p.send(test.kind, test.at, test.taken)
			p.expect(kindReset, 0)
			if _, err := conn.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "broke the rules") {
				t.Errorf("the read ended with %v", err)
			}
		})
	}
}

func TestATokenIsMadeOfAnyName(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"", "shop", "Shop", "shop.eu", "shop_eu", "shop*", "shop>", "läden", strings.Repeat("x", 60), strings.Repeat("x", 61), strings.Repeat("x", 62), "a b"} {
		token := bus.Token(name)
		if other, taken := seen[token]; taken {
			t.Errorf("%q and %q have the token %q", name, other, token)
		}
		seen[token] = name
		if len(token) > 60 || strings.ContainsFunc(token, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_')
		}) {
			t.Errorf("%q has the token %q", name, token)
		}
	}
}

func FuzzPacket(f *testing.F) {
	f.Add([]byte{})
	for kind := range byte(11) {
		f.Add(bus.Packet(kind, kind%2 == 0, [16]byte{1, 2}, 300, 1<<50, []byte("text")))
	}
	f.Fuzz(func(t *testing.T, message []byte) { bus.CheckParse(t, message) })
}
