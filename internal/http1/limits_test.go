package http1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
)

func TestAHeadThatDoesNotCome(t *testing.T) {
	for about, sent := range map[string]string{"nothing": "", "a part": "GET /fast HTTP/1.1\r\nHost:", "a part behind a request": get("/fast") + "POST"} {
		const limit = 500 * time.Millisecond // time enough to send what is sent in time
		_, addr := serve(t, &handler{}, quick(func(l *Limits) { l.HeadTime = limit }))
		began := time.Now()
		c := dial(t, addr)
		c.send(sent)
		if strings.HasPrefix(sent, get("/fast")) {
			c.read()
		}
		c.wantEnd()
		if took := time.Since(began); took < limit*9/10 {
			t.Errorf("%s: closed after %v", about, took)
		}
	}
}

func TestAHeadThatComesByteByByteHasNoMoreTime(t *testing.T) {
	_, addr := serve(t, &handler{}, quick(func(l *Limits) { l.HeadTime = 50 * time.Millisecond }))
	c := dial(t, addr)
	clock := time.NewTicker(5 * time.Millisecond)
	defer clock.Stop()
	request := "GET /fast HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 5000)
	for i := range request {
		<-clock.C
		if _, err := io.WriteString(c, request[i:i+1]); err != nil {
			return
		}
	}
	t.Error("it was let go on")
}

func TestABodyThatDoesNotCome(t *testing.T) {
	for about, size := range map[string]int{"short": 10, "long": maxBody} {
		_, addr := serve(t, &handler{}, quick(func(l *Limits) { l.BodyTime = 50 * time.Millisecond }))
		c := dial(t, addr)
		c.send(get("/fast") + fmt.Sprintf("POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\nabc", size))
		if got := c.read(); got.status != 200 { // the answer before does not wait for it
			t.Errorf("%s: %+v", about, got)
		}
		c.wantEnd()
	}
}

func TestAnIdleConnectionIsClosed(t *testing.T) {
	_, addr := serve(t, &handler{}, quick(func(l *Limits) { l.IdleTime = 50 * time.Millisecond }))
	c := dial(t, addr)
	c.ask(get("/fast"))
	c.wantEnd()
}

func TestAClientThatDoesNotReadIsCutOffAndHoldsLittle(t *testing.T) {
	var served atomic.Int64
	s, addr := serve(t, &handler{serve: func(x *exchange.Exchange) {
		served.Add(1)
		x.Out = append(x.Out, make([]byte, 8<<10)...)
	}}, quick(func(l *Limits) { l.WriteTime = 100 * time.Millisecond }))
	c := dial(t, addr)
	c.Conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	go io.WriteString(c, strings.Repeat(get("/fast"), 100_000))
	eventually(t, "it is cut off", func() bool { return served.Load() > 0 && s.Connections() == 0 })
	if n := served.Load(); n > 5000 { // what the sockets hold, and 64 KiB
		t.Errorf("%d requests were answered to nobody", n)
	}
}

func TestFurtherConnectionsWaitInTheBacklog(t *testing.T) {
	s, addr := serveWith(t, Config{Handler: &handler{}, Limits: Limits{Connections: 2}})
	first, second := dial(t, addr), dial(t, addr)
	first.ask(get("/fast"))
	second.ask(get("/slow")) // one that was handed over counts too
	third := dial(t, addr)
	third.send(get("/fast"))
	third.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := third.r.ReadByte(); err == nil || s.Connections() != 2 {
		t.Errorf("a third connection was served: %v, %d", err, s.Connections())
	}
	third.SetReadDeadline(time.Time{})
	second.Close()
	if got := third.read(); got.status != 200 {
		t.Error(got)
	}
}

