package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

func TestEveryAnswerHasTheStatusThatSaysWhatHappened(t *testing.T) {
	_, base := startShop(t)
	large := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	tests := []struct {
		about        string
		method, path string
		body         string
		headers      []string
		status       int
		name         string // of the error
		says         string // somewhere in the answer
	}{
		{"a call", "POST", "/shop/hello", `{"name":"Ada"}`, nil, 200, "", `{"text":"Hello, Ada"}`},
		{"a charset", "POST", "/shop/hello", `{"name":"Ada"}`, []string{"Content-Type: application/json; charset=UTF-8"}, 200, "", "Ada"},
		{"no body stands for {}", "POST", "/shop/echo", ``, nil, 200, "", "{}"},
		{"a dollar that was encoded", "POST", "/%24node/info", ``, nil, 404, "ActionNotFound", ""},
		{"health", "GET", "/health", "", nil, 200, "", `{"status":"ok"}`},
		{"readiness", "GET", "/ready", "", nil, 200, "", `{"status":"ready"}`},
		{"health without a body", "HEAD", "/health", "", nil, 200, "", ""},
		{"the index", "GET", "/", "", nil, 200, "", `"/shop/hello"`},
		{"the index's methods", "OPTIONS", "/", "", nil, 204, "", ""},
		{"an action's methods", "OPTIONS", "/shop/hello", "", nil, 204, "", ""},

		{"broken rules", "POST", "/shop/hello", `{"name":"","age":200}`, nil, 422, "ValidationFailed", `"pointer":"/age"`},
		{"a wrong type", "POST", "/shop/hello", `{"name":1}`, nil, 400, "BadInput", "want string, got number"},
		{"no JSON", "POST", "/shop/hello", `{"name":`, nil, 400, "BadInput", "ends in the middle"},
		{"not UTF-8", "POST", "/shop/echo", "\"\xff\"", nil, 400, "BadInput", "UTF-8"},
		{"two documents", "POST", "/shop/echo", `{} {}`, nil, 400, "BadInput", "after top-level value"},
		{"only space", "POST", "/shop/echo", ` `, nil, 400, "BadInput", "empty body"},
		{"too deep", "POST", "/shop/echo", deep, nil, 400, "BadInput", "nested deeper than the limit of 128 levels"},
		{"too large", "POST", "/shop/hello", large, nil, 413, "InputTooLarge", "1048576 bytes"},
		{"another type", "POST", "/shop/hello", `name=Ada`, []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "UnsupportedMediaType", "application/json"},
		{"no type", "POST", "/shop/hello", `{"name":"Ada"}`, []string{"Content-Type: "}, 415, "UnsupportedMediaType", "Content-Type: application/json"},
		{"another charset", "POST", "/shop/hello", `{"name":"Ada"}`, []string{"Content-Type: application/json; charset=latin1"}, 415, "UnsupportedMediaType", "UTF-8"},
		{"compressed", "POST", "/shop/hello", `{"name":"Ada"}`, []string{"Content-Encoding: gzip"}, 415, "UnsupportedMediaType", "gzip"},

		{"an unknown action", "POST", "/shop/helo", `{}`, nil, 404, "ActionNotFound", "did you mean /shop/hello"},
		{"an unknown service", "POST", "/shops/hello", `{}`, nil, 404, "ActionNotFound", "/shop/hello"},
		{"a private action", "POST", "/shop/secret", `{}`, nil, 404, "ActionNotFound", `no action has the address \"/shop/secret\"`},
		{"a cluster's action", "POST", "/shop/internal", `{}`, nil, 404, "ActionNotFound", `no action has the address \"/shop/internal\"`},
		{"a private action, asked for its methods", "OPTIONS", "/shop/secret", ``, nil, 404, "ActionNotFound", ""},
		{"dots in a path", "POST", "/shop.hello", `{}`, nil, 404, "ActionNotFound", ""},
		{"a slash too much", "POST", "/shop/hello/", `{}`, nil, 404, "ActionNotFound", ""},
		{"two slashes", "POST", "/shop//hello", `{}`, nil, 404, "ActionNotFound", ""},
		{"an encoded slash", "POST", "/shop%2Fhello", `{}`, nil, 404, "ActionNotFound", ""},
		{"a very long path", "POST", "/" + strings.Repeat("a/", 5000) + "a", `{}`, nil, 404, "ActionNotFound", ""},
		{"another method", "GET", "/shop/hello", ``, nil, 405, "MethodNotAllowed", "POST"},
		{"another method for what is read", "POST", "/health", `{}`, nil, 405, "MethodNotAllowed", "GET"},

		{"an author's error", "POST", "/shop/buy", `{}`, nil, 409, "OutOfStock", `"data":{"left":3}`},
		{"an author's error with data that is no JSON", "POST", "/shop/oddData", `{}`, nil, 409, "OutOfStock", "not enough in stock"},
		{"a limit", "POST", "/shop/busy", `{}`, nil, 429, "Busy", `"retryable":true`},
		{"a plain Go error", "POST", "/shop/fail", `{}`, nil, 500, "HandlerFailed", "internal error"},
		{"a panic", "POST", "/shop/panic", `{}`, nil, 500, "Panic", "internal error"},
		{"an answer that is no JSON", "POST", "/shop/unwritable", `{}`, nil, 500, "BadOutput", "internal error"},
		{"a broken time limit", "POST", "/shop/who", `{}`, []string{"X-Request-Timeout: soon"}, 400, "BadInput", "soon"},
		{"a negative time limit", "POST", "/shop/who", `{}`, []string{"X-Request-Timeout: -1"}, 400, "BadInput", "above zero"},
	}
	for _, test := range tests {
		t.Run(test.about, func(t *testing.T) {
			got := ask(t, test.method, base+test.path, test.body, test.headers...)
			if got.status != test.status {
				t.Fatalf("status %d, want %d: %s", got.status, test.status, got.body)
			}
			if !strings.Contains(got.body, test.says) {
				t.Errorf("the answer does not say %s: %s", test.says, got.body)
			}
			if got.header.Get("X-Request-Id") == "" || got.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("the answer lacks a header: %v", got.header)
			}
			if test.name == "" {
				return
			}
			p := got.problem(t)
			if p.Name != test.name || p.Type != "urn:sabir:error:"+test.name || p.Status != test.status || p.Title == "" || p.Detail != p.Message {
				t.Errorf("the problem is %+v, want %s", p, test.name)
			}
			if p.RequestID != got.header.Get("X-Request-Id") || p.Node != "n1" {
				t.Errorf("the problem tells request %q and node %q", p.RequestID, p.Node)
			}
		})
	}
}

