package http1

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
)

func TestAnAnswerHasTheHeadersThatEveryAnswerHas(t *testing.T) {
	_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) {
		x.ID, x.Status, x.Type, x.Out = "r1", 201, "application/json", append(x.Out, `{"a":1}`...)
		x.Answer.Add("Location", "/users/1")
		x.Answer.Add("Vary", "Origin")
		x.Answer.Add("Vary", "Accept")
	}})
	got := dial(t, addr).ask(post("/fast", "{}"))
	date, err := http.ParseTime(got.header.Get("Date"))
	if err != nil || time.Since(date).Abs() > 5*time.Second {
		t.Errorf("the date is %q", got.header.Get("Date"))
	}
	got.header.Del("Date")
	want := http.Header{"Content-Type": {"application/json"}, "Content-Length": {"7"}, "X-Content-Type-Options": {"nosniff"}, "X-Request-Id": {"r1"},
		"Location": {"/users/1"}, "Vary": {"Origin", "Accept"}}
	if got.status != 201 || got.body != `{"a":1}` || fmt.Sprint(got.header) != fmt.Sprint(want) || got.close {
		t.Errorf("%+v", got)
	}
}

func TestTheDateMovesOn(t *testing.T) {
	s := NewServer(Config{Handler: &handler{}})
	s.setFixed(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))
	first := *s.fixed.Load()
	s.setFixed(time.Date(2026, 7, 1, 12, 0, 1, 0, time.UTC))
	if second := *s.fixed.Load(); !strings.Contains(first, "Date: Wed, 01 Jul 2026 12:00:00 GMT\r\n") || !strings.Contains(second, "12:00:01 GMT\r\n") {
		t.Errorf("%q, then %q", first, second)
	}
}

func TestStatusesWithoutABodyHaveNone(t *testing.T) {
	for _, status := range []int{204, 304} {
		_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) {
			x.Status, x.Type, x.Out = status, "text/plain", append(x.Out, "body"...)
		}})
		c := dial(t, addr)
		for range 2 {
			if got := c.ask(get("/fast")); got.status != status || got.body != "" || got.header["Content-Length"] != nil || got.header["Content-Type"] != nil {
				t.Errorf("%+v", got)
			}
		}
	}
}

func TestAStatusThatCannotBeIs500(t *testing.T) {
	for _, status := range []int{-1, 99, 101, 199, 600} {
		var log logBuffer
		_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) { x.Status, x.Out = status, append(x.Out, "body"...) }}, logTo(&log))
		if got := dial(t, addr).ask(get("/fast")); got.status != 500 || got.body != "" || !strings.Contains(log.String(), "status") {
			t.Errorf("%d: %+v, log %s", status, got, log.String())
		}
	}
}

func TestAHeaderThatCannotBeWrittenIsLeftOutAndLogged(t *testing.T) {
	for _, f := range []exchange.Field{
		{Name: "X-Bad", Value: "a\r\nSet-Cookie: evil=1"}, {Name: "X-Bad", Value: "a\nb"}, {Name: "X-Bad", Value: "a\rb"}, {Name: "X-Bad", Value: "a\x00b"},
		{Name: "X-Bad\r\nSet-Cookie", Value: "evil=1"}, {Name: "X Bad", Value: "a"}, {Name: "", Value: "a"}, {Name: "X-Bad:", Value: "a"},
		{Name: "content-length", Value: "0"}, {Name: "Transfer-Encoding", Value: "chunked"}, {Name: "Connection", Value: "close"}, {Name: "Upgrade", Value: "a"}, {Name: "Trailer", Value: "a"},
		{Name: "Date", Value: "now"}, {Name: "Content-Type", Value: "text/html"}, {Name: "X-Request-Id", Value: "a"}, {Name: "x-content-type-options", Value: "nosniff"},
	} {
		var log logBuffer
		_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) {
			x.Answer.Add(f.Name, f.Value)
			x.Answer.Add("X-Good", "yes")
			x.Out = append(x.Out, "body"...)
		}}, logTo(&log))
		got := dial(t, addr).ask(get("/fast"))
		got.header.Del("Date")
		want := http.Header{"Content-Length": {"4"}, "X-Content-Type-Options": {"nosniff"}, "X-Good": {"yes"}}
		if fmt.Sprint(got.header) != fmt.Sprint(want) || got.body != "body" || !strings.Contains(log.String(), "left out") {
			t.Errorf("%q: %+v, log %s", f, got, log.String())
		}
	}
}

func TestATypeOrAnIDThatWouldBreakTheHeadIsLeftOut(t *testing.T) {
	_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) { x.Type, x.ID = "a\r\nX-Evil: 1", "b\r\n\r\nc" }})
	if got := dial(t, addr).ask(get("/fast")); got.header["X-Evil"] != nil || got.header["Content-Type"] != nil || got.header["X-Request-Id"] != nil || got.body != "" {
		t.Errorf("%+v", got)
	}
}

