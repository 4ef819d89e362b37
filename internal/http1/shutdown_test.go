package http1

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
)

func TestShutdownWaitsForTheCallsThatRun(t *testing.T) {
	g := newGated()
	s, addr := serve(t, g)
	c, idle := dial(t, addr), dial(t, addr)
	idle.ask(get("/fast"))
	c.send(get("/fast/stuck"))
	<-g.entered
	done := make(chan error, 1)
	go func() { done <- s.Shutdown(t.Context()) }()
	idle.wantEnd()
	if other, err := net.Dial("tcp", addr); err == nil {
		other.Close()
		t.Error("a new connection was taken")
	}
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	close(g.release)
	if got := c.read(); got.body != "after all" || !got.close {
		t.Errorf("%+v", got)
	}
	c.wantEnd()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestShutdownCutsOffWhatOutlastsItsContextAndCountsIt(t *testing.T) {
	g := newGated()
	s, addr := serve(t, g)
	for range 2 {
		dial(t, addr).send(get("/fast/wait"))
		<-g.entered
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 calls") {
		t.Error(err)
	}
	for range 2 {
		if err := <-g.ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func TestShutdownWaitsForHandedOverRequests(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s, addr := serveWith(t, Config{Handler: &handler{}, Fallback: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		io.WriteString(w, "after all")
	})}})
	c := dial(t, addr)
	c.send(get("/slow"))
	<-entered
	done := make(chan error, 1)
	go func() { done <- s.Shutdown(t.Context()) }()
	<-s.stopped
	close(release)
	if got := c.read(); got.body != "after all" {
		t.Errorf("%+v", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestShutdownWithoutServeAndTwice(t *testing.T) {
	s := NewServer(Config{Handler: &handler{}})
	for range 2 {
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(l); err != http.ErrServerClosed {
		t.Error(err)
	}
}

func TestNoRequestIsLostWhileTheServerStops(t *testing.T) {
	for _, path := range []string{"/fast", "/slow"} {
		var runs atomic.Int64
		s, addr := serveWith(t, Config{
			Limits:   Limits{Drain: 20 * time.Second, Quiet: 20 * time.Second}, // the machine may be busy
			Handler:  &handler{serve: func(*exchange.Exchange) { runs.Add(1) }},
			Fallback: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { runs.Add(1) })}})
		var answered, lost atomic.Int64
		var wg sync.WaitGroup
		many := make(chan struct{})
		// ask sends one request and reports whether it was answered, and whether the connection stays.
		ask := func(c net.Conn) (ok, stays bool) {
			b := make([]byte, 1024)
			if _, err := io.WriteString(c, get(path)); err != nil {
				return false, false
			}
			n, err := c.Read(b)
			if err != nil || !strings.HasPrefix(string(b[:n]), "HTTP/1.1 200") {
				return false, false
			}
			if answered.Add(1) == 500 {
				close(many)
			}
			return true, !strings.Contains(string(b[:n]), "Connection: close")
		}
		for range 16 {
			wg.Go(func() {
				for {
					c, err := net.Dial("tcp", addr)
					if err != nil {
						return // the listener is closed
					}
					// The first request may meet a connection that the system took, but the server never did.
					ok, stays := ask(c)
					for ok && stays {
						if ok, stays = ask(c); !ok {
							lost.Add(1)
						}
					}
					c.Close()
				}
			})
		}
		<-many
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if answered.Load() != runs.Load() || lost.Load() != 0 {
			t.Errorf("%s: %d ran, %d were answered, %d were lost", path, runs.Load(), answered.Load(), lost.Load())
		}
	}
}

func TestServeServesSeveralListeners(t *testing.T) {
	s, first := serve(t, &handler{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	for _, addr := range []string{first, l.Addr().String()} {
		if got := dial(t, addr).ask(get("/fast")); got.status != 200 {
			t.Error(got)
		}
	}
}

// broken is a listener that fails.
type broken struct {
	net.Listener
	err error
}

func (b *broken) Accept() (net.Conn, error) { return nil, b.err }

func TestServeTellsWhyItCannotAccept(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(Config{Handler: &handler{}})
	defer s.Close()
	why := errors.New("no more")
	if err := s.Serve(&broken{l, why}); !errors.Is(err, why) {
		t.Error(err)
	}
}
