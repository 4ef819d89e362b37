package trpc_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/trpc"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/filter"
)

func get(path, input string) string { return path + "?input=" + url.QueryEscape(input) }

func TestACallIsAnsweredInTheFormOfTRPC(t *testing.T) {
	base := startOrders(t)
	for _, test := range []struct {
		about, method, path, body string
		status                    int
		answer                    string
	}{
		{"a query", "GET", get("orders.get", `{"id":"o-1"}`), "", 200, `{"result":{"data":{"id":"o-1"}}}`},
		{"a query with POST", "POST", "orders.get", `{"id":"o-1"}`, 200, `{"result":{"data":{"id":"o-1"}}}`},
		{"a query without input", "GET", "orders.list", "", 200, `{"result":{"data":[{"id":"o-1"}]}}`},
		{"a mutation", "POST", "orders.create", `{"id":"o-2","count":3}`, 200, `{"result":{"data":{"id":"o-2","count":3}}}`},
		{"a mutation without input and output", "POST", "orders.touch", "", 200, `{"result":{}}`},
		{"a mutation with GET", "GET", "orders.touch", "", 405,
			`{"error":{"message":"orders.touch is a mutation: use POST","code":-32005,"data":{"code":"METHOD_NOT_SUPPORTED","httpStatus":405,"path":"orders.touch","name":"MethodNotAllowed","retryable":false}}}`},
		{"a procedure that there is not", "GET", "orders.none", "", 404,
			`{"error":{"message":"no procedure is called \"orders.none\"","code":-32004,"data":{"code":"NOT_FOUND","httpStatus":404,"path":"orders.none","name":"ActionNotFound","retryable":false}}}`},
		{"an action of the cluster only", "POST", "orders.secret", "", 404,
			`{"error":{"message":"no procedure is called \"orders.secret\"","code":-32004,"data":{"code":"NOT_FOUND","httpStatus":404,"path":"orders.secret","name":"ActionNotFound","retryable":false}}}`},
		{"a client stream", "POST", "orders.sum", "", 404,
			`{"error":{"message":"no procedure is called \"orders.sum\"","code":-32004,"data":{"code":"NOT_FOUND","httpStatus":404,"path":"orders.sum","name":"ActionNotFound","retryable":false}}}`},
		{"a batch of different statuses", "GET", get("orders.get,orders.touch,orders.list", `{"0":{"id":"o-1"}}`) + "&batch=1", "", 207,
			`[{"result":{"data":{"id":"o-1"}}},{"error":{"message":"orders.touch is a mutation: use POST","code":-32005,"data":{"code":"METHOD_NOT_SUPPORTED","httpStatus":405,"path":"orders.touch","name":"MethodNotAllowed","retryable":false}}},` +
				`{"result":{"data":[{"id":"o-1"}]}}]`},
		{"a batch of one", "POST", "orders.create?batch=1", `{"0":{"id":"o-2"}}`, 200, `[{"result":{"data":{"id":"o-2"}}}]`},
		{"a subscription in a batch", "GET", get("orders.count", `{"0":{"n":1}}`) + "&batch=1", "", 400,
			`[{"error":{"message":"orders.count is a subscription, which no batch can hold","code":-32600,"data":{"code":"BAD_REQUEST","httpStatus":400,"path":"orders.count","name":"StreamWanted","retryable":false}}}]`},
		{"a subscription", "GET", get("orders.count", `{"n":2}`), "", 200, "event: connected\ndata: {}\n\ndata: 0\n\ndata: 1\n\nevent: return\ndata: \n\n"},
	} {
		if got := send(t, test.method, base+test.path, test.body); got.status != test.status || got.body != test.answer {
			t.Errorf("%s: %d\n%s\nwant %d\n%s", test.about, got.status, got.body, test.status, test.answer)
		}
	}
}