func TestRequestsOfOneConnectionAreAnsweredInTheirOrder(t *testing.T) {
	_, addr := serve(t, &handler{})
	c := dial(t, addr)
	var all strings.Builder
	for i := range 500 {
		all.WriteString(post("/fast/"+fmt.Sprint(i), strings.Repeat("x", i)))
	}
	go io.WriteString(c, all.String())
	for i := range 500 {
		if got, want := c.read().body, fmt.Sprintf("POST /fast/%d  %q", i, strings.Repeat("x", i)); got != want {
			t.Fatalf("answer %d is %q", i, got)
		}
	}
}

// writes counts the writes of a connection.
type writes struct {
	net.Conn
	sizes chan int
}

func (w *writes) Write(p []byte) (int, error) {
	w.sizes <- len(p)
	return w.Conn.Write(p)
}

// pipes is a listener whose one connection is in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func newPipes(conns ...net.Conn) *pipes {
	p := &pipes{make(chan net.Conn, len(conns)), make(chan struct{})}
	for _, c := range conns {
		p.conns <- c
	}
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return handoverAddr{} }

func TestAllAnswersToOneReadAreOneWrite(t *testing.T) {
	near, far := net.Pipe()
	w := &writes{far, make(chan int, 100)}
	s := unhurried(&handler{}) // where a tick passes between two calls, the first answers go before the others
	go s.Serve(newPipes(w))
	defer s.Close()
	defer near.Close()
	go io.WriteString(near, strings.Repeat(post("/fast", "a"), 10)) // one write, and so one read
	c := &client{near, t, nil}
	b := make([]byte, 64<<10)
	n, err := c.Conn.Read(b)
	if got := <-w.sizes; err != nil || n != got || bytes.Count(b[:n], []byte("HTTP/1.1 200 OK")) != 10 || len(w.sizes) > 0 {
		t.Errorf("the first of %d writes had %d bytes: %q", 1+len(w.sizes), got, b[:n])
	}
}

func TestARequestMayComeInPartsOfAnySize(t *testing.T) {
	_, addr := serve(t, &handler{})
	request := "POST /fast?q HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\n\r\nbody"
	for cut := 1; cut < len(request); cut++ {
		c := dial(t, addr)
		c.send(get("/fast/before") + request[:cut])
		c.read() // so the part before the cut was read too
		c.send(request[cut:] + get("/fast/behind"))
		if got := c.read(); got.body != `POST /fast q "body"` {
			t.Fatalf("cut at %d: %+v", cut, got)
		}
		if got := c.read(); got.body != `GET /fast/behind  ""` {
			t.Fatalf("cut at %d: %+v", cut, got)
		}
		c.Close()
	}
	c := dial(t, addr)
	for i := range len(request) {
		c.send(request[i : i+1])
	}
	if got := c.read(); got.body != `POST /fast q "body"` {
		t.Fatalf("byte by byte: %+v", got)
	}
}

func TestAnEmptyLineBehindAPOSTIsLeftOut(t *testing.T) {
	_, addr := serve(t, &handler{})
	c := dial(t, addr)
	c.send(post("/fast/1", "a") + "\r\n" + post("/fast/2", "b") + "\r\n")
	c.read()
	c.read()
	if got := c.ask(get("/fast/3")); got.body != `GET /fast/3  ""` || got.header.Get("X-Engine") != "" {
		t.Errorf("%+v", got)
	}
}

func TestHeadsAndBodiesUpToTheLimitsAreTaken(t *testing.T) {
	_, addr := serve(t, &handler{})
	for _, header := range []int{0, 3 << 10, 5 << 10, maxHead - 200} {
		for _, size := range []int{0, 1, firstIn - 60, firstIn, 3*firstIn + 1, maxBody} {
			c := dial(t, addr)
			body := strings.Repeat("x", size)
			request := fmt.Sprintf("POST /fast HTTP/1.1\r\nHost: a.test\r\nX-Long: %s\r\nContent-Length: %d\r\n\r\n%s", strings.Repeat("h", header), size, body)
			go io.WriteString(c, get("/fast/before")+request+get("/fast/behind"))
			for _, want := range []string{`GET /fast/before  ""`, `POST /fast  "` + body + `"`, `GET /fast/behind  ""`} {
				if got := c.read(); got.body != want || got.header.Get("X-Engine") != "" {
					t.Fatalf("header of %d, body of %d: %.100q, want %.100q", header, size, got.body, want)
				}
			}
			c.Close()
		}
	}
}

func TestLargeAnswersArriveWhole(t *testing.T) {
	for _, size := range []int{largeOut - 1, largeOut, maxOut, 1 << 20} {
		_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) { x.Out = append(x.Out, bytes.Repeat([]byte("x"), size)...) }})
		c := dial(t, addr)
		go io.WriteString(c, strings.Repeat(get("/fast"), 5))
		for range 5 {
			if got := c.read(); len(got.body) != size {
				t.Fatalf("%d bytes of %d", len(got.body), size)
			}
		}
	}
}

