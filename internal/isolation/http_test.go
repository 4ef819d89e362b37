package isolation_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	_ "github.com/sabir-go/sabir/transport/mem"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

// The reasons of entry points of HTTP.
const (
	callersWrite = "the caller is another program, which writes as it likes"
	callersRead  = "the caller is another program, which reads as it likes"
	oneText      = "it is one text"
	onlyRuns     = "the code is run, and writes and checks nothing"
)

var (
	intoHTTP = map[fault]string{panicsWritten: callersWrite, exitsWritten: callersWrite}
	textIn   = but(intoHTTP, oneText, nestsTooDeep)
	fromHTTP = but(map[fault]string{panicsRead: callersRead, exitsRead: callersRead}, notChecked, panicsChecked, exitsChecked)
	runs     = but(nil, onlyRuns, panicsWritten, exitsWritten, panicsChecked, exitsChecked, nestsTooDeep)
)

// but is reasons with one more for the faults.
func but(reasons map[fault]string, why string, more ...fault) map[fault]string {
	all := map[fault]string{}
	maps.Copy(all, reasons)
	for _, f := range more {
		all[f] = why
	}
	return all
}

// An engine is one of the HTTP implementations with which the gateway reads requests.
type engine struct {
	name   string
	http2  bool
	header http.Header // that brings a request there
}

// engines are the gateway's own one, net/http, to which requests with many headers go, and net/http over HTTP/2.
var engines = []engine{{name: "HTTP/1.1"}, {name: "HTTP/1.1 of net/http", header: manyHeaders()}, {name: "HTTP/2", http2: true}}

func manyHeaders() http.Header {
	h := http.Header{}
	for i := range 70 {
		h.Set(fmt.Sprintf("X-Many-%d", i), "1")
	}
	return h
}

// browser is a client of one connection.
type browser struct {
	t      *testing.T
	base   string
	header http.Header
	client http.Client
}

func (e engine) browse(t *testing.T, node *sabir.Node) *browser {
	transport := &http.Transport{MaxConnsPerHost: 1, DisableCompression: true, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(!e.http2)
	transport.Protocols.SetUnencryptedHTTP2(e.http2)
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t, "http://" + node.HTTPAddr(), e.header, http.Client{Transport: transport}}
}

// ask sends a request and returns the body of a good answer. An answer must come, whatever it is.
func (b *browser) ask(ctx context.Context, method, path, body string, headers ...string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, b.base+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	maps.Copy(r.Header, b.header)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	answer, err := b.client.Do(r)
	if err != nil {
		b.t.Errorf("there is no answer to %s %.50s: %v", method, path, err)
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode >= 400:
		if answer.Header.Get("Content-Type") != "application/problem+json" {
			b.t.Errorf("%s is answered by %d %s", path, answer.StatusCode, answer.Header.Get("Content-Type"))
		}
		return "", fmt.Errorf("%d %s", answer.StatusCode, text)
	case err != nil && !strings.Contains(string(text), `"urn:sabir:error:`): // which is broken off behind the error
		return "", err
	}
	return string(text), nil
}

// text is a payload as any program may write it.
func text(p Payload) string {
	var b strings.Builder
	depth := 0
	for at := &p; at != nil; at, depth = at.Next, depth+1 {
		if depth > 0 {
			b.WriteString(`,"next":`)
		}
		fmt.Fprintf(&b, `{"word":%q`, string(at.Text))
	}
	return b.String() + strings.Repeat("}", depth)
}

// faultOf is the fault that a payload has, for handlers that make one like it.
func faultOf(p Payload) string {
	if p.Next != nil {
		return string(nestsTooDeep)
	}
	return string(p.Text)
}

// made is the payload that faultOf returned.
func made(name string) Payload {
	if name == "good" {
		return good()
	}
	return with(fault(name))
}

// wanted is an input that selects the payload to make.
type wanted struct {
	Name string `json:"name"`
}

func (p Payload) wanted() string { return fmt.Sprintf(`{"name":%q}`, faultOf(p)) }

