package httpstream_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/httpstream"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

type number struct {
	N int `json:"n" validate:"gte=0"`
}

type file struct {
	Size int    `json:"size"`
	SHA  string `json:"sha"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// until bounds what a test waits for, on a machine that has much else to do.
const until = time.Minute

// served is a node with streams behind a web server.
type served struct {
	node    *sabir.Node
	streams *httpstream.Streams
	events  *httpstream.Events
	web     *httptest.Server
	ended   chan error // the results of the handlers that report them
	arrived chan any   // what they got
}

var errOwn = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough in stock")

// streams is a service with an action for each way a stream can go.
func (s *served) service() *sabir.Service {
	all := sabir.NewService("t")
	sabir.HandleStream(all, "count", func(_ context.Context, s *sabir.Stream[number, number]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		for i := range in.N {
			if err := s.Send(number{i}); err != nil {
				return err
			}
		}
		return nil
	})
	sabir.HandleStream(all, "double", func(_ context.Context, s *sabir.Stream[number, number]) error {
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			if err := s.Send(number{2 * in.N}); err != nil {
				return err
			}
		}
		return nil
	})
	sabir.HandleStream(all, "sum", func(_ context.Context, s *sabir.Stream[number, number]) error {
		sum := 0
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			sum += in.N
		}
		return s.Send(number{sum})
	})
	sabir.HandleStream(all, "failAfter", func(_ context.Context, s *sabir.Stream[number, number]) error {
		in, err := s.Recv()
		for i := 0; err == nil && i < in.N; i++ {
			err = s.Send(number{i})
		}
		if err != nil {
			return err
		}
		return errOwn
	})
	sabir.HandleStream(all, "busy", func(context.Context, *sabir.Stream[number, number]) error {
		return sabir.NewError(sabir.CodeResourceExhausted, "Busy", "later").AsRetryable()
	})
	// greet sends a value and then waits until the caller goes or the stream ends otherwise.
	sabir.HandleStream(all, "greet", func(ctx context.Context, st *sabir.Stream[number, number]) error {
		if err := st.Send(number{1}); err != nil { // the caller has gone already
			s.ended <- err
			return err
		}
		<-ctx.Done()
		s.ended <- context.Cause(ctx)
		return ctx.Err()
	})
	// silent waits, and sends nothing at all to its caller.
	sabir.HandleStream(all, "silent", func(ctx context.Context, _ *sabir.Stream[number, number]) error {
		signal(s.arrived, "silent")
		<-ctx.Done()
		s.ended <- ctx.Err()
		return ctx.Err()
	})
	// flood sends as long as its values are taken.
	sabir.HandleStream(all, "flood", func(ctx context.Context, st *sabir.Stream[number, string]) error {
		text := strings.Repeat("x", 8<<10)
		for {
			if err := st.Send(text); err != nil {
				s.ended <- err
				return err
			}
		}
	})
	sabir.HandleStream(all, "floodBytes", func(ctx context.Context, st *sabir.Stream[number, []byte]) error {
		block := make([]byte, 32<<10)
		for {
			if err := st.Send(block); err != nil {
				s.ended <- err
				return err
			}
		}
	})
	sabir.HandleStream(all, "text", func(_ context.Context, s *sabir.Stream[number, string]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		return s.Send(strings.Repeat("é\n", in.N))
	})
	sabir.HandleStream(all, "document", func(_ context.Context, s *sabir.Stream[json.RawMessage, json.RawMessage]) error {
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			var text string
			if json.Unmarshal(in, &text) != nil {
				text = string(in)
			}
			if err := s.Send(json.RawMessage(text)); err != nil { // as it is, valid or not
				return err
			}
		}
		return nil
	})
	sabir.HandleStream(all, "metadata", func(ctx context.Context, s *sabir.Stream[number, map[string]string]) error {
		return s.Send(sabir.InfoFromContext(ctx).Metadata)
	})
	sabir.HandleStream(all, "upload", func(ctx context.Context, st *sabir.Stream[[]byte, file]) error {
		sum := sha256.New()
		f := file{Name: sabir.InfoFromContext(ctx).Metadata["file-name"], Type: sabir.InfoFromContext(ctx).Metadata["content-type"]}
		first := true
		for part, err := range st.All() {
			if err != nil {
				s.ended <- err
				return err
			}
			if first {
				first = false
				signal(s.arrived, len(part))
			}
			sum.Write(part)
			f.Size += len(part)
		}
		f.SHA = hex.EncodeToString(sum.Sum(nil))
		return st.Send(f)
	})
	// keep keeps the chunks that it gets and looks at them at the end.
	sabir.HandleStream(all, "keep", func(_ context.Context, st *sabir.Stream[[]byte, file]) error {
		var parts [][]byte
		sum := sha256.New()
		size := 0
		for part, err := range st.All() {
			if err != nil {
				return err
			}
			parts = append(parts, part)
		}
		for _, part := range parts {
			sum.Write(part)
			size += len(part)
			_ = append(part, "what is behind belongs to others"...)
		}
		return st.Send(file{Size: size, SHA: hex.EncodeToString(sum.Sum(nil))})
	})
	// borrow looks at each chunk after it has waited for others to come.
	sabir.HandleStream(all, "borrow", func(_ context.Context, st *sabir.Stream[[]byte, file]) error {
		sum := sha256.New()
		size := 0
		for part, err := range st.All() {
			if err != nil {
				return err
			}
			for range 100 {
				runtime.Gosched()
			}
			sum.Write(part)
			size += len(part)
		}
		return st.Send(file{Size: size, SHA: hex.EncodeToString(sum.Sum(nil))})
	}, sabir.Use(httpstream.ReuseUploadBuffers()))
	sabir.HandleStream(all, "refuse", func(context.Context, *sabir.Stream[[]byte, file]) error { return errOwn })
	sabir.HandleStream(all, "ignore", func(context.Context, *sabir.Stream[[]byte, file]) error { return nil })
	sabir.HandleStream(all, "download", func(_ context.Context, s *sabir.Stream[number, []byte]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		for in.N > 0 {
			n := min(in.N, 10_000)
			if err := s.Send([]byte(strings.Repeat("d", n))); err != nil {
				return err
			}
			in.N -= n
		}
		return nil
	})
	sabir.HandleStream(all, "breaks", func(_ context.Context, s *sabir.Stream[number, []byte]) error {
		in, err := s.Recv()
		if err == nil && in.N > 0 {
			err = s.Send(make([]byte, in.N))
		}
		if err != nil {
			return err
		}
		return errOwn
	})
	sabir.HandleStream(all, "flip", func(_ context.Context, s *sabir.Stream[[]byte, []byte]) error {
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			for i := range in {
				in[i] ^= 0xff
			}
			if err := s.Send(in); err != nil {
				return err
			}
		}
		return nil
	})
	return all
}

func signal(c chan any, v any) {
	select {
	case c <- v:
	default:
	}
}

// problem is the document with which package web answers errors, as far as it matters here.
func problem(err error) (int, []byte) {
	e := sabir.AsError(err)
	document, failed := json.Marshal(map[string]any{"status": e.HTTPStatus(), "code": e.Code.String(), "name": e.Name, "message": e.Message, "retryable": e.Retryable})
	if failed != nil {
		panic(failed)
	}
	return e.HTTPStatus(), append(document, '\n')
}

// quick are limits that tests can wait for.
var quick = httpstream.Limits{Heartbeat: 50 * time.Millisecond, Write: 250 * time.Millisecond, Read: 250 * time.Millisecond, Head: 20 * time.Millisecond}

// patient holds limits none of which a test reaches.
var patient = httpstream.Limits{Heartbeat: time.Hour, Write: time.Minute, Read: time.Minute, Head: time.Hour}

type setting func(*served, *httptest.Server)

func http2(_ *served, s *httptest.Server) { s.EnableHTTP2 = true }

// serve runs a node and a web server for the length of a test. The path of a request is the action's name; ?in=… is the
// input that package web would have bound.
func serve(tb testing.TB, limits httpstream.Limits, settings ...setting) *served {
	tb.Helper()
	s := newServed(tb)
	s.node = s.start(tb, sabir.NodeID("n1"), sabir.Serve(s.service(), s.events.Service("web-events", "n1")))
	s.serve(tb, limits, settings...)
	return s
}

// serveAway is serve for a node that has no actions itself: those of another are called.
func serveRemote(tb testing.TB, limits httpstream.Limits) (s *served, owner *sabir.Node) {
	tb.Helper()
	s = newServed(tb)
	owner = s.start(tb, sabir.NodeID("n2"), sabir.Serve(s.service()), sabir.Join("tcp://127.0.0.1:0", cluster.Config{Name: tb.Name()}))
	s.node = s.start(tb, sabir.NodeID("n1"), sabir.Serve(s.events.Service("web-events", "n1")), sabir.Join(owner.Info().Addr, cluster.Config{Name: tb.Name()}))
	ctx, cancel := context.WithTimeout(context.Background(), until)
	defer cancel()
	if err := errors.Join(s.node.WaitFor(ctx, "t"), owner.WaitFor(ctx, "web-events")); err != nil {
		tb.Fatal(err)
	}
	s.serve(tb, limits)
	return s, owner
}

func newServed(tb testing.TB) *served {
	s := &served{ended: make(chan error, 16), arrived: make(chan any, 16)}
	var err error
	if s.events, err = httpstream.NewEvents("orders.*", "user.created"); err != nil {
		tb.Fatal(err)
	}
	return s
}

func (s *served) start(tb testing.TB, options ...sabir.NodeOption) *sabir.Node {
	tb.Helper()
	n := sabir.NewNode(append(options, sabir.Logger(slog.New(slog.DiscardHandler)))...)
	if err := n.Start(context.Background()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), until)
		defer cancel()
		if err := n.Stop(ctx); err != nil && n.State() == "running" {
			tb.Error(err)
		}
	})
	return n
}

func (s *served) serve(tb testing.TB, limits httpstream.Limits, settings ...setting) {
	tb.Helper()
	s.streams = httpstream.New(s.node, limits)
	s.web = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "r1")
		call := httpstream.Call{Context: r.Context(), Problem: problem, Origin: func(origin string) bool { return origin == "https://friend.example" }}
		if r.URL.Path == "/events" {
			s.streams.ServeEvents(w, r, s.events, call)
			return
		}
		call.Action = s.node.Action(strings.TrimPrefix(r.URL.Path, "/"))
		if r.URL.Query().Has("in") {
			call.Input = []byte(r.URL.Query().Get("in"))
		}
		s.streams.Serve(w, r, call)
	}))
	s.web.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	for _, set := range settings {
		set(s, s.web)
	}
	if s.web.EnableHTTP2 {
		s.web.StartTLS()
	} else {
		s.web.Start()
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), until)
		defer cancel()
		s.web.Client().CloseIdleConnections()
		if err := s.streams.Stop(ctx); err != nil {
			tb.Error(err)
		}
		s.web.Close()
		if n := s.streams.Open(); n != 0 {
			tb.Errorf("%d streams are open after all have ended", n)
		}
	})
}

// ask sends a request and gives the answer, whose body is closed at the end of the test.
func (s *served) ask(tb testing.TB, method, path, body string, headers ...string) *http.Response {
	tb.Helper()
	var from io.Reader
	if body != "" {
		from = strings.NewReader(body)
	}
	return s.askWith(tb, method, path, from, headers...)
}

func (s *served) askWith(tb testing.TB, method, path string, body io.Reader, headers ...string) *http.Response {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), until)
	tb.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, s.web.URL+path, body)
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	answer, err := s.web.Client().Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { answer.Body.Close() })
	return answer
}

func readAll(tb testing.TB, answer *http.Response) string {
	tb.Helper()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		tb.Fatalf("after %q: %v", text, err)
	}
	return string(text)
}

func nextLine(tb testing.TB, r *bufio.Reader) string {
	tb.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		tb.Fatalf("after %q: %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// wantProblem checks that an answer is the problem of an error.
func wantProblem(tb testing.TB, answer *http.Response, status int, name string) string {
	tb.Helper()
	text := readAll(tb, answer)
	if answer.StatusCode != status || answer.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(text, `"name":"`+name+`"`) {
		tb.Fatalf("got %s, %s: %s; want %d %s", answer.Status, answer.Header.Get("Content-Type"), text, status, name)
	}
	return text
}

// wantEnd waits until a handler that reports its result has ended, with the error that its caller has gone.
func (s *served) wantEnd(tb testing.TB) {
	tb.Helper()
	select {
	case err := <-s.ended:
		if !errors.Is(err, context.Canceled) && err != io.EOF && err.Error() != "the caller has gone" && sabir.AsError(err).Code != sabir.CodeUnavailable {
			tb.Fatalf("the handler ended with %v", err)
		}
	case <-time.After(until):
		tb.Fatal("the handler's context has not ended")
	}
}

// dial opens a raw connection to the server.
func (s *served) dial(tb testing.TB) *net.TCPConn {
	tb.Helper()
	c, err := net.Dial("tcp", s.web.Listener.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(until))
	tb.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

func (s *served) dialAndSay(tb testing.TB, format string, args ...any) *net.TCPConn {
	tb.Helper()
	c := s.dial(tb)
	if _, err := fmt.Fprintf(c, format, args...); err != nil {
		tb.Fatal(err)
	}
	return c
}

// wantOpen waits until so many streams are open.
func (s *served) wantOpen(tb testing.TB, n int) {
	tb.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(until); s.streams.Open() != n; <-tick.C {
		if time.Now().After(deadline) {
			tb.Fatalf("%d streams are open, want %d", s.streams.Open(), n)
		}
	}
}