func TestAStreamedBatchHasALineForEachAnswer(t *testing.T) {
	base := startOrders(t)
	got := send(t, "GET", base+get("orders.get,orders.none", `{"0":{"id":"o-1"}}`)+"&batch=1", "", "Trpc-Accept", "application/jsonl")
	lines := strings.Split(got.body, "\n")
	if got.status != 200 || len(lines) != 4 || lines[0] != `{"0":[[0],[null,0,0]],"1":[[0],[null,0,1]]}` || !strings.Contains(got.body, `[0,0,[[{"result":{"data":{"id":"o-1"}}}]]]`) ||
		!strings.Contains(got.body, `[1,0,[[{"error":{"message":"no procedure is called`) {
		t.Errorf("%d\n%s", got.status, got.body)
	}
	if got := send(t, "GET", base+"orders.list", "", "Accept", "application/jsonl"); got.status != 400 {
		t.Errorf("a streamed answer without a batch: %d %s", got.status, got.body)
	}
}

func TestRequestsThatCannotBeReadAreRefusedWithAStatus(t *testing.T) {
	base := startOrders(t, web.With(web.Config{BodyLimit: 1 << 10}))
	for about, test := range map[string]struct {
		method, path, body, kind string
		status                   int
		code                     string
	}{
		"no JSON in the address":   {"GET", get("orders.get", `{"id":`), "", "", 400, "BAD_REQUEST"},
		"no JSON in the body":      {"POST", "orders.create", `{"id":`, "", 400, "BAD_REQUEST"},
		"two values":               {"POST", "orders.create", `{"id":"a"}{}`, "", 400, "BAD_REQUEST"},
		"another content type":     {"POST", "orders.create", "id=a", "application/x-www-form-urlencoded", 415, "UNSUPPORTED_MEDIA_TYPE"},
		"a broken content type":    {"POST", "orders.create", "{}", "application", 415, "UNSUPPORTED_MEDIA_TYPE"},
		"another method":           {"PUT", "orders.create", `{"id":"a"}`, "", 405, "METHOD_NOT_SUPPORTED"},
		"a body above the limit":   {"POST", "orders.create", `{"id":"` + strings.Repeat("a", 2<<10) + `"}`, "", 413, "PAYLOAD_TOO_LARGE"},
		"a batch that is no map":   {"POST", "orders.create,orders.create?batch=1", `[{"id":"a"}]`, "", 400, "BAD_REQUEST"},
		"a call of a batch twice":  {"POST", "orders.create?batch=1", `{"0":{"id":"a"},"0":{"id":"b"}}`, "", 400, "BAD_REQUEST"},
		"two inputs of superjson":  {"POST", "orders.create", `{"json":{"id":"a"},"json":{"id":"b"}}`, "", 400, "BAD_REQUEST"},
		"meta without a type":      {"POST", "orders.create", `{"json":{"id":"a"},"meta":{"values":[]}}`, "", 400, "BAD_REQUEST"},
		"too many calls":           {"GET", strings.Repeat("orders.list,", 100) + "orders.list?batch=1", "", "", 400, "BAD_REQUEST"},
		"nothing":                  {"GET", "", "", "", 404, "NOT_FOUND"},
		"a path of another form":   {"GET", "orders/get", "", "", 404, "NOT_FOUND"},
		"a value of another type":  {"POST", "orders.create", `[1]`, "", 400, "BAD_REQUEST"},
		"what breaks a rule":       {"POST", "orders.create", `{}`, "", 422, "UNPROCESSABLE_CONTENT"},
		"JSON that nests too deep": {"POST", "orders.create", strings.Repeat("[", 500) + strings.Repeat("]", 500), "", 400, "BAD_REQUEST"},
	} {
		var header []string
		if test.kind != "" {
			header = []string{"Content-Type", test.kind}
		}
		got := send(t, test.method, base+test.path, test.body, header...)
		if got.status != test.status || !strings.Contains(got.body, `"code":"`+test.code+`"`) {
			t.Errorf("%s: %d %s, want %d %s", about, got.status, got.body, test.status, test.code)
		}
	}
}