func TestAClientThatSaysItIsDoneStillGetsItsAnswers(t *testing.T) {
	_, addr := serve(t, &handler{})
	c := dial(t, addr)
	c.send(get("/fast/1") + get("/fast/2"))
	c.Conn.(*net.TCPConn).CloseWrite()
	for _, want := range []string{`GET /fast/1  ""`, `GET /fast/2  ""`} {
		if got := c.read(); got.body != want {
			t.Errorf("%+v", got)
		}
	}
	c.wantEnd()
}

func TestNothingOfARequestIsLeftForTheNext(t *testing.T) {
	_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) {
		if x.Path == "/fast/1" {
			x.Status, x.Type, x.ID, x.Route, x.Principal, x.Limit = 201, "a/b", "r1", 1, 2, time.Hour
			x.Params = append(x.Params, "p")
			x.Answer.Add("X-A", "b")
			x.Out = append(x.Out, "one"...)
			return
		}
		x.Out = fmt.Appendf(x.Out, "%d %q %q %v %v %v %v %v %q %q", x.Status, x.Type, x.ID, x.Route, x.Principal, x.Limit, x.Params, x.Header.Fields(), x.Body, x.Query)
	}})
	c := dial(t, addr)
	c.send("POST /fast/1?q HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\na" + get("/fast/2"))
	c.read()
	if got := c.read(); got.status != 200 || got.header["X-A"] != nil || got.body != `0 "" "" <nil> <nil> 0s [] [] "" ""` {
		t.Errorf("%+v", got)
	}
}

func TestBytesThatAHandlerGivesAsItsAnswerAreNotWrittenOver(t *testing.T) {
	shared := append(make([]byte, 0, 100), "shared"...)
	_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) {
		switch x.Path {
		case "/fast/shared":
			x.Out = shared
		case "/fast/body":
			x.Out = x.Body
		default:
			x.Out = append(x.Out, "appended"...)
		}
	}})
	c := dial(t, addr)
	c.send(strings.Repeat(get("/fast/shared")+get("/fast/other")+post("/fast/body", "hello")+get("/fast/other"), 2))
	for range 2 {
		for _, want := range []string{"shared", "appended", "hello", "appended"} {
			if got := c.read(); got.body != want {
				t.Errorf("%q, want %q", got.body, want)
			}
		}
	}
}

func TestAnExchangeKnowsItsConnection(t *testing.T) {
	remotes := make(chan string, 2)
	_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) { remotes <- x.Remote.String() + " " + x.Host }})
	c := dial(t, addr)
	c.ask(get("/fast"))
	if got, want := <-remotes, c.LocalAddr().String()+" a.test"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAHandlerThatPanicsIsAnsweredForAndLoggedAndItsConnectionGoesOn(t *testing.T) {
	var log logBuffer
	_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) {
		if x.Path == "/fast/panic" {
			panic("hunter2")
		}
	}}, logTo(&log))
	c := dial(t, addr)
	c.send(get("/fast/1") + get("/fast/panic") + get("/fast/2"))
	if got := c.read(); got.status != 200 {
		t.Error(got)
	}
	for _, want := range []int{500, 200} {
		if got := c.read(); got.status != want {
			t.Error(got)
		}
	}
	if !strings.Contains(log.String(), "hunter2") || !strings.Contains(log.String(), "response_test.go") {
		t.Errorf("the log has %s", log.String())
	}
	if got := dial(t, addr).ask(get("/fast")); got.status != 200 {
		t.Error(got)
	}
}

func TestServingAllocatesNothing(t *testing.T) {
	near, far := net.Pipe() // over a socket, the pool of buffers would count too
	s := unhurried(&handler{serve: func(x *exchange.Exchange) {
		x.ID = x.Header.Get("X-Request-Id")
		x.Type, x.Out = "application/json", append(x.Out, x.Body...)
		x.Answer.Add("Cache-Control", "no-store")
	}})
	go s.Serve(newPipes(far))
	defer s.Close()
	defer near.Close()
	request := []byte("POST /fast HTTP/1.1\r\nHost: a.test\r\nX-Request-Id: abc\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	request = bytes.Repeat(request, 3)
	b := make([]byte, 4<<10)
	if n := testing.AllocsPerRun(200, func() {
		near.Write(request)
		near.Read(b)
	}); n != 0 {
		t.Errorf("%v allocations for three requests", n)
	}
}

func TestWhatIsKeptOfARequestStaysAsItWas(t *testing.T) {
	var paths, tenants []string
	_, addr := serve(t, &handler{serve: func(x *exchange.Exchange) {
		x.Keep()
		paths, tenants = append(paths, x.Path), append(tenants, x.Header.Get("X-Tenant"))
	}})
	c := dial(t, addr)
	for i := range 3 {
		c.ask("GET /fast/" + strconv.Itoa(i) + " HTTP/1.1\r\nHost: a.test\r\nX-Tenant: t" + strconv.Itoa(i) + "\r\n\r\n")
	}
	if fmt.Sprint(paths, tenants) != "[/fast/0 /fast/1 /fast/2] [t0 t1 t2]" {
		t.Errorf("kept %v and %v", paths, tenants)
	}
}
