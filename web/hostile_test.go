package web

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/httpstream"
	"github.com/sabir-go/sabir/web/auth"
)

// world is a node with all that a server can have, for hostile clients. It counts what ran.
type world struct {
	*sabir.Node
	server *server
	base   string
	hidden atomic.Int64 // runs of actions that no request may reach
	log    logBuffer

	mu   sync.Mutex
	runs []string // the words that h.say was called with
}

type sayIn struct {
	Word string `json:"word"`
}

type findIn struct {
	ID    int      `json:"id" validate:"gte=0"`
	Path  string   `json:"path"`
	Tags  []string `json:"tags" query:"tag"`
	Agent string   `json:"agent" header:"X-Agent"`
	Seat  string   `json:"seat" cookie:"seat"`
}

// settle changes a server before it starts.
type settle func(*server)

// worldOf runs such a node for the length of a test.
func worldOf(tb testing.TB, change settle, services ...sabir.Servable) *world {
	tb.Helper()
	w := new(world)
	s := sabir.NewService("h")
	sabir.Handle(s, "any", func(_ context.Context, in any) (any, error) { return in, nil })
	sabir.Handle(s, "say", func(_ context.Context, in sayIn) (sayIn, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.runs = append(w.runs, in.Word)
		return in, nil
	}, sabir.Route("GET", "/say/{word}"), sabir.Route("POST", "/say"))
	sabir.Handle(s, "find", func(_ context.Context, in findIn) (findIn, error) { return in, nil }, sabir.Route("GET", "/find/{id}"), sabir.Route("PUT", "/find/{id}"))
	sabir.Handle(s, "rest", func(_ context.Context, in findIn) (string, error) { return in.Path, nil }, sabir.Route("GET", "/rest/{path...}"))
	sabir.Handle(s, "meta", func(ctx context.Context, _ nothing) (map[string]string, error) {
		return sabir.InfoFromContext(ctx).Metadata, nil
	})
	hide := func(context.Context, any) (nothing, error) { w.hidden.Add(1); return nothing{}, nil }
	sabir.Handle(s, "secret", hide, sabir.NodeOnly())
	sabir.Handle(s, "inside", hide, sabir.ClusterOnly())
	locked := sabir.NewService("locked")
	sabir.Handle(locked, "open", hide, sabir.Route("GET", "/doors/{id}"), sabir.Route("POST", "/doors"))
	files := fstest.MapFS{"index.html": {Data: []byte("home")}, "a.txt": {Data: []byte("file a")}, "sub/index.html": {Data: []byte("sub")},
		".git/config": {Data: []byte("hunter2")}, ".env": {Data: []byte("hunter2")}, ".well-known/security.txt": {Data: []byte("contact")}}
	options := []gateway.HTTPOption{
		With(Config{Filters: Filters{allowing("https://app.example")}, Groups: map[string]Config{"/locked-away": {Services: []string{"locked"}, Auth: []auth.Authenticator{&auth.Key{Keys: map[string]auth.Principal{"key-of-nobody-0123456789": {Subject: "nobody"}}}}}}, Events: []string{"orders.*"}, Mount: map[string]http.Handler{"/files": Static(files), "/old": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "old %q", r.URL.Path) })}}),
	}
	w.Node = start(tb, logTo(&w.log), sabir.Serve(append(services, s, locked)...), sabir.WithGateway(func(n *sabir.Node) (gateway.Gateway, error) {
		config := httpaccess.Config{Addr: ":0"}
		for _, o := range options {
			o(&config)
		}
		f, err := newServer(n, config)
		if err == nil && change != nil {
			change(f)
		}
		w.server = f
		return f, err
	}))
	w.base = "http://" + w.HTTPAddr()
	tb.Cleanup(func() {
		if n := w.hidden.Load(); n != 0 {
			tb.Errorf("actions that nobody may reach ran %d times", n)
		}
	})
	return w
}

// said returns the words that h.say was called with since the last call of said.
func (w *world) said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.runs
	w.runs = nil
	return list
}

// alive calls an action, and expects its answer.
func (w *world) alive(t testing.TB) {
	t.Helper()
	if got := post(t, w.base+"/h/any", `"alive"`); got.status != 200 || got.body != `"alive"` {
		t.Errorf("the node answers others with %d %s", got.status, got.body)
	}
}