func TestAFormAndAFileAreRefusedWithWhereToSendThem(t *testing.T) {
	base := startOrders(t)
	for _, kind := range []string{"multipart/form-data; boundary=x", "application/octet-stream", "application/x-www-form-urlencoded"} {
		got := send(t, "POST", base+"orders.create", "--x--", "Content-Type", kind)
		if got.status != 415 || !strings.Contains(got.body, "an input is JSON, with bytes in base64: send a FormData, a File or bytes to the address that the action has over HTTP") {
			t.Errorf("%s: %d %s", kind, got.status, got.body)
		}
	}
}

func TestTheGuardsOfHTTPHold(t *testing.T) {
	keys := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada"}, "key-of-bob-0123456789": {Subject: "bob", Roles: []string{"clerk"}}}}
	s := sabir.NewService("stock")
	sabir.Handle(s, "take", func(ctx context.Context, _ sabir.Empty) (string, error) {
		p, _ := auth.FromContext(ctx)
		return p.Subject, nil
	}, sabir.Use(auth.Require("clerk")))
	_, base := start(t, []*sabir.Service{s}, web.With(web.Config{Auth: []auth.Authenticator{keys}, AllowAnonymous: true, Groups: map[string]web.Config{"/v1": {Services: []string{"stock"}, Filters: web.Filters{filter.RateLimit{Rate: 0.001, Burst: 3}}}}}))
	for _, test := range []struct {
		header []string
		status int
		part   string
	}{
		{nil, 401, `"code":"UNAUTHORIZED"`},
		{[]string{"X-Api-Key", "key-of-ada-0123456789"}, 403, `"code":"FORBIDDEN"`},
		{[]string{"X-Api-Key", "key-of-bob-0123456789"}, 200, `{"data":"bob"}`},
		{[]string{"X-Api-Key", "key-of-bob-0123456789"}, 429, `"code":"TOO_MANY_REQUESTS"`},
		{[]string{"Origin", "https://evil.example", "X-Api-Key", "key-of-bob-0123456789"}, 403, `CrossOrigin`},
	} {
		if got := send(t, "POST", base+"/trpc/stock.take", "", test.header...); got.status != test.status || !strings.Contains(got.body, test.part) {
			t.Errorf("%q: %d %s, want %d %s", test.header, got.status, got.body, test.status, test.part)
		}
	}
}