func TestAConnectionThatRestsGivesItsPlaceToANewOne(t *testing.T) {
	for _, path := range []string{"/fast", "/slow"} { // /slow is net/http's
		h := newGated()
		_, addr := serveWith(t, Config{Handler: h, Limits: Limits{Connections: 2}})
		resting, busy := dial(t, addr), dial(t, addr)
		resting.ask(get(path))
		busy.send(get("/fast/stuck"))
		<-h.entered
		began := time.Now()
		added := dial(t, addr)
		if got := added.ask(get("/fast")); got.status != 200 {
			t.Errorf("%s: the new one got %+v", path, got)
		}
		if took := time.Since(began); took < mayRest*9/10 {
			t.Errorf("%s: it had a place after %v", path, took)
		}
		resting.wantEnd()
		close(h.release)
		if got := busy.read(); got.status != 200 {
			t.Errorf("%s: the one whose handler ran got %+v", path, got)
		}
	}
}

// gated is a handler whose calls to /fast/wait report that they run, and wait for their context or to be let go.
type gated struct {
	handler
	entered, release chan struct{}
	ended            chan error
}

func newGated() *gated {
	g := &gated{entered: make(chan struct{}, 100), release: make(chan struct{}), ended: make(chan error, 100)}
	g.serve = func(x *exchange.Exchange) {
		switch x.Path {
		case "/fast/wait": // for the context
			g.entered <- struct{}{}
			<-x.Context.Done()
			g.ended <- x.Context.Err()
		case "/fast/stuck":
			g.entered <- struct{}{}
			<-g.release
			x.Out = append(x.Out, "after all"...)
			g.ended <- x.Context.Err()
		}
	}
	return g
}

func TestTheContextEndsWhenTheCallerGoes(t *testing.T) {
	for about, more := range map[string]string{"alone": "", "with more behind it": get("/fast") + get("/fast")} {
		g := newGated()
		_, addr := serve(t, g, quick(func(*Limits) {}))
		c := dial(t, addr)
		c.send(get("/fast/wait") + more)
		<-g.entered
		c.Close()
		if err := <-g.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", about, err)
		}
	}
}

func TestALongCallWhoseCallerStaysIsLeftAlone(t *testing.T) {
	g := newGated()
	s, addr := serve(t, g, quick(func(*Limits) {}))
	c := dial(t, addr)
	c.send(get("/fast/stuck"))
	<-g.entered
	now := s.now.Load()
	eventually(t, "the watchdog has looked", func() bool { return s.now.Load() > now+5 })
	close(g.release)
	if got := c.read(); got.body != "after all" {
		t.Error(got)
	}
	if err := <-g.ended; err != nil {
		t.Error(err)
	}
}

func TestALateHandlerIsAnsweredForAndItsConnectionCloses(t *testing.T) {
	for _, own := range []bool{false, true} {
		g := newGated()
		g.late = func(x *exchange.Exchange) {
			x.Out = fmt.Appendf(x.Out, " %s %s %v", x.ID, x.Path, x.Route)
		}
		g.take = func(x *exchange.Exchange) bool {
			x.ID, x.Route = "r1", 7
			if own {
				x.Limit = 50 * time.Millisecond
			}
			return true
		}
		s, addr := serve(t, g, quick(func(l *Limits) {
			if !own {
				l.CallTime = 50 * time.Millisecond
			}
		}))
		c := dial(t, addr)
		began := time.Now()
		c.send(get("/fast/1") + get("/fast/stuck") + get("/fast/2"))
		if got := c.read(); got.status != 200 || got.close {
			t.Errorf("%+v", got)
		}
		got := c.read()
		if got.status != 504 || got.body != "late r1 /fast/stuck 7" || !got.close || time.Since(began) < 45*time.Millisecond {
			t.Errorf("%+v after %v", got, time.Since(began))
		}
		c.wantEnd()
		if s.Abandoned() != 1 {
			t.Errorf("%d are abandoned", s.Abandoned())
		}
		close(g.release)
		if err := <-g.ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("its context: %v", err)
		}
		eventually(t, "it is not abandoned any more", func() bool { return s.Abandoned() == 0 })
	}
}

func TestAbandonedHandlersAreBounded(t *testing.T) {
	g := newGated()
	s, addr := serve(t, g, quick(func(l *Limits) { l.CallTime, l.Abandoned = 100*time.Millisecond, 3 }))
	for range 3 {
		if got := dial(t, addr).ask(get("/fast/stuck")); got.status != 504 {
			t.Fatal(got)
		}
	}
	if got := dial(t, addr).ask(get("/fast/stuck")); got.status != 503 || got.body != "busy" || got.close {
		t.Error(got)
	}
	close(g.release)
	eventually(t, "they end", func() bool { return s.Abandoned() == 0 })
	if got := dial(t, addr).ask(get("/fast")); got.status != 200 {
		t.Error(got)
	}
}