// pathInput, and the others, take a word from a part of the request.
type (
	pathInput struct {
		Text Text `json:"word" validate:"validateFn"`
	}
	queryInput struct {
		Text Text `json:"word" query:"word" validate:"validateFn"`
	}
	headerInput struct {
		Text Text `json:"word" header:"X-Word" validate:"validateFn"`
	}
	cookieInput struct {
		Text Text `json:"word" cookie:"word" validate:"validateFn"`
	}
)

// takesAndGives is a service with actions that take payloads and actions that give them.
func takesAndGives(name string) *sabir.Service {
	s := sabir.NewService(name)
	sabir.Handle(s, "take", func(context.Context, Payload) (sabir.Empty, error) { return sabir.Empty{}, nil })
	sabir.Handle(s, "path", func(context.Context, pathInput) (sabir.Empty, error) { return sabir.Empty{}, nil }, sabir.Route("GET", "/"+name+"-path/{word}"))
	sabir.Handle(s, "query", func(context.Context, queryInput) (sabir.Empty, error) { return sabir.Empty{}, nil }, sabir.Route("GET", "/"+name+"-query"))
	sabir.Handle(s, "header", func(context.Context, headerInput) (sabir.Empty, error) { return sabir.Empty{}, nil }, sabir.Route("GET", "/"+name+"-header"))
	sabir.Handle(s, "cookie", func(context.Context, cookieInput) (sabir.Empty, error) { return sabir.Empty{}, nil }, sabir.Route("GET", "/"+name+"-cookie"))
	sabir.Handle(s, "give", func(_ context.Context, in wanted) (Payload, error) { return made(in.Name), nil })
	sabir.Handle(s, "fail", func(_ context.Context, in wanted) (sabir.Empty, error) {
		if in.Name == "good" {
			return sabir.Empty{}, nil
		}
		return sabir.Empty{}, sabir.NewError(sabir.CodeNotFound, "NoSuchThing", "there is none").WithData(made(in.Name))
	})
	sabir.HandleStream(s, "takeAll", func(_ context.Context, s *sabir.Stream[Payload, int]) error {
		n := 0
		for _, err := range s.All() {
			if err != nil {
				return err
			}
			n++
		}
		return s.Send(n)
	})
	sabir.HandleStream(s, "giveAll", func(_ context.Context, s *sabir.Stream[wanted, Payload]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		return s.Send(made(in.Name))
	})
	sabir.HandleStream(s, "failAll", func(_ context.Context, s *sabir.Stream[wanted, int]) error {
		in, err := s.Recv()
		if err != nil || in.Name == "good" {
			return err
		}
		return sabir.NewError(sabir.CodeNotFound, "NoSuchThing", "there is none").WithData(made(in.Name))
	})
	return s
}

// through is a way of a payload over HTTP.
type through func(ctx context.Context, b *browser, p Payload) error

// sent posts what body makes of the payload.
func sent(path string, body func(Payload) string, headers ...string) through {
	return func(ctx context.Context, b *browser, p Payload) error {
		text, err := b.ask(ctx, http.MethodPost, path, body(p), headers...)
		if err == nil && strings.Contains(text, `"urn:sabir:error:`) { // in a stream or a batch
			err = errors.New(text)
		}
		return err
	}
}

// got is a GET whose path and headers the payload's word makes.
func got(path func(word string) string, header func(word string) string) through {
	return func(ctx context.Context, b *browser, p Payload) error {
		var headers []string
		if header != nil {
			headers = append(headers, header(string(p.Text)))
		}
		_, err := b.ask(ctx, http.MethodGet, path(string(p.Text)), "", headers...)
		return err
	}
}

func in(service string, action string) string { return "/" + service + "/" + action }

