package http1

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/web/exchange"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(crowdVariable); addr != "" {
		crowd(addr)
		return
	}
	goleak.VerifyTestMain(m)
}

// crowdVariable names the server for a process that is its clients.
const crowdVariable = "HTTP1_TEST_CROWD"

const crowdSize = 10_000

// crowd opens many connections, makes one call on each, reports that and waits until it is let go.
func crowd(addr string) {
	var conns []net.Conn
	b := make([]byte, 4<<10)
	for range crowdSize {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			fmt.Println(err)
			return
		}
		conns = append(conns, c)
		io.WriteString(c, get("/fast"))
		if n, err := c.Read(b); err != nil || !strings.HasPrefix(string(b[:n]), "HTTP/1.1 200 ") {
			fmt.Println(string(b[:n]), err)
			return
		}
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(conns)
}

// handler answers by functions that a test sets. By itself it takes paths that begin with "/fast" and answers with what
// it was asked.
type handler struct {
	take              func(x *exchange.Exchange) bool
	serve, late, busy func(x *exchange.Exchange)
}

func (h *handler) Take(x *exchange.Exchange) bool {
	if h.take != nil {
		return h.take(x)
	}
	return strings.HasPrefix(x.Path, "/fast")
}

func (h *handler) Serve(x *exchange.Exchange) {
	if h.serve != nil {
		h.serve(x)
		return
	}
	x.Type = "text/plain"
	x.Out = fmt.Appendf(x.Out, "%s %s %s %q", x.Method, x.Path, x.Query, x.Body)
}

func (h *handler) Failed(x *exchange.Exchange) {
	x.Status, x.Type, x.Out = 500, "text/plain", append(x.Out[:0], "failed"...)
}

func (h *handler) Late(x *exchange.Exchange) {
	x.Status, x.Type, x.Out = 504, "text/plain", append(x.Out, "late"...)
	if h.late != nil {
		h.late(x)
	}
}

func (h *handler) Full(x *exchange.Exchange) { x.Status = http.StatusServiceUnavailable }

func (h *handler) Busy(x *exchange.Exchange) {
	x.Status, x.Type, x.Out = 503, "text/plain", append(x.Out, "busy"...)
	if h.busy != nil {
		h.busy(x)
	}
}

// slow is the fallback of the tests: it answers as handler does, but marks the answer.
var slow http.HandlerFunc = func(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("X-Engine", "net/http")
	fmt.Fprintf(w, "%s %s %s %q", r.Method, r.URL.EscapedPath(), r.URL.RawQuery, b)
}

// logBuffer is a log that a test can read.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// serve runs a server for the length of a test, on a port of its own. change may change it before.
func serve(tb testing.TB, h Handler, change ...func(*Server)) (*Server, string) {
	return serveWith(tb, Config{Handler: h}, change...)
}

func serveWith(tb testing.TB, config Config, change ...func(*Server)) (*Server, string) {
	tb.Helper()
	if config.Fallback == nil {
		config.Fallback = &http.Server{Handler: slow}
	}
	s := NewServer(config)
	for _, f := range change {
		f(s)
	}
	s.setTicks()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	tb.Cleanup(func() {
		s.Close()
		if err := <-served; err != http.ErrServerClosed {
			tb.Errorf("Serve: %v", err)
		}
		eventually(tb, "all connections are freed", func() bool { return s.Connections() == 0 })
	})
	return s, l.Addr().String()
}

// quick makes the watchdog look each 5 ms, and lets a test set limits that it can wait for.
func quick(change func(*Limits)) func(*Server) {
	return func(s *Server) {
		s.tick = 5 * time.Millisecond
		change(&s.limits)
	}
}

// unhurried is a server for which no time passes: it has no reason to answer requests that came together one by one.
func unhurried(h Handler) *Server {
	s := NewServer(Config{Handler: h})
	s.tick = time.Hour
	s.setTicks()
	return s
}

func logTo(l *logBuffer) func(*Server) {
	return func(s *Server) { s.log = slog.New(slog.NewTextHandler(l, nil)) }
}

// waitLimit is the time that a test waits for what must come, on a machine that has much else to do.
const waitLimit = time.Minute

// eventually polls: for what only can be looked at from outside.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	for clock := time.NewTicker(time.Millisecond); ; {
		if ok() {
			clock.Stop()
			return
		}
		select {
		case <-clock.C:
		case <-ctx.Done():
			tb.Fatalf("not within %v: %s", waitLimit, what)
		}
	}
}

// client is one raw connection.
type client struct {
	net.Conn
	tb testing.TB
	r  *bufio.Reader
}

func dial(tb testing.TB, addr string) *client {
	tb.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(waitLimit))
	return &client{c, tb, bufio.NewReader(c)}
}

func (c *client) send(text string) {
	c.tb.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.tb.Fatal(err)
	}
}

// answer holds the parts of an HTTP answer that tests compare.
type answer struct {
	status int
	header http.Header
	body   string
	close  bool
}

// read reads one answer.
func (c *client) read() answer {
	c.tb.Helper()
	response, err := http.ReadResponse(c.r, nil)
	if err != nil {
		c.tb.Fatalf("no answer: %v", err)
	}
	b, err := io.ReadAll(response.Body)
	if err != nil {
		c.tb.Fatalf("half an answer: %v", err)
	}
	return answer{response.StatusCode, response.Header, string(b), response.Close}
}

func (c *client) ask(request string) answer {
	c.tb.Helper()
	c.send(request)
	return c.read()
}

// wantEnd wants the connection to be closed with nothing more to read.
func (c *client) wantEnd() {
	c.tb.Helper()
	if b, err := io.ReadAll(c.r); len(b) > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
		c.tb.Errorf("the connection did not just end: %q, %v", b, err)
	}
}

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: a.test\r\n\r\n" }

func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a.test\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}
