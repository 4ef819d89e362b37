package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/web/exchange"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

type helloRequest struct {
	Name string `json:"name" validate:"required,max=64"`
	Age  int    `json:"age" validate:"gte=0,lte=150"`
}

type helloReply struct {
	Text string `json:"text"`
}

type nothing struct{}

var errOutOfStock = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough in stock")

// shop is a service with an action for each way a call can go.
func shop() *sabir.Service {
	s := sabir.NewService("shop")
	sabir.Handle(s, "hello", func(_ context.Context, in helloRequest) (helloReply, error) {
		return helloReply{"Hello, " + in.Name}, nil
	}, sabir.Doc("greets"))
	sabir.Handle(s, "fail", func(context.Context, nothing) (nothing, error) {
		return nothing{}, errors.New("pq: password hunter2 refused")
	})
	sabir.Handle(s, "wrapped", func(context.Context, nothing) (nothing, error) {
		return nothing{}, errors.Join(errors.New("at db hunter2"), errOutOfStock)
	})
	sabir.Handle(s, "late", func(context.Context, nothing) (nothing, error) {
		return nothing{}, errors.Join(errors.New("at db hunter2"), context.DeadlineExceeded)
	})
	sabir.Handle(s, "panic", func(context.Context, nothing) (nothing, error) { panic("hunter2") })
	sabir.Handle(s, "unwritable", func(context.Context, nothing) (unwritable, error) { return unwritable{}, nil })
	sabir.Handle(s, "nested", func(ctx context.Context, in nothing) (nothing, error) {
		return sabir.Call[nothing](ctx, sabir.NodeFromContext(ctx), "shop.secre", in)
	})
	sabir.Handle(s, "buy", func(context.Context, nothing) (nothing, error) {
		return nothing{}, errOutOfStock.WithData(map[string]int{"left": 3})
	})
	sabir.Handle(s, "oddData", func(context.Context, nothing) (nothing, error) {
		return nothing{}, errOutOfStock.WithData(func() {})
	})
	sabir.Handle(s, "busy", func(context.Context, nothing) (nothing, error) {
		return nothing{}, sabir.NewError(sabir.CodeResourceExhausted, "Busy", "come back later").AsRetryable()
	})
	sabir.Handle(s, "who", func(ctx context.Context, _ nothing) (map[string]any, error) {
		deadline, _ := ctx.Deadline()
		return map[string]any{"request": sabir.InfoFromContext(ctx).RequestID, "metadata": sabir.InfoFromContext(ctx).Metadata, "left": time.Until(deadline).Seconds()}, nil
	})
	sabir.Handle(s, "echo", func(_ context.Context, in any) (any, error) { return in, nil })
	sabir.Handle(s, "secret", func(context.Context, nothing) (nothing, error) { return nothing{}, nil }, sabir.NodeOnly())
	sabir.Handle(s, "internal", func(context.Context, nothing) (nothing, error) { return nothing{}, nil }, sabir.ClusterOnly())
	sabir.HandleStream(s, "watch", func(context.Context, *sabir.Stream[nothing, nothing]) error { return nil })
	return s
}

type unwritable struct{}

func (unwritable) MarshalJSON() ([]byte, error) { return nil, errors.New("hunter2") }

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

func logTo(w io.Writer) sabir.NodeOption {
	return sabir.Logger(slog.New(slog.NewTextHandler(w, nil)))
}

// Nodes without a logger of their own log nothing.
func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

// start runs a node for the length of a test.
func start(tb testing.TB, options ...sabir.NodeOption) *sabir.Node {
	tb.Helper()
	return startAs(tb, "n1", options...)
}

func startAs(tb testing.TB, id string, options ...sabir.NodeOption) *sabir.Node {
	tb.Helper()
	node := sabir.NewNode(append([]sabir.NodeOption{sabir.NodeID(id)}, options...)...)
	if err := node.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if node.State() != "running" {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			tb.Error(err)
		}
	})
	return node
}

// waitLimit is the time that a test waits for what must come, on a machine that has much else to do.
const waitLimit = time.Minute

// startShop runs a node with the shop and returns its URL.
func startShop(tb testing.TB, options ...sabir.NodeOption) (*sabir.Node, string) {
	tb.Helper()
	node := start(tb, append([]sabir.NodeOption{sabir.Serve(shop()), sabir.HTTP(":0")}, options...)...)
	return node, "http://" + node.HTTPAddr()
}

// withLimits is sabir.HTTP on a free port with limits that a test can wait for.
func withLimits(change func(*limits)) sabir.NodeOption {
	return sabir.WithGateway(func(n *sabir.Node) (gateway.Gateway, error) {
		f, err := newServer(n, httpaccess.Config{Addr: ":0"})
		if err == nil {
			change(&f.settings.limits)
		}
		return f, err
	})
}

// capture is sabir.HTTP on a free port that shows the test its server.
func capture(into **server) sabir.NodeOption {
	return sabir.WithGateway(func(n *sabir.Node) (gateway.Gateway, error) {
		f, err := newServer(n, httpaccess.Config{Addr: ":0"})
		*into = f
		return f, err
	})
}

// allowing is a filter that lets pages of one other site read answers, as filter.CORS does. Tests of this package do not use
// that one: with package filter, "go mod tidy" of each program that imports web would download its libraries.
func allowing(origin string) exchange.Filter {
	return exchange.Filter{Name: "one origin",
		Before: func(x *exchange.Exchange) error {
			x.Answer.Add("Vary", "Origin")
			if x.Header.Get("Origin") == origin {
				x.Answer.Set("Access-Control-Allow-Origin", origin)
				x.Answer.Set("Access-Control-Allow-Credentials", "true")
			}
			return nil
		},
		Preflight: func(x *exchange.Exchange) bool {
			return x.Header.Get("Origin") == origin && x.Header.Has("Access-Control-Request-Method")
		}}
}

// answer is the part of an answer that a test checks.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) problem(tb testing.TB) problem {
	tb.Helper()
	var p problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.header.Get("Content-Type") != "application/problem+json" {
		tb.Fatalf("%d %s %q is no problem document: %v", a.status, a.header.Get("Content-Type"), a.body, err)
	}
	return p
}

// ask sends one request on a connection of its own; headers are "Name: value".
func ask(tb testing.TB, method, url, body string, headers ...string) answer {
	tb.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header[http.CanonicalHeaderKey(name)] = append(r.Header[http.CanonicalHeaderKey(name)], value)
		}
	}
	if slices := r.Header["Content-Type"]; len(slices) > 1 {
		r.Header["Content-Type"] = slices[1:]
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

func post(tb testing.TB, url, body string, headers ...string) answer {
	tb.Helper()
	return ask(tb, http.MethodPost, url, body, headers...)
}

// dialNode makes a client for the length of a test.
func dialNode(tb testing.TB, node *sabir.Node, c ClientConfig) *Client {
	tb.Helper()
	client, err := Dial(node.HTTPAddr(), c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(client.Close)
	return client
}

// recorded is the answer of a handler that does not listen.
func recorded(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}