// fast sets limits that a test can wait for, and that a request which comes at once keeps on a busy machine too.
func fast(f *server) {
	const limit = time.Second
	l := &f.settings.limits
	l.readHeaders, l.readBody, l.write, l.idle = limit, limit, limit, limit
	f.streams = httpstream.New(f.node, httpstream.Limits{Write: limit, Read: limit})
}

// wire is one raw connection.
type wire struct {
	*net.TCPConn
	r *bufio.Reader
}

func wireTo(tb testing.TB, addr string) *wire {
	tb.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(waitLimit))
	return &wire{c.(*net.TCPConn), bufio.NewReader(c)}
}

// next reads one answer; the error reports why there is none.
func (w *wire) next(method string) (answer, error) {
	response, err := http.ReadResponse(w.r, &http.Request{Method: method})
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(body)}, err
}

// all sends a request and reads answers until the connection ends.
func (w *wire) all(request string) (answers []answer, err error) {
	go func() {
		io.WriteString(w, request)
		w.CloseWrite()
	}()
	for {
		if _, err := w.r.Peek(1); err == io.EOF || err != nil && strings.Contains(err.Error(), "reset") {
			return answers, nil
		}
		got, err := w.next("POST")
		if err != nil {
			return answers, fmt.Errorf("half an answer behind %d whole ones: %w", len(answers), err)
		}
		answers = append(answers, got)
	}
}

// saying is a request that lets h.say run with the word.
func saying(word string, headers ...string) string {
	body := `{"word":"` + word + `"}`
	return fmt.Sprintf("POST /h/say HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s", len(body), strings.Join(headers, ""), body)
}

const (
	sayHead   = "POST /h/say HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	outerBody = `{"word":"outer"}`
	outerChop = "10\r\n" + outerBody + "\r\n0\r\n\r\n"
)

// smuggled is the text that an attacker wants to be taken for a request of its own, and for one of another client.
var smuggled = "POST /h/secret HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}" + saying("smuggled")

