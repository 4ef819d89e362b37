package web

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/validate"
)

// via runs a node that sends its calls to another over HTTP.
func via(t *testing.T, other *sabir.Node) *sabir.Node {
	t.Helper()
	return startAs(t, "caller", sabir.WithUpstream(dialNode(t, other, ClientConfig{})))
}

func TestANodeCallsTheActionsOfAnotherLikeItsOwn(t *testing.T) {
	other, _ := startShop(t)
	node := via(t, other)
	in := helloRequest{Name: "Ada"}
	if out, err := sabir.Call[helloReply](t.Context(), node, "shop.hello", in); err != nil || out.Text != "Hello, Ada" {
		t.Errorf("Call: %v, %v", out, err)
	}
	if out, err := sabir.Bind[helloRequest, helloReply](node, "shop.hello")(t.Context(), in); err != nil || out.Text != "Hello, Ada" {
		t.Errorf("Bind: %v, %v", out, err)
	}
	if out, err := sabir.CallJSON(t.Context(), node, "shop.hello", []byte(`{"name":"Ada"}`)); err != nil || string(out) != `{"text":"Hello, Ada"}` {
		t.Errorf("CallJSON: %s, %v", out, err)
	}
	if out, err := sabir.CallJSON(t.Context(), node, "shop.echo", nil); err != nil || string(out) != `{}` {
		t.Errorf("CallJSON without input: %s, %v", out, err)
	}
	var first, second helloReply
	err := sabir.All(t.Context(), node, sabir.Into(&first, "shop.hello", in), sabir.Into(&second, "shop.buy", in))
	if first.Text != "Hello, Ada" || !errors.Is(err, errOutOfStock) {
		t.Errorf("All: %v, %v", first, err)
	}
}

func TestErrorsAreTheSameOnTheCallersSide(t *testing.T) {
	other, _ := startShop(t)
	node := via(t, other)
	tests := []struct {
		action    string
		want      *sabir.Error
		retryable bool
	}{
		{"shop.buy", errOutOfStock, false},
		{"shop.hello", sabir.ErrValidationFailed, false},
		{"shop.panic", sabir.ErrPanic, false},
		{"shop.helo", sabir.ErrActionNotFound, false},
		{"shop.secret", sabir.ErrActionNotFound, false},
		{"shop.fail", sabir.NewError(sabir.CodeUnknown, "HandlerFailed", ""), false},
		{"shop.busy", sabir.NewError(sabir.CodeResourceExhausted, "Busy", "").AsRetryable(), true},
	}
	for _, test := range tests {
		_, err := sabir.Call[nothing](t.Context(), node, test.action, nothing{})
		e, ok := errors.AsType[*sabir.Error](err)
		if !ok || !errors.Is(err, test.want) || e.Retryable != test.retryable || e.Node != "n1" || e.Message == "" {
			t.Errorf("%s: %+v, want %v", test.action, e, test.want)
		}
	}
}

func TestTheDataOfAnErrorCanBeReadBackIntoItsType(t *testing.T) {
	other, _ := startShop(t)
	node := via(t, other)
	_, err := sabir.Call[helloReply](t.Context(), node, "shop.hello", helloRequest{Age: 200})
	fields, dataErr := sabir.DataAs[validate.Errors](sabir.AsError(err))
	if dataErr != nil || len(fields) != 2 || fields[0].Path != "name" || fields[0].Rule != "required" || fields[1].Pointer != "/age" || fields[1].Param != "150" {
		t.Errorf("%v: %+v", dataErr, fields)
	}
	_, err = sabir.Call[nothing](t.Context(), node, "shop.buy", nothing{})
	if left, dataErr := sabir.DataAs[map[string]int](sabir.AsError(err)); dataErr != nil || left["left"] != 3 {
		t.Errorf("%v: %v", dataErr, left)
	}
}