// waysOverHTTP lists the paths of payloads through the HTTP gateway, to actions of this node or of another one.
func waysOverHTTP(service string) []struct {
	name    string
	through through
	cannot  map[fault]string
} {
	batched := func(action string, input func(Payload) string) through {
		return sent("/batch", func(p Payload) string {
			return fmt.Sprintf(`[{"action":"%s.%s","input":%s}]`, service, action, input(p))
		})
	}
	at := func(path string) func(string) string { return func(string) string { return path } }
	return []struct {
		name    string
		through through
		cannot  map[fault]string
	}{
		{"body", sent(in(service, "take"), text), intoHTTP},
		{"path", got(func(w string) string { return "/" + service + "-path/" + url.PathEscape(w) }, nil), textIn},
		{"query", got(func(w string) string { return "/" + service + "-query?word=" + url.QueryEscape(w) }, nil), textIn},
		{"header", got(at("/"+service+"-header"), func(w string) string { return "X-Word: " + w }), textIn},
		{"cookie", got(at("/"+service+"-cookie"), func(w string) string { return "Cookie: word=" + w }), textIn},
		{"batch in", batched("take", text), intoHTTP},
		{"stream in, JSON", sent(in(service, "takeAll"), text), intoHTTP},
		{"stream in, NDJSON", sent(in(service, "takeAll"), func(p Payload) string { return text(good()) + "\n" + text(p) + "\n" }, "Content-Type: application/x-ndjson"), intoHTTP},
		{"stream in, NDJSON, for one answer", sent(in(service, "takeAll"), text, "Content-Type: application/x-ndjson", "Accept: application/json"), intoHTTP},
		{"stream in, for SSE", sent(in(service, "takeAll"), text, "Accept: text/event-stream"), intoHTTP},
		{"answer", sent(in(service, "give"), Payload.wanted), fromHTTP},
		{"batch out", batched("give", Payload.wanted), fromHTTP},
		{"stream out, NDJSON", sent(in(service, "giveAll"), Payload.wanted), fromHTTP},
		{"stream out, SSE", sent(in(service, "giveAll"), Payload.wanted, "Accept: text/event-stream"), fromHTTP},
		{"stream out, JSON", sent(in(service, "giveAll"), Payload.wanted, "Accept: application/json"), fromHTTP},
		{"data of an error", sent(in(service, "fail"), Payload.wanted), fromHTTP},
		{"data of an error in a batch", batched("fail", Payload.wanted), fromHTTP},
		{"data of a stream's error", sent(in(service, "failAll"), Payload.wanted), fromHTTP},
	}
}

// httpEntryPoints lists the entry points of the HTTP gateway.
var httpEntryPoints = slices.Concat(ownActionsOverHTTP(), otherActionsOverHTTP(), webSocketEntryPoints, stepEntryPoints(), claimEntryPoints)

// otherActionsOverHTTP lists the entry points of the HTTP gateway to actions of another node.
func otherActionsOverHTTP() (entryPoints []entryPoint) {
	for _, way := range waysOverHTTP("web") {
		entryPoints = append(entryPoints, entryPoint{name: "HTTP/1.1, of another node: " + way.name, open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
			codePath := "mem://isolation-http-" + rand.Text()
			start(t, sabir.NodeID("other"), sabir.Logger(log), sabir.Serve(takesAndGives("web")), sabir.Join(codePath))
			gateway := start(t, sabir.NodeID("gateway"), sabir.Logger(log), sabir.Join(codePath), sabir.HTTP(":0", web.With(web.Config{Forward: []string{"**"}})))
			if err := gateway.WaitFor(t.Context(), "web"); err != nil {
				t.Fatal(err)
			}
			b := engines[0].browse(t, gateway)
			return func(ctx context.Context, p Payload) error { return way.through(ctx, b, p) }
		}, cannot: way.cannot})
	}
	return entryPoints
}

func ownActionsOverHTTP() (entryPoints []entryPoint) {
	for _, e := range engines {
		for _, way := range waysOverHTTP("web") {
			entryPoints = append(entryPoints, entryPoint{name: e.name + ": " + way.name, open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
				b := e.browse(t, start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(takesAndGives("web")), sabir.HTTP(":0")))
				return func(ctx context.Context, p Payload) error { return way.through(ctx, b, p) }
			}, cannot: way.cannot})
		}
	}
	return entryPoints
}