// smuggling is the classic forms: two ways to state where a body ends, or a head, of which proxies and servers pick one each.
// Where one reading is allowed besides a refusal, want has the words of its h.say.
var smuggling = map[string]struct {
	request string
	want    []string
}{
	"two lengths":                       {sayHead + "Content-Length: 16\r\nContent-Length: 0\r\n\r\n" + outerBody + smuggled, nil},
	"two lengths, alike":                {sayHead + "Content-Length: 16\r\nContent-Length: 16\r\n\r\n" + outerBody, nil},
	"two lengths in one":                {sayHead + "Content-Length: 16, 0\r\n\r\n" + outerBody + smuggled, nil},
	"a length with a plus":              {sayHead + "Content-Length: +16\r\n\r\n" + outerBody + smuggled, nil},
	"a length in hexadecimal":           {sayHead + "Content-Length: 0x10\r\n\r\n" + outerBody + smuggled, nil},
	"a length with an underscore":       {sayHead + "Content-Length: 1_6\r\n\r\n" + outerBody + smuggled, nil},
	"a length with a fraction":          {sayHead + "Content-Length: 16.0\r\n\r\n" + outerBody + smuggled, nil},
	"a length that overflows":           {sayHead + "Content-Length: 18446744073709551632\r\n\r\n" + outerBody + smuggled, nil},
	"an empty length":                   {sayHead + "Content-Length: \r\n\r\n" + outerBody + smuggled, nil},
	"a length with a tab inside":        {sayHead + "Content-Length: 1\t6\r\n\r\n" + outerBody + smuggled, nil},
	"a length with a NUL":               {sayHead + "Content-Length: 16\x00\r\n\r\n" + outerBody + smuggled, nil},
	"a length before chunks":            {sayHead + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + outerChop + smuggled, nil},
	"chunks before a length":            {sayHead + "Transfer-Encoding: chunked\r\nContent-Length: 400\r\n\r\n" + outerChop + smuggled, nil},
	"a space before the colon":          {sayHead + "Content-Length : 16\r\n\r\n" + outerBody + smuggled, nil},
	"a folded length":                   {sayHead + "Content-Length:\r\n 16\r\n\r\n" + outerBody, nil},
	"an underscore for the dash":        {sayHead + "Content_Length: 400\r\nContent-Length: 16\r\n\r\n" + outerBody, nil},
	"a length behind a bare CR":         {sayHead + "X: y\rContent-Length: 16\r\n\r\n" + outerBody + smuggled, nil},
	"a length behind a NUL":             {sayHead + "X: y\x00Content-Length: 16\r\n\r\n" + outerBody + smuggled, nil},
	"chunks of another coding":          {sayHead + "Transfer-Encoding: identity\r\nContent-Length: 16\r\n\r\n" + outerBody + smuggled, nil},
	"chunks twice":                      {sayHead + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + outerChop + smuggled, nil},
	"chunks, then identity":             {sayHead + "Transfer-Encoding: chunked, identity\r\n\r\n" + outerChop + smuggled, nil},
	"chunks, spelt with a vertical tab": {sayHead + "Transfer-Encoding: \x0bchunked\r\nContent-Length: 16\r\n\r\n" + outerBody + smuggled, nil},
	"chunks, spelt xchunked":            {sayHead + "Transfer-Encoding: xchunked\r\nContent-Length: 16\r\n\r\n" + outerBody + smuggled, nil},
	"chunks, with a space in the name":  {sayHead + "Transfer-Encoding : chunked\r\nContent-Length: 16\r\n\r\n" + outerBody + smuggled, nil},
	"chunks, behind a bare LF":          {sayHead + "X: y\nTransfer-Encoding: chunked\r\nContent-Length: 16\r\n\r\n" + outerChop, nil},
	"a chunk size with a plus":          {sayHead + "Transfer-Encoding: chunked\r\n\r\n+10\r\n" + outerBody + "\r\n0\r\n\r\n" + smuggled, nil},
	"a chunk size of 0x10":              {sayHead + "Transfer-Encoding: chunked\r\n\r\n0x10\r\n" + outerBody + "\r\n0\r\n\r\n" + smuggled, nil},
	"a chunk size that overflows":       {sayHead + "Transfer-Encoding: chunked\r\n\r\n10000000000000010\r\n" + outerBody + "\r\n0\r\n\r\n" + smuggled, nil},
	"a chunk that is shorter":           {sayHead + "Transfer-Encoding: chunked\r\n\r\n0f\r\n" + outerBody + "\r\n0\r\n\r\n" + smuggled, nil},
	"a chunk without its line's end":    {sayHead + "Transfer-Encoding: chunked\r\n\r\n10\r\n" + outerBody + "0\r\n\r\n" + smuggled, nil},
	"an extension behind a bare LF":     {sayHead + "Transfer-Encoding: chunked\r\n\r\n10;a\nb\r\n" + outerBody + "\r\n0\r\n\r\n" + smuggled, nil},
	"an extension behind a bare CR":     {sayHead + "Transfer-Encoding: chunked\r\n\r\n10;a\rb\r\n" + outerBody + "\r\n0\r\n\r\n" + smuggled, nil},
	"a huge extension":                  {sayHead + "Transfer-Encoding: chunked\r\n\r\n10;" + strings.Repeat("a", 64<<10) + "\r\n" + outerBody + "\r\n0\r\n\r\n" + smuggled, nil},
	"a trailer that is a length":        {sayHead + "Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n" + outerBody + "\r\n0\r\nContent-Length: 400\r\n\r\n", nil},
	"two hosts":                         {sayHead + "Host: other.localhost\r\nContent-Length: 16\r\n\r\n" + outerBody + smuggled, nil},
	"a host with a path":                {"POST /h/say HTTP/1.1\r\nHost: localhost/h/secret\r\nContent-Length: 0\r\n\r\n" + smuggled, nil},
	"a target with a space":             {"POST /h/say /h/secret HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n" + smuggled, nil},
	"a target with a line's end":        {"POST /h/say\r\nHost: localhost HTTP/1.1\r\n\r\n" + smuggled, nil},
	"HTTP/0.9":                          {"GET /say/outer\r\n\r\n" + smuggled, nil},
	"HTTP/1.2":                          {strings.Replace(saying("outer"), "HTTP/1.1", "HTTP/1.2", 1), nil},
	"HTTP/1.10":                         {strings.Replace(saying("outer"), "HTTP/1.1", "HTTP/1.10", 1) + smuggled, nil},
	"lower-case http/1.1":               {strings.Replace(saying("outer"), "HTTP/1.1", "http/1.1", 1) + smuggled, nil},
	"chunks in HTTP/1.0":                {strings.Replace(sayHead, "HTTP/1.1", "HTTP/1.0", 1) + "Transfer-Encoding: chunked\r\nContent-Length: 16\r\nConnection: keep-alive\r\n\r\n" + outerChop + smuggled, nil},
	"a preface of h2c behind it":        {saying("outer", "Connection: Upgrade, HTTP2-Settings\r\n", "Upgrade: h2c\r\n", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n") + "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []string{"outer"}},
	"a length that a connection hides":  {sayHead + "Connection: Content-Length\r\nContent-Length: 16\r\n\r\n" + outerBody, nil},
}

// A body never becomes a request: what an attacker hides in one, or behind one whose end is stated in two ways, runs nothing,
// alone and between other requests of the connection. (h.secret is checked when the test ends.)
func TestNoSmuggledRequestIsTakenForOne(t *testing.T) {
	w := worldOf(t, nil)
	wanted := make(map[string]bool) // the words of earlier requests: net/http may have answered before their handlers ran
	for about, test := range smuggling {
		for _, before := range []string{"", "before"} {
			outer := fmt.Sprintf("o%04d", len(wanted)) // as long as the word it replaces
			request := strings.ReplaceAll(test.request, "outer", outer)
			var want []string
			for _, word := range test.want {
				want = append(want, strings.ReplaceAll(word, "outer", outer))
			}
			wanted[outer] = want != nil
			if before != "" {
				request = saying(before) + request
			}
			answers, err := wireTo(t, w.HTTPAddr()).all(request)
			said := slices.DeleteFunc(w.said(), func(word string) bool { return word != outer && wanted[word] })
			if before != "" {
				if len(said) == 0 || said[0] != before || len(answers) == 0 || answers[0].body != `{"word":"before"}` {
					t.Errorf("%s: the request before it was answered with %v", about, answers)
					continue
				}
				said, answers = said[1:], answers[1:]
			}
			switch {
			case err != nil:
				t.Errorf("%s: %v", about, err)
			case slices.Contains(said, "smuggled"):
				t.Errorf("%s: the hidden request ran: %q", about, said)
			case len(said) > 0 && !slices.Equal(said, want):
				t.Errorf("%s: %q ran", about, said)
			case len(said) == 0 && len(answers) > 0 && (answers[0].status < 400 || answers[0].status >= 600 || answers[0].status == 500):
				t.Errorf("%s: answered with %d", about, answers[0].status)
			case len(said) > 0 && len(answers) > 0 && answers[0].status == 499: // net/http takes a closed half for a lost caller
			case len(said) > 0 && (len(answers) == 0 || answers[0].body != `{"word":"`+said[0]+`"}`):
				t.Errorf("%s: %q ran, and the answers are %v", about, said, answers)
			}
		}
	}
}

// A proxy of net/http in front, which uses its connections again, hands on what it understood: another caller's request on
// the same connection is answered as what it is.
func TestBehindAProxyEveryCallerGetsItsOwnAnswer(t *testing.T) {
	w := worldOf(t, nil)
	to, _ := url.Parse(w.base)
	transport := &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	var passed sync.Map // the bodies that the proxy read as those of requests of their own
	front := httptest.NewServer(&httputil.ReverseProxy{Transport: transport, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(502) },
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			body, err := io.ReadAll(r.In.Body)
			if err == nil {
				err = io.EOF
				passed.Store(string(body), true)
			}
			r.Out.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), iotest.ErrReader(err)))
		}})
	defer front.Close()
	addr := front.Listener.Addr().String()
	for about, test := range smuggling {
		passed.Clear()
		attacker := wireTo(t, addr)
		attacker.all(test.request)
		attacker.Close()
		victim := wireTo(t, addr)
		io.WriteString(victim, saying("victim"))
		got, err := victim.next("POST")
		victim.Close()
		// What the proxy read as a request of the attacker's own may run, even when the attacker has gone.
		said := slices.DeleteFunc(w.said(), func(word string) bool {
			_, openly := passed.Load(`{"word":"` + word + `"}`)
			return word == "outer" || word == "smuggled" && openly
		})
		if err != nil || got.status != 200 || got.body != `{"word":"victim"}` || !slices.Equal(said, []string{"victim"}) {
			t.Errorf("behind %s another caller got %d %q, %v, and %q ran", about, got.status, got.body, err, said)
		}
	}
}

