package session

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const waitLimit = time.Minute

func testSettings() Settings {
	return Settings{Name: "test", Window: 64, OpenWait: waitLimit}
}

// carriers is two ends of a carrier; TCP is reliable and in order, too.
func carriers(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	b.SetDeadline(time.Now().Add(waitLimit))
	return a, b
}

func listen(t *testing.T, settings Settings) *Listener {
	t.Helper()
	l := NewListener("test://here", settings, NewPort(func() {}))
	t.Cleanup(func() { l.Close() })
	return l
}

func dial(t *testing.T, l *Listener, settings Settings) (net.Conn, error) {
	t.Helper()
	a, b := carriers(t)
	b.SetDeadline(time.Time{})
	l.Serve(b)
	c, err := Dial(t.Context(), a, settings, func() {})
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(waitLimit))
	t.Cleanup(func() { c.Close() })
	return c, nil
}

// dialScripted connects to a peer that accepts and then does what the script does, over the bare carrier.
func dialScripted(t *testing.T, settings Settings, script func(peer net.Conn)) net.Conn {
	t.Helper()
	a, b := carriers(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.ReadFull(b, make([]byte, headSize)) // open
		b.Write(appendFrame(nil, kindAccept, version<<16|64))
		script(b)
	}()
	c, err := Dial(t.Context(), a, settings, func() {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		b.Close()
		<-done
	})
	return c
}

func TestAPeerThatAnswersNoKeepAliveIsLost(t *testing.T) {
	settings := testSettings()
	settings.KeepAlive = 30 * time.Millisecond
	asked := make(chan byte, 1)
	c := dialScripted(t, settings, func(peer net.Conn) {
		first := make([]byte, headSize)
		io.ReadFull(peer, first)
		asked <- first[0]
		io.Copy(io.Discard, peer)
	})
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("the read ended with %v, want ETIMEDOUT", err)
	}
	if k := kind(<-asked); k != kindPing {
		t.Errorf("the peer was sent a frame of kind %d, want a ping", k)
	}
}

// In a bubble, for a peer that a busy machine keeps from answering in time is one that does not answer.
func TestASilentPeerThatAnswersIsKept(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		settings := testSettings()
		settings.KeepAlive = time.Minute
		l := listen(t, settings)
		network, at := mem.New(), &url.URL{Scheme: "mem", Host: "here"}
		carriers, err := network.Listen(t.Context(), at, transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer carriers.Close()
		a, err := network.Dial(t.Context(), at, transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := carriers.Accept()
		if err != nil {
			t.Fatal(err)
		}
		l.Serve(b)
		c, err := Dial(t.Context(), a, settings, func() {})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer accepted.Close()
		c.SetReadDeadline(time.Now().Add(20 * settings.KeepAlive))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the read ended with %v, want its deadline", err)
		}
	})
}

func TestAPeerThatSendsMoreThanTheWindowIsNotListenedTo(t *testing.T) {
	settings := testSettings()
	settings.Window = 8
	c := dialScripted(t, settings, func(peer net.Conn) {
		io.ReadFull(peer, make([]byte, headSize+1)) // so that Dial has ended
		peer.Write(append(appendFrame(nil, kindData, 9*unit), make([]byte, 9*unit)...))
	})
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	_, err := io.ReadAll(c)
	if err == nil || !strings.Contains(err.Error(), "window of 8 units") {
		t.Errorf("got %v", err)
	}
}

// lingering is a carrier that lingers in its Write of data until the connection over it has failed.
type lingering struct {
	net.Conn
	over *Conn
}

func (l *lingering) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	if kind(p[0]) != kindData {
		return n, err
	}
	l.over.mu.Lock()
	defer l.over.mu.Unlock()
	for l.over.failure == nil {
		l.over.changed.Wait()
	}
	return n, err
}

func TestAWriteThatHasSentAllDoesNotTellOfWhatFailedAfterIt(t *testing.T) {
	a, b := carriers(t)
	carrier := &lingering{Conn: a}
	c := newConn(carrier, testSettings(), func() {})
	carrier.over = c
	c.credit = 64 // as a peer gives that accepts
	go c.pump()
	defer c.Close()
	go func() {
		io.ReadFull(b, make([]byte, headSize+1))
		b.Close()
	}()
	if n, err := c.Write([]byte("x")); n != 1 || err != nil {
		t.Errorf("the write gave %d, %v", n, err)
	}
	if _, err := c.Write([]byte("y")); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the next write gave %v, want ECONNRESET", err)
	}
}

func TestAnUnansweredDialEndsWithItsContext(t *testing.T) {
	a, _ := carriers(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, a, testSettings(), func() {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want context.DeadlineExceeded", err)
	}
	a.Close()
}

func TestADialWhoseContextEndsTellsTheListener(t *testing.T) {
	a, b := carriers(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Dial(ctx, a, testSettings(), func() {})
		ended <- err
	}()
	frame := make([]byte, headSize)
	io.ReadFull(b, frame)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the dial ended with %v, want context.Canceled", err)
	}
	if _, err := io.ReadFull(b, frame); err != nil || kind(frame[0]) != kindClose {
		t.Errorf("the listener was sent a frame of kind %d (%v), want close", frame[0], err)
	}
	b.Close()
}

func TestMoreConnectionsThanMayWaitAreRefused(t *testing.T) {
	l := listen(t, testSettings())
	for i := range backlog {
		if _, err := dial(t, l, testSettings()); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
	// The last ones may be on their way into the queue while the next is let through, to be closed there.
	var err error
	for limit := time.Now().Add(waitLimit); err == nil && time.Now().Before(limit); {
		_, err = dial(t, l, testSettings())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("more gave %v, want ECONNREFUSED", err)
	}
}

func TestACarrierThatOpensNothingIsClosed(t *testing.T) {
	settings := testSettings()
	settings.OpenWait = 20 * time.Millisecond
	l := listen(t, settings)
	a, b := carriers(t)
	b.SetDeadline(time.Time{})
	l.Serve(b)
	a.SetDeadline(time.Now().Add(waitLimit))
	frame := make([]byte, headSize)
	if _, err := io.ReadFull(a, frame); err != nil || kind(frame[0]) != kindClose {
		t.Errorf("read a frame of kind %d (%v), want close", frame[0], err)
	}
	if _, err := a.Read(frame); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the carrier ended with %v", err)
	}
}

func TestAListenerThatClosedRefusesWhileItsConnectionsLive(t *testing.T) {
	l := listen(t, testSettings())
	c, err := dial(t, l, testSettings())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	l.Close()
	if _, err := dial(t, l, testSettings()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dialling the closed listener gave %v, want ECONNREFUSED", err)
	}
	if _, err := c.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(accepted, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

// A peer whose carrier has confirmed its open frame would wait for the answer up to its own limit.
func TestAPeerThatHasOpenedIsAcceptedHoweverBusyTheProcessIs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	settings := testSettings()
	settings.OpenWait = 500 * time.Millisecond
	l := listen(t, settings)
	a, b := carriers(t)
	b.SetDeadline(time.Time{})
	if _, err := a.Write(appendFrame(nil, kindOpen, version<<16|settings.Window)); err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			accepted <- c
		}
	}()
	for range 100 {
		go func() {
			for began := time.Now(); time.Since(began) < 10*time.Millisecond; {
			}
		}()
	}
	l.Serve(b)
	select {
	case c := <-accepted:
		c.Close()
	case <-time.After(waitLimit):
		t.Fatal("it is not accepted")
	}
}