func TestTheContextTravelsWithTheCall(t *testing.T) {
	other, _ := startShop(t)
	node := via(t, other)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ctx = sabir.WithMetadata(sabir.WithMetadata(sabir.WithRequestID(ctx, "order-7"), "tenant", "acme"), "userID", "größer 7%")
	got, err := sabir.Call[whoReply](ctx, node, "shop.who", nothing{})
	if err != nil || got.Request != "order-7" || got.Metadata["tenant"] != "acme" || got.Metadata["userID"] != "größer 7%" || got.Left > 20 || got.Left < 10 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestMetadataThatHTTPCannotCarryIsAnErrorNotALoss(t *testing.T) {
	other, _ := startShop(t)
	client := dialNode(t, other, ClientConfig{})
	for _, value := range []string{"a\r\nX-Evil: 1", " outer", "\x00"} {
		_, err := client.Call(sabir.WithMetadata(t.Context(), "k", value), "shop.who", nil)
		if !errors.Is(err, sabir.ErrBadInput) || !strings.Contains(err.Error(), `the metadata "k"`) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func TestACallOverHTTPEndsAtItsDeadline(t *testing.T) {
	g := newGated(t)
	other := start(t, sabir.Serve(g.service), sabir.HTTP(":0"))
	node := via(t, other)
	for limit := 30 * time.Millisecond; len(g.entered) == 0; limit *= 2 { // until there is time enough for the call to come there
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := sabir.Call[string](ctx, node, "slow.work", nothing{})
		cancel()
		if !errors.Is(err, sabir.ErrDeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("by the context: %v", err)
		}
	}
	_, err := sabir.Call[string](t.Context(), node, "slow.work", nothing{}, sabir.WithTimeout(30*time.Millisecond))
	if !errors.Is(err, sabir.ErrDeadlineExceeded) {
		t.Errorf("by the option: %v", err)
	}
}

func TestACancelledCallIsCancelledOnTheOtherSide(t *testing.T) {
	g := newGated(t)
	other := start(t, sabir.Serve(g.service), sabir.HTTP(":0"))
	node := via(t, other)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-g.entered
		cancel()
	}()
	if _, err := sabir.Call[nothing](ctx, node, "slow.patient", nothing{}); !errors.Is(err, sabir.ErrCanceled) {
		t.Errorf("the caller: %v", err)
	}
	if err := <-g.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler: %v", err)
	}
}

func TestACallThatReachesNoNodeIsRetryable(t *testing.T) {
	const addr = "127.0.0.1:1" // which no socket is given, unlike a port that was just closed
	client, err := Dial("http://"+addr, ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = client.Call(t.Context(), "shop.hello", nil)
	if e := sabir.AsError(err); !errors.Is(err, sabir.ErrServiceUnavailable) || !e.Retryable || !strings.Contains(e.Message, addr) || !strings.Contains(e.Message, "refused") {
		t.Errorf("%+v", e)
	}
	if err := client.Ready(t.Context()); !errors.Is(err, sabir.ErrServiceUnavailable) {
		t.Errorf("Ready: %v", err)
	}
}

func TestACallWhoseConnectionBreaksIsNotRetryableBecauseItMayHaveRun(t *testing.T) {
	for about, half := range map[string]string{
		"before the answer":   "",
		"in its headers":      "HTTP/1.1 200 OK\r\nContent-",
		"in its body":         "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{",
		"in a chunk":          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{",
		"with no HTTP at all": "hello\r\n\r\n",
	} {
		client := dialFake(t, func(c net.Conn) { io.WriteString(c, half) })
		_, err := client.Call(t.Context(), "shop.hello", nil)
		if e := sabir.AsError(err); !errors.Is(err, sabir.ErrServiceUnavailable) || e.Retryable {
			t.Errorf("%s: %+v", about, e)
		}
	}
}

// dialFake makes a client of a server that reads a request's headers, sends answer, and closes.
func dialFake(t *testing.T, answer func(net.Conn)) *Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 4096)
			c.Read(buf)
			answer(c)
			c.Close()
		}
	}()
	client, err := Dial(l.Addr().String(), ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		l.Close()
		<-done
	})
	return client
}

