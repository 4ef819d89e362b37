package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

// Nodes without a logger of their own log nothing.
func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

// waitLimit is the time that a test waits for what must come, on a machine that has much else to do.
const waitLimit = time.Minute

// The revisions that tests speak: one with sessions and the one without.
const (
	withSessions    = "2025-11-25"
	withoutSessions = "2026-07-28"
)

var revisions = []string{withSessions, withoutSessions}

type order struct {
	ID    string            `json:"id" validate:"required,max=8"`
	Items []item            `json:"items,omitempty"`
	Notes map[string]string `json:"notes,omitempty"`
	Extra any               `json:"extra,omitempty"`
	Next  *order            `json:"next,omitempty"`
}

type item struct {
	SKU   string `json:"sku"`
	Count int    `json:"count" validate:"gte=1,lte=99"`
}

type byID struct {
	ID string `json:"id" validate:"required,oneof=o-1 o-2 o-3 none"`
}

var errOutOfStock = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "there are only 3 left")

// orders is a service with an action for each way that a call can go.
func orders() *sabir.Service {
	s := sabir.NewService("orders")
	sabir.Handle(s, "get", func(_ context.Context, in byID) (order, error) {
		if in.ID == "none" {
			return order{}, sabir.NewError(sabir.CodeNotFound, "NoSuchOrder", "there is no order none")
		}
		return order{ID: in.ID, Items: []item{{"apple", 2}}}, nil
	}, sabir.Doc("finds an order"), sabir.Route("GET", "/orders/{id}"), sabir.Example(byID{"o-1"}, order{ID: "o-1"}))
	sabir.Handle(s, "list", func(context.Context, sabir.Empty) ([]order, error) {
		return []order{{ID: "o-1"}, {ID: "o-2"}}, nil
	}, sabir.Route("GET", "/orders"))
	sabir.Handle(s, "create", func(_ context.Context, in order) (order, error) { return in, nil }, sabir.Route("POST", "/orders"),
		sabir.Errors(errOutOfStock), sabir.Idempotent())
	sabir.Handle(s, "remove", func(context.Context, byID) (sabir.Empty, error) { return sabir.Empty{}, nil }, sabir.Route("DELETE", "/orders/{id}"),
		sabir.Deprecated("use orders.archive"))
	sabir.Handle(s, "count", func(_ context.Context, in []string) (int, error) { return len(in), nil })
	sabir.Handle(s, "echo", func(_ context.Context, in any) (any, error) { return in, nil })
	sabir.Handle(s, "buy", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, errOutOfStock.WithData(map[string]int{"left": 3})
	})
	sabir.Handle(s, "panic", func(context.Context, sabir.Empty) (sabir.Empty, error) { panic("hunter2") })
	sabir.Handle(s, "fail", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, io.ErrUnexpectedEOF })
	sabir.Handle(s, "secret", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil }, sabir.ClusterOnly())
	return s
}

// start runs a node for the length of a test and returns the URL of its HTTP side.
func start(tb testing.TB, services []*sabir.Service, options ...gateway.HTTPOption) (*sabir.Node, string) {
	tb.Helper()
	all := []sabir.NodeOption{sabir.NodeID("n1"), sabir.HTTP(":0", options...)}
	for _, s := range services {
		all = append(all, sabir.Serve(s))
	}
	node := sabir.NewNode(all...)
	if err := node.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { stop(tb, node) })
	return node, "http://" + node.HTTPAddr()
}

func stop(tb testing.TB, node *sabir.Node) {
	tb.Helper()
	if node.State() != "running" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := node.Stop(ctx); err != nil {
		tb.Error(err)
	}
}

// startOrders runs a node with the service orders, all of it as tools.
func startOrders(tb testing.TB, c mcp.Config) string {
	tb.Helper()
	c.Tools = append(c.Tools, "orders.*")
	_, base := start(tb, []*sabir.Service{orders()}, mcp.At("/mcp", c))
	return base + "/mcp"
}

// connect connects a client of the SDK for the length of a test. header has pairs of names and values.
func connect(tb testing.TB, url, revision string, options *sdk.ClientOptions, header ...string) *sdk.ClientSession {
	tb.Helper()
	session, err := dial(tb, url, revision, options, header...)
	if err != nil {
		tb.Fatal(err)
	}
	return session
}

func dial(tb testing.TB, url, revision string, options *sdk.ClientOptions, header ...string) (*sdk.ClientSession, error) {
	tb.Helper()
	base := &http.Transport{}
	tb.Cleanup(base.CloseIdleConnections)
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	tb.Cleanup(cancel)
	transport := &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withHeader{base, header}}, MaxRetries: -1}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options).Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err == nil {
		tb.Cleanup(func() { session.Close() })
	}
	return session, err
}

type withHeader struct {
	next   http.RoundTripper
	header []string
}

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for i := 0; i < len(h.header); i += 2 {
		r.Header.Set(h.header[i], h.header[i+1])
	}
	return h.next.RoundTrip(r)
}

// callTool calls a tool and returns its result and the texts of that.
func callTool(tb testing.TB, session *sdk.ClientSession, name string, arguments any) (*sdk.CallToolResult, []string) {
	tb.Helper()
	result, err := session.CallTool(tb.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	var texts []string
	for _, c := range result.Content {
		texts = append(texts, c.(*sdk.TextContent).Text)
	}
	return result, texts
}

// raw is an answer over HTTP as it came.
type raw struct {
	status int
	header http.Header
	body   string
}

// message is the JSON-RPC message of the answer, which may be the last event of a stream.
func (a raw) message(tb testing.TB) map[string]any {
	tb.Helper()
	text := a.body
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		for scanner := bufio.NewScanner(strings.NewReader(a.body)); scanner.Scan(); {
			if data, ok := strings.CutPrefix(scanner.Text(), "data: "); ok {
				text = data
			}
		}
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		tb.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return m
}

// send sends one request on a connection of its own.
func send(tb testing.TB, method, url, body string, header ...string) raw {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i+1] == "" {
			r.Header.Del(header[i])
		}
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	transport := &http.Transport{}
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
	return raw{response.StatusCode, response.Header, string(text)}
}

// alone is a request of the revision without sessions: its body and headers.
func alone(method, params string) (body string, header []string) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + withoutSessions + `","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}`
	if params != "" {
		params += ","
	}
	body = `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + meta + `}}`
	header = []string{"MCP-Protocol-Version", withoutSessions, "Mcp-Method", method}
	var named struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	}
	if json.Unmarshal([]byte(body[strings.Index(body, `"params":`)+len(`"params":`):len(body)-1]), &named) == nil && named.Name+named.URI != "" {
		header = append(header, "Mcp-Name", named.Name+named.URI)
	}
	return body, header
}

// initialize begins a session and returns the headers of its requests.
func initialize(tb testing.TB, url string, header ...string) []string {
	tb.Helper()
	a := send(tb, "POST", url, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+withSessions+`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, header...)
	id := a.header.Get("Mcp-Session-Id")
	if a.status != 200 || id == "" {
		tb.Fatalf("initialize: %d %s", a.status, a.body)
	}
	header = append(header, "Mcp-Session-Id", id, "MCP-Protocol-Version", withSessions)
	if a := send(tb, "POST", url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header...); a.status != 202 || a.body != "" {
		tb.Fatalf("initialized: %d %q", a.status, a.body)
	}
	return header
}

func mustJSON(tb testing.TB, v any) string {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}