// webSocketEntryPoints are the ways through a WebSocket.
var webSocketEntryPoints = []entryPoint{
	{name: "WebSocket in", open: webSocket("/web/takeAll", text), cannot: intoHTTP},
	{name: "WebSocket out", open: webSocket("/web/giveAll", Payload.wanted), cannot: fromHTTP},
	{name: "data of a WebSocket's error", open: webSocket("/web/failAll", Payload.wanted), cannot: fromHTTP},
}

func webSocket(path string, message func(Payload) string) func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
	return func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		n := start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(takesAndGives("web")), sabir.HTTP(":0"))
		return func(ctx context.Context, p Payload) error {
			conn, buffered, _, err := ws.Dialer{Protocols: []string{"sabir.v1"}}.Dial(ctx, "ws://"+n.HTTPAddr()+path)
			if err != nil {
				return err
			}
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
			for _, m := range []string{`{"value":` + message(p) + `}`, `{"end":true}`} {
				if err := wsutil.WriteClientText(conn, []byte(m)); err != nil {
					break // the node still answers by itself
				}
			}
			return readSocket(conn, buffered)
		}
	}
}

// readSocket reads to the Close and returns the error that came before it.
func readSocket(conn net.Conn, buffered *bufio.Reader) error {
	var from io.Reader = conn
	if buffered != nil {
		from = buffered
	}
	var failed error
	for {
		message, err := wsutil.ReadServerText(struct {
			io.Reader
			io.Writer
		}{from, io.Discard})
		if closed, ok := errors.AsType[wsutil.ClosedError](err); ok {
			if failed == nil && closed.Code != ws.StatusNormalClosure {
				failed = closed
			}
			return failed
		}
		if err != nil {
			return err
		}
		if strings.HasPrefix(string(message), `{"error":`) {
			failed = errors.New(string(message))
		}
	}
}

// word runs the code of a header's Word, as a part of a request that is not a value may do.
func word(x *exchange.Exchange) {
	var w Text
	if err := w.UnmarshalText([]byte(x.Header.Get("X-Word"))); err != nil {
		panic(err)
	}
}

// careless is an authenticator that fails as the request demands.
type careless struct{}

func (careless) Name() string { return "careless" }
func (careless) Scheme() exchange.Scheme {
	return exchange.Scheme{Type: "apiKey", In: "header", Name: "X-Word"}
}
func (careless) Authenticate(x *exchange.Exchange) (*auth.Principal, error) {
	word(x)
	return &auth.Principal{Subject: "somebody"}, nil
}