func TestAServerThatIsNoNodeIsRecognized(t *testing.T) {
	problemOf := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(404)
			io.WriteString(w, text)
		}
	}
	page := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			io.WriteString(w, "<html>")
		}
	}
	tests := []struct {
		about     string
		server    http.HandlerFunc
		code      sabir.Code
		name      string
		retryable bool
	}{
		{"a page", page(200), sabir.CodeUnknown, "NotANode", false},
		{"a redirection", page(302), sabir.CodeUnknown, "NotANode", false},
		{"a proxy without its node", page(502), sabir.CodeUnavailable, "NotANode", false},
		{"a proxy that gave up", page(504), sabir.CodeDeadlineExceeded, "NotANode", false},
		{"a proxy that limits", page(429), sabir.CodeResourceExhausted, "NotANode", true},
		{"another server's 404", page(404), sabir.CodeNotFound, "NotANode", false},
		{"another server's problem", problemOf(`{"title":"Gone fishing","detail":"no such fish"}`), sabir.CodeNotFound, "", false},
		{"a problem of an unknown code", problemOf(`{"code":"Sleepy","name":"Nap","message":"later","retryable":true}`), sabir.CodeNotFound, "Nap", true},
		{"an error that says OK", problemOf(`{"code":"OK","name":"Odd","message":"well"}`), sabir.CodeNotFound, "Odd", false},
		{"a broken problem", problemOf(`{"code":`), sabir.CodeNotFound, "NotANode", false},
	}
	for _, test := range tests {
		t.Run(test.about, func(t *testing.T) {
			server := httptest.NewServer(test.server)
			defer server.Close()
			client, err := Dial(server.URL, ClientConfig{})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			_, err = client.Call(t.Context(), "shop.hello", nil)
			e := sabir.AsError(err)
			if e == nil || e.Code != test.code || e.Name != test.name || e.Retryable != test.retryable || e.Message == "" {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestAnAnswerOverTheLimitIsAnError(t *testing.T) {
	other, _ := startShop(t)
	for length, ok := range map[int]bool{90: true, 100: true, 101: false, 5000: false} {
		client := dialNode(t, other, ClientConfig{MaxAnswer: 100})
		body := `"` + strings.Repeat("x", length-2) + `"`
		out, err := client.Call(t.Context(), "shop.echo", []byte(body))
		if (err == nil) != ok || ok && string(out) != body {
			t.Errorf("%d bytes: %v", length, err)
		}
		if !ok && !strings.Contains(err.Error(), "limit of 100 bytes") {
			t.Error(err)
		}
	}
}

func TestAnAnswerThatDoesNotFitTheCallersTypeIsAnError(t *testing.T) {
	other, _ := startShop(t)
	_, err := sabir.Call[int](t.Context(), via(t, other), "shop.hello", helloRequest{Name: "Ada"})
	if e := sabir.AsError(err); e == nil || e.Name != "BadOutput" || e.Code != sabir.CodeInternal {
		t.Errorf("%+v", e)
	}
}

func TestTheKeyOpensANodeThatWantsOne(t *testing.T) {
	other := start(t, sabir.Serve(shop()), sabir.HTTP(":0", gateway.Key(goodKey)))
	if _, err := dialNode(t, other, ClientConfig{Key: secret.New(goodKey)}).Call(t.Context(), "shop.echo", nil); err != nil {
		t.Error(err)
	}
	_, err := dialNode(t, other, ClientConfig{}).Call(t.Context(), "shop.echo", nil)
	if !errors.Is(err, sabir.NewError(sabir.CodeUnauthenticated, errname.BadKey, "")) {
		t.Errorf("without: %v", err)
	}
	if err := dialNode(t, other, ClientConfig{}).Ready(t.Context()); err != nil {
		t.Errorf("readiness: %v", err)
	}
}

func TestNamesThatAreNoActionsAreNotSent(t *testing.T) {
	client := dialFake(t, func(net.Conn) { t.Error("something was sent") })
	for _, name := range []string{"", ".", "a.", ".a", "a..b", "a/b", "../x", "a b", "a?b=c", "a#b", "a%2Fb", "a.$b", "größe", strings.Repeat("a", 600)} {
		if _, err := client.Call(t.Context(), name, nil); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadName", "")) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestDialTellsWhatIsWrongWithAnAddress(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:3000": "http://127.0.0.1:3000", "127.0.0.1:3000": "http://127.0.0.1:3000", ":3000": "http://127.0.0.1:3000",
		"https://api.example/": "https://api.example", "http://api.example/sabir/": "http://api.example/sabir", "localhost:3000": "http://localhost:3000",
	} {
		client, err := Dial(url, ClientConfig{})
		if err != nil || client.Name() != want {
			t.Errorf("%q: %v, want %s", url, err, want)
		}
	}
	for url, says := range map[string]string{
		"": "no host", "http://": "no host", "tcp://:7700": "http:// or https://", "http://a:b@c": "web.ClientConfig", "http://c?key=1": "query", "http://[": "not a URL", "http://c:port": "not a URL",
	} {
		_, err := Dial(url, ClientConfig{})
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "a:b@") {
			t.Errorf("%q: %v, want an error about %s", url, err, says)
		}
	}
	if _, err := Dial(":3000", ClientConfig{Key: secret.New("with\nbreak")}); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("a broken key: %v", err)
	}
}

func TestABaseURLMayHaveAPath(t *testing.T) {
	_, base := startShop(t)
	target := strings.TrimPrefix(base, "http://")
	proxy := httptest.NewServer(http.StripPrefix("/api/v7", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := post(t, "http://"+target+r.URL.Path, `{"name":"Ada"}`)
		w.Header().Set("Content-Type", got.header.Get("Content-Type"))
		w.WriteHeader(got.status)
		io.WriteString(w, got.body)
	})))
	defer proxy.Close()
	client, err := Dial(proxy.URL+"/api/v7/", ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if out, err := client.Call(t.Context(), "shop.hello", []byte(`{"name":"Ada"}`)); err != nil || string(out) != `{"text":"Hello, Ada"}` {
		t.Errorf("%s, %v", out, err)
	}
}

func TestAClientGivesAConnectionUpThatCarriesNothingAnyMore(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, "{}")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	between := brokers.NewForwarder(t, server.Listener.Addr().String())
	client, err := Dial("https://"+between.Addr(), ClientConfig{TLS: &tls.Config{InsecureSkipVerify: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	call := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Call(ctx, "shop.hello", nil)
		return err
	}
	if err := call(); err != nil {
		t.Fatal(err)
	}
	between.Silence()
	begun := time.Now()
	for err := call(); err != nil; err = call() {
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("the node is there, and has not been called on a new connection for %v: %v", time.Since(begun), err)
		}
	}
	t.Logf("answered again after %v", time.Since(begun))
}