func TestAPanicOfAnAbandonedHandlerIsLogged(t *testing.T) {
	var log logBuffer
	release := make(chan struct{})
	s, addr := serve(t, &handler{serve: func(*exchange.Exchange) {
		<-release
		panic("hunter2")
	}}, quick(func(l *Limits) { l.CallTime = 10 * time.Millisecond }), logTo(&log))
	if got := dial(t, addr).ask(get("/fast")); got.status != 504 {
		t.Error(got)
	}
	close(release)
	eventually(t, "it ends", func() bool { return s.Abandoned() == 0 })
	if !strings.Contains(log.String(), "hunter2") {
		t.Error(log.String())
	}
}

func TestAnswersDoNotWaitForALongCallBehindThem(t *testing.T) {
	g := newGated()
	_, addr := serve(t, g, quick(func(*Limits) {}))
	c := dial(t, addr)
	c.send(get("/fast/1") + get("/fast/stuck") + get("/fast/2"))
	<-g.entered
	if got := c.read(); got.status != 200 {
		t.Error(got)
	}
	close(g.release)
	if got := c.read(); got.body != "after all" {
		t.Error(got)
	}
	if got := c.read(); got.status != 200 {
		t.Error(got)
	}
}

func TestAnswersDoNotWaitForManyCallsBehindThem(t *testing.T) {
	const calls = 100 // that are one read
	var served atomic.Int64
	_, addr := serve(t, &handler{serve: func(*exchange.Exchange) {
		for began := time.Now(); time.Since(began) < 2*time.Millisecond; { // less than a tick: none is a long call
			runtime.Gosched()
		}
		served.Add(1)
	}}, quick(func(*Limits) {}))
	c := dial(t, addr)
	c.send(strings.Repeat(get("/fast"), calls))
	c.read()
	if n := served.Load(); n == calls {
		t.Error("the first answer came with the last")
	}
	c.Close()
}

func TestAClientThatDoesNotReadWhileACallRunsIsCutOff(t *testing.T) {
	g := newGated()
	s := NewServer(Config{Handler: g})
	quick(func(l *Limits) { l.WriteTime = 20 * time.Millisecond })(s)
	s.setTicks()
	near, far := net.Pipe() // which holds nothing
	defer near.Close()
	go s.Serve(newPipes(far))
	defer s.Close()
	io.WriteString(near, get("/fast")+get("/fast/wait"))
	if err := <-g.ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	eventually(t, "its connection is freed", func() bool { return s.Connections() == 0 })
}

func TestAHandlerThatEndsItsGoroutineIsAnsweredForAndItsConnectionGoesOn(t *testing.T) {
	s, addr := serve(t, &handler{serve: func(x *exchange.Exchange) {
		if x.Path == "/fast/exit" {
			runtime.Goexit()
		}
		x.Out = append(x.Out, x.Path...)
	}})
	c := dial(t, addr)
	c.send(get("/fast/1") + get("/fast/exit") + get("/fast/exit") + get("/fast/2"))
	for _, want := range []int{200, 500, 500, 200} {
		if got := c.read(); got.status != want {
			t.Errorf("%d, want %d", got.status, want)
		}
	}
	if got := c.ask(get("/fast/3")); got.status != 200 || got.body != "/fast/3" {
		t.Error(got)
	}
	c.Close()
	eventually(t, "it is freed", func() bool { return s.Connections() == 0 })
}

func TestAHandlerThatAbortsEndsItsConnection(t *testing.T) {
	s, addr := serve(t, &handler{serve: func(*exchange.Exchange) { panic(http.ErrAbortHandler) }})
	c := dial(t, addr)
	c.send(get("/fast"))
	c.wantEnd()
	eventually(t, "it is freed", func() bool { return s.Connections() == 0 })
}
