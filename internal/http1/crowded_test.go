//go:build unix

package http1

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
)

func TestACrowdedServerHandlesNoRequestWhoseClientHasGone(t *testing.T) {
	var handled atomic.Int32
	entered, leave := make(chan struct{}, 1), make(chan struct{})
	var crowded atomic.Bool
	s, addr := serveWith(t, Config{Crowded: crowded.Load, Handler: &handler{serve: func(x *exchange.Exchange) {
		if x.Path == "/fast/first" {
			entered <- struct{}{}
			<-leave
		}
		handled.Add(1)
	}}})
	for _, test := range []struct {
		name    string
		crowded bool
		goes    bool
		want    int32 // requests that are handled, with the first one
	}{
		{"the server has time", false, true, 2},
		{"the client is there", true, false, 2},
		{"the client has gone", true, true, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			handled.Store(0)
			crowded.Store(test.crowded)
			c := dial(t, addr)
			c.send(get("/fast/first") + get("/fast/second")) // the second waits behind the first
			<-entered
			asked := time.Now() // before now, for the first
			if test.goes {
				c.Close()
				eventually(t, "the server's side of the connection has ended", func() bool {
					s.mu.Lock()
					defer s.mu.Unlock()
					return s.conns[0].waited(&exchange.Exchange{}, &waiting{}) && time.Since(asked) > askAgain
				})
			}
			leave <- struct{}{}
			if !test.goes {
				c.read()
				c.read()
				c.Close()
			}
			eventually(t, "the connection is freed", func() bool { return s.Connections() == 0 })
			if got := handled.Load(); got != test.want {
				t.Errorf("%d requests were handled, want %d", got, test.want)
			}
		})
	}
}

func TestAServerKnowsForHowLongARequestHasWaitedUnread(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports it")
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	s, addr := serve(t, &handler{serve: func(*exchange.Exchange) { entered <- struct{}{}; <-leave }})
	c := dial(t, addr)
	c.send(get("/fast/first"))
	<-entered
	eventually(t, "it has waited", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		var x exchange.Exchange
		return !s.conns[0].waited(&x, &waiting{}) && x.Waited >= 20*time.Millisecond
	})
	close(leave)
	c.read()
}