func TestNoAnswerTellsOfActionsThatAreNotPublic(t *testing.T) {
	_, base := startShop(t)
	for _, path := range []string{"/", "/shop/secre", "/shop/secret", "/shop/interna", "/internal", "/shop/nested"} {
		method := http.MethodPost
		if path == "/" {
			method = http.MethodGet
		}
		got := ask(t, method, base+path, "")
		shown := strings.ReplaceAll(got.body, path, "") // what the caller set itself
		if strings.Contains(shown, "secre") || strings.Contains(shown, "internal\"") || strings.Contains(shown, "/internal") {
			t.Errorf("%s tells: %s", path, got.body)
		}
	}
}

func TestWhatAPlainErrorOrAPanicSaidStaysInTheLog(t *testing.T) {
	var log logBuffer
	_, base := startShop(t, logTo(&log))
	for _, action := range []string{"fail", "panic", "wrapped", "late", "unwritable"} {
		got := post(t, base+"/shop/"+action, `{}`, "X-Request-Id: trace-"+action)
		if strings.Contains(got.body, "hunter2") {
			t.Errorf("%s tells the caller: %s", action, got.body)
		}
		if !strings.Contains(log.String(), "trace-"+action) {
			t.Errorf("the log does not know request trace-%s", action)
		}
	}
	if n := strings.Count(log.String(), "hunter2"); n < 5 {
		t.Errorf("the log tells %d of the 5 faults:\n%s", n, log.String())
	}
}