func TestHeadersThatWouldChangeTheMethodOrThePathCountForNothing(t *testing.T) {
	w := worldOf(t, nil)
	for _, header := range []string{"X-HTTP-Method-Override: POST", "X-HTTP-Method: POST", "X-Method-Override: POST", "X-Original-URL: /h/secret", "X-Rewrite-URL: /h/secret",
		"X-Forwarded-Prefix: /h/secret", "X-Forwarded-Uri: /h/secret", "X-Forwarded-Method: POST", "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example"} {
		if got := ask(t, "GET", w.base+"/h/say?_method=POST", "", header); got.status != 405 {
			t.Errorf("%s: GET is answered with %d", header, got.status)
		}
		if got := post(t, w.base+"/h/say?word=query", `{"word":"body"}`, header); got.status != 200 || got.body != `{"word":"body"}` || strings.Contains(fmt.Sprint(got.header), "evil") {
			t.Errorf("%s: POST is answered with %d %s", header, got.status, got.body)
		}
	}
	if said := w.said(); slices.Contains(said, "query") || slices.Contains(said, "") {
		t.Errorf("%q ran", said)
	}
}

func TestTheHostIsTheOneThatTheTargetNames(t *testing.T) {
	w := worldOf(t, nil)
	for about, test := range map[string]struct {
		head   string
		status int
	}{
		"an absolute target of another host":        {"POST http://evil.example/h/any HTTP/1.1\r\nHost: localhost\r\n", 403},
		"an absolute target of this host":           {"POST http://localhost/h/any HTTP/1.1\r\nHost: localhost\r\n", 200},
		"a user before the host":                    {"POST http://localhost@evil.example/h/any HTTP/1.1\r\nHost: localhost\r\n", 403},
		"a host with a user":                        {"POST /h/any HTTP/1.1\r\nHost: localhost@evil.example\r\n", 403},
		"a host with a comma":                       {"POST /h/any HTTP/1.1\r\nHost: localhost,evil.example\r\n", 403},
		"a host that looks like a number of octets": {"POST /h/any HTTP/1.1\r\nHost: 127.0.0.1.nip.io\r\n", 403},
		"a host in another notation":                {"POST /h/any HTTP/1.1\r\nHost: 2130706433\r\n", 403},
		"a host with a second port":                 {"POST /h/any HTTP/1.1\r\nHost: localhost:80:evil.example\r\n", 403},
	} {
		c := wireTo(t, w.HTTPAddr())
		io.WriteString(c, test.head+"Content-Length: 0\r\nConnection: close\r\n\r\n")
		got, err := c.next("POST")
		if err != nil || got.status != test.status && got.status != 400 {
			t.Errorf("%s: %d %s, %v, want %d", about, got.status, got.body, err, test.status)
		}
	}
}

func TestABatchCannotCallWhatIsNoAction(t *testing.T) {
	w := worldOf(t, nil)
	for _, action := range []string{"batch", "", ".", "..", "h", "h.secret", "h.inside", "h/secret", "h..secret", "locked.open", "health", "$api", "events", "files", "v1.h.say",
		"%24node.info", "h.say?word=x", "h.say#", "h.say\\u0000", "find.1", "locked-away.locked.open", "locked-away", "locked-away.batch"} {
		for _, path := range []string{"/batch", "/locked-away/batch"} {
			got := post(t, w.base+path, `[{"action":"`+action+`","input":{}}]`)
			switch {
			case path == "/batch" && got.status == 200 && !strings.HasPrefix(got.body, `[{"status":404,`) && !strings.HasPrefix(got.body, `[{"status":401,`):
				t.Errorf("%q in %s: %d %s", action, path, got.status, got.body)
			case path != "/batch" && got.status != 401 && !strings.HasPrefix(got.body, `[{"status":40`):
				t.Errorf("%q in %s: %d %s", action, path, got.status, got.body)
			}
		}
	}
	w.alive(t)
}