// A page may read with GET what it shows only, but a subscription runs a handler: it is refused as its call with POST is.
func TestAPageOfAnotherSiteCannotSubscribe(t *testing.T) {
	base := startOrders(t)
	got := send(t, "GET", base+get("orders.count", `{"n":2}`), "", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	if !strings.Contains(got.body, "event: serialized-error") || !strings.Contains(got.body, "CrossOrigin") || strings.Contains(got.body, "data: 0") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestCookiesOfCallsReachTheClient(t *testing.T) {
	base := startOrders(t)
	for _, path := range []string{"orders.touch", "orders.touch?batch=1"} {
		if got := send(t, "POST", base+path, ""); got.header.Get("Set-Cookie") != "touched=1" {
			t.Errorf("%s: %v", path, got.header)
		}
	}
}

// endless is a service with a stream that sends until its caller goes, and a call that waits for that.
func endless() (s *sabir.Service, began, ended chan string) {
	s, began, ended = sabir.NewService("endless"), make(chan string, 10), make(chan string, 10)
	sabir.HandleStream(s, "send", func(ctx context.Context, stream *sabir.Stream[sabir.Empty, string]) error {
		began <- "send"
		defer func() { ended <- "send" }()
		for {
			if err := stream.Send(strings.Repeat("x", 1000)); err != nil {
				return err
			}
		}
	}, sabir.ServerStream())
	sabir.Handle(s, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		began <- "wait"
		<-ctx.Done()
		ended <- "wait"
		return sabir.Empty{}, ctx.Err()
	})
	return s, began, ended
}

func TestAClientThatGoesEndsItsCallsAndSubscriptions(t *testing.T) {
	service, began, ended := endless()
	_, base := start(t, []*sabir.Service{service}, web.With(web.Config{RequestTimeout: waitLimit}))
	for _, test := range []struct{ method, path, accept string }{
		{"GET", "endless.send", ""}, {"POST", "endless.wait", ""}, {"POST", "endless.wait?batch=1", ""}, {"POST", "endless.wait?batch=1", "application/jsonl"}} {
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, test.method, base+"/trpc/"+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Trpc-Accept", test.accept)
		transport := &http.Transport{}
		over := make(chan struct{})
		go func() {
			defer close(over)
			if response, err := transport.RoundTrip(r); err == nil {
				defer response.Body.Close()
				bufio.NewReader(response.Body).WriteTo(new(strings.Builder))
			}
		}()
		<-began
		leave()
		<-ended
		<-over
		transport.CloseIdleConnections()
	}
}

func TestADeadlineOfAMillisecondEndsACallAloneAndInABatch(t *testing.T) {
	service := sabir.NewService("endless")
	sabir.Handle(service, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		<-ctx.Done()
		return sabir.Empty{}, ctx.Err()
	})
	_, base := start(t, []*sabir.Service{service})
	for path, header := range map[string][]string{"endless.wait": nil, "endless.wait?batch=1": nil, "endless.wait,endless.wait?batch=1": {"Trpc-Accept", "application/jsonl"}} {
		got := send(t, "POST", base+"/trpc/"+path, "", append(header, "X-Request-Timeout", "1ms")...)
		if status := got.status; status != 504 && header == nil || !strings.Contains(got.body, `"httpStatus":504`) || !strings.Contains(got.body, `"name":"DeadlineExceeded"`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

func TestANodeThatStopsEndsItsSubscriptionsWithAnError(t *testing.T) {
	service, began, _ := endless()
	node, base := start(t, []*sabir.Service{service})
	response, err := http.Get(base + "/trpc/endless.send") //nolint:noctx // it ends with the node
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	<-began
	stopped := make(chan error, 1)
	go func() { stopped <- node.Stop(t.Context()) }()
	var last string
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			last = text
		}
	}
	if last != "serialized-error" {
		t.Errorf("the last event is %q", last)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func FuzzRequests(f *testing.F) {
	base := startOrders(f)
	for _, seed := range []struct {
		post               bool
		path, query, input string
	}{{false, "orders.get", "", `{"id":"a"}`}, {true, "orders.get,orders.create", "batch=1", `{"0":{"id":"a"},"1":7}`}, {false, "%2c,", "batch=1", `{"-1":1}`}, {true, "orders.count", "", `{"n":1}`}} {
		f.Add(seed.post, seed.path, seed.query, seed.input)
	}
	f.Fuzz(func(t *testing.T, post bool, path, query, input string) {
		method, body := "GET", ""
		if query = "?" + query + "&input=" + url.QueryEscape(input); post {
			method, body = "POST", input
		}
		address := base + url.PathEscape(path) + query
		if _, err := http.NewRequest(method, address, nil); err != nil || len(address) > 60<<10 { //nolint:noctx // it is not sent
			t.Skip()
		}
		got := send(t, method, address, body)
		if got.status == 500 || got.status == 200 && got.body == "" {
			t.Errorf("%s %s %q: %d %s", method, address, body, got.status, got.body)
		}
	})
}

// Without an id of the client's, the calls of one request have the id of its answer.
func TestTheLineOfACallThatFailedNamesItsRequestAndTrace(t *testing.T) {
	var log bytes.Buffer
	s := sabir.NewService("disk")
	sabir.Handle(s, "fail", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, errors.New("the disk is gone")
	})
	node := sabir.NewNode(sabir.Serve(s), sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))), sabir.HTTP("127.0.0.1:0", trpc.At("/trpc")))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := send(t, "POST", "http://"+node.HTTPAddr()+"/trpc/disk.fail,disk.fail?batch=1", "{}", "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if err := node.Stop(context.Background()); err != nil { // after which nothing writes to the log
		t.Fatal(err)
	}
	id := got.header.Get("X-Request-Id")
	if want := "request_id=" + id + " trace_id=0af7651916cd43dd8448eb211c80319c "; id == "" || strings.Count(log.String(), want) != 2 {
		t.Errorf("%q is not twice in the log: %s", want, log.String())
	}
}