func TestAnErrorThatWrapsAnAuthorsKeepsTheAuthorsMessage(t *testing.T) {
	_, base := startShop(t)
	p := post(t, base+"/shop/wrapped", `{}`).problem(t)
	if p.Name != "OutOfStock" || p.Status != 409 || p.Message != "not enough in stock" {
		t.Errorf("got %+v", p)
	}
}

func TestAnswersDoNotTellWhichOtherNodesACallNeeded(t *testing.T) {
	var log logBuffer
	far, err := Dial("http://127.0.0.1:1", ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	s := sabir.NewService("front")
	sabir.Handle(s, "get", func(ctx context.Context, in nothing) (nothing, error) {
		return sabir.Call[nothing](ctx, sabir.NodeFromContext(ctx), "back.get", in)
	})
	node := start(t, logTo(&log), sabir.Serve(s), sabir.WithUpstream(far), sabir.HTTP(":0"))
	got := post(t, "http://"+node.HTTPAddr()+"/front/get", `{}`)
	if p := got.problem(t); got.status != 503 || p.Retryable || strings.Contains(got.body, "127.0.0.1") || strings.Contains(got.body, "back") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if !strings.Contains(log.String(), "127.0.0.1:1") {
		t.Errorf("the log does not say it either: %s", log.String())
	}
}

func TestAnAuthorsErrorThatWrapsAPlainOneKeepsItsOwnMessage(t *testing.T) {
	s := sabir.NewService("s")
	sabir.Handle(s, "get", func(context.Context, nothing) (nothing, error) {
		return nothing{}, sabir.Errorf(sabir.CodeNotFound, "UserNotFound", "no user has this id: %w", errors.New("no rows"))
	})
	node := start(t, sabir.Serve(s), sabir.HTTP(":0"))
	if p := post(t, "http://"+node.HTTPAddr()+"/s/get", `{}`).problem(t); p.Status != 404 || p.Message != "no user has this id: no rows" {
		t.Errorf("got %+v", p)
	}
}

func TestARefusalReachesACallerWhoIsStillSending(t *testing.T) {
	_, base := startShop(t)
	body := strings.Repeat(" ", 3<<20)
	for path, want := range map[string]int{"/shop/hello": 413, "/shop/nothing": 404} {
		for range 20 {
			if got := post(t, base+path, body); got.status != want {
				t.Fatalf("%s: %d", path, got.status)
			}
		}
	}
}

func TestAMethodThatIsNotAllowedIsAnsweredWithThoseThatAre(t *testing.T) {
	_, base := startShop(t)
	for path, want := range map[string]string{"/shop/hello": "OPTIONS, POST", "/": "GET, HEAD, OPTIONS"} {
		if got := ask(t, "DELETE", base+path, "").header.Get("Allow"); got != want {
			t.Errorf("%s allows %q, want %q", path, got, want)
		}
	}
}

func TestWhereTryingAgainMayHelpTheAnswerSaysWhen(t *testing.T) {
	_, base := startShop(t)
	if got := post(t, base+"/shop/busy", `{}`).header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After is %q", got)
	}
	if got := post(t, base+"/shop/buy", `{}`).header.Get("Retry-After"); got != "" {
		t.Errorf("Retry-After is %q on an error that is not retryable", got)
	}
}