// stepEntryPoints run before and after the action of a request.
func stepEntryPoints() (entryPoints []entryPoint) {
	before := exchange.Filter{Name: "before", Before: func(x *exchange.Exchange) error { word(x); return nil }}
	after := exchange.Filter{Name: "after", After: word}
	around := sabir.Middleware{Name: "around", Local: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			word(web.ExchangeFromContext(ctx))
			return next(ctx, r)
		}
	}}
	mounted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		new(Text).UnmarshalText([]byte(r.Header.Get("X-Word")))
		io.WriteString(w, "good")
	})
	policy := filter.CORS{Allow: func(origin string) bool {
		var w Text
		w.UnmarshalText([]byte(strings.ReplaceAll(strings.TrimPrefix(origin, "https://"), "-", " ")))
		return true
	}}.Filter()
	said := func(method, path string, headers ...string) through {
		return func(ctx context.Context, b *browser, p Payload) error {
			headers := append(slices.Clone(headers), "X-Word: "+string(p.Text))
			if method != "POST" {
				headers = append(headers, "Origin: https://"+strings.ReplaceAll(string(p.Text), " ", "-"))
			}
			_, err := b.ask(ctx, method, path, "", headers...)
			return err
		}
	}
	take, stream := said("GET", "/web-query?word=good"), said("POST", "/web/takeAll")
	batch := func(ctx context.Context, b *browser, p Payload) error {
		_, err := b.ask(ctx, http.MethodPost, "/batch", "[]", "X-Word: "+string(p.Text))
		return err
	}
	for _, e := range engines {
		for _, way := range []struct {
			name    string
			option  gateway.HTTPOption
			through through
		}{
			{"filter before a call", web.With(web.Config{Filters: web.Filters{before}}), take},
			{"filter behind a call", web.With(web.Config{Filters: web.Filters{after}}), take},
			{"filter of a group", web.With(web.Config{Groups: map[string]web.Config{"/v1": {Filters: web.Filters{before}}}}), said("GET", "/v1/web-query?word=good")},
			{"middleware of the gateway", web.With(web.Config{Use: []sabir.Wrapper{around}}), take},
			{"authenticator", web.With(web.Config{Auth: []auth.Authenticator{careless{}}}), take},
			{"filter before a stream", web.With(web.Config{Filters: web.Filters{before}}), stream},
			{"authenticator of a stream", web.With(web.Config{Auth: []auth.Authenticator{careless{}}}), stream},
			{"filter before a batch", web.With(web.Config{Filters: web.Filters{before}}), batch},
			{"filter before a page", web.With(web.Config{Filters: web.Filters{before}}), said("GET", "/$api")},
			{"callback of CORS, of a call", web.With(web.Config{Filters: web.Filters{policy}}), take},
			{"callback of CORS, of a question before a call", web.With(web.Config{Filters: web.Filters{policy}}), said("OPTIONS", "/web/take", "Access-Control-Request-Method: POST")},
			{"mounted handler", web.With(web.Config{Mount: map[string]http.Handler{"/mounted": mounted}}), said("GET", "/mounted")},
		} {
			entryPoints = append(entryPoints, entryPoint{name: e.name + ": " + way.name, open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
				b := e.browse(t, start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(takesAndGives("web")), sabir.HTTP(":0", way.option)))
				return func(ctx context.Context, p Payload) error { return way.through(ctx, b, p) }
			}, cannot: runs})
		}
	}
	return entryPoints
}

// claimed is an authenticator whose principals have a claim that the request asks for.
type claimed struct{ careless }

func (claimed) Authenticate(x *exchange.Exchange) (*auth.Principal, error) {
	return &auth.Principal{Subject: "somebody", Claims: map[string]any{"payload": made(x.Header.Get("X-Word"))}}, nil
}

// claimEntryPoints are the ways of what is written for others to know, beside inputs and outputs.
var claimEntryPoints = []entryPoint{
	{name: "claims of a principal", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		b := engines[0].browse(t, start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(takesAndGives("web")), sabir.HTTP(":0", web.With(web.Config{Auth: []auth.Authenticator{claimed{}}}))))
		return func(ctx context.Context, p Payload) error {
			_, err := b.ask(ctx, http.MethodGet, "/web-query?word=good", "", "X-Word: "+faultOf(p))
			return err
		}
	}, cannot: fromHTTP},
	{name: "example in the description over HTTP", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		var n *sabir.Node
		var b *browser
		return func(ctx context.Context, p Payload) error {
			s := sabir.NewService("web" + strings.ReplaceAll(faultOf(p), " ", ""))
			sabir.Handle(s, "give", func(context.Context, sabir.Empty) (Payload, error) { return good(), nil }, sabir.Example(sabir.Empty{}, p))
			if n == nil {
				n = start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.HTTP(":0"))
				b = engines[0].browse(t, n)
			}
			if err := n.Add(ctx, s); err != nil {
				return err
			}
			_, err := b.ask(ctx, http.MethodGet, "/$api", "")
			return errors.Join(err, n.Remove(ctx, s))
		}
	}, cannot: but(fromHTTP, "examples are written when the document is made, in a request of its own, as are answers", exitsWritten),
		silent: map[fault]string{panicsWritten: "the document goes without the example", nestsTooDeep: "the document goes without the example"}},
}