func TestTheIndexListsThePublicActions(t *testing.T) {
	_, base := startShop(t)
	var list index
	if err := json.Unmarshal([]byte(ask(t, "GET", base+"/", "").body), &list); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]indexAction)
	for _, a := range list.Actions {
		names[a.Name] = a
	}
	if got := names["shop.hello"]; got.Path != "/shop/hello" || got.Description != "greets" {
		t.Errorf("shop.hello is listed as %+v", got)
	}
	for _, hidden := range []string{"shop.secret", "shop.internal"} {
		if _, listed := names[hidden]; listed {
			t.Errorf("%s is listed", hidden)
		}
	}
}

func TestANameWithoutVersionReachesTheHighestVersionOverHTTPToo(t *testing.T) {
	versions := func(v int) *sabir.Service {
		s := sabir.NewService("users", sabir.Version(v))
		sabir.Handle(s, "get", func(context.Context, nothing) (int, error) { return v, nil })
		return s
	}
	node := start(t, sabir.Serve(versions(1), versions(2)), sabir.HTTP(":0"))
	for path, want := range map[string]string{"/users/get": "2", "/v1/users/get": "1", "/v2/users/get": "2"} {
		if got := post(t, "http://"+node.HTTPAddr()+path, `{}`); got.body != want {
			t.Errorf("%s answers %s, want %s", path, got.body, want)
		}
	}
}

func TestTheLineOfACallThatFailedNamesItsRequestAndTrace(t *testing.T) {
	var log logBuffer
	s := sabir.NewService("users")
	sabir.Handle(s, "fail", func(context.Context, nothing) (int, error) { return 0, errors.New("the disk is gone") })
	sabir.HandleStream(s, "stream", func(context.Context, *sabir.Stream[nothing, int]) error { return errors.New("the disk is gone") })
	node := start(t, logTo(&log), sabir.Serve(s), sabir.HTTP(":0"))
	for _, action := range []string{"fail", "stream"} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+node.HTTPAddr()+"/users/"+action, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Request-Id", "r-"+action)
		r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if want := "request_id=r-" + action + " trace_id=0af7651916cd43dd8448eb211c80319c"; !strings.Contains(log.String(), want) {
			t.Errorf("%s is not in the log: %s", want, log.String())
		}
	}
}

func TestAFaultOfTheGatewayItselfIsAnsweredAndLogged(t *testing.T) {
	var log logBuffer
	node := start(t, logTo(&log), sabir.Serve(shop()))
	h, err := Handler(node, With(Config{Filters: Filters{exchange.Filter{Name: "faulty", Before: func(*exchange.Exchange) error { panic("oh") }}}}))
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 500 || !strings.Contains(w.Body.String(), `"name":"Panic"`) || !strings.Contains(log.String(), "http panicked") {
		t.Errorf("got %d %s, log %s", w.Code, w.Body.String(), log.String())
	}
}

func TestANilPointerIsAnsweredAsNull(t *testing.T) {
	s := sabir.NewService("notes")
	sabir.Handle(s, "find", func(context.Context, sabir.Empty) (*struct{ Text string }, error) { return nil, nil })
	node := start(t, sabir.Serve(s), sabir.HTTP(":0"))
	if a := post(t, "http://"+node.HTTPAddr()+"/notes/find", `{}`); a.status != http.StatusOK || strings.TrimSpace(a.body) != "null" {
		t.Errorf("got %d %q", a.status, a.body)
	}
}

func TestARefusalDoesNotWaitForTheRestOfALargeBody(t *testing.T) {
	node := start(t, sabir.Serve(shop()), sabir.HTTP(":0"))
	for _, head := range []string{"POST /none HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", "POST /none HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n186A0\r\n"} {
		conn := dialAndAsk(t, node, head+strings.Repeat(" ", 50_000))
		defer conn.Close()
		conn.SetReadDeadline(time.Now().Add(10 * time.Second)) // the time for a body is 30 seconds
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound || !answer.Close {
			t.Errorf("%q: got %d, closes %t", head, answer.StatusCode, answer.Close)
		}
	}
}
