package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

type findItem struct {
	ID      int      `json:"id"`
	Page    int      `json:"page" validate:"min=0"`
	Tags    []string `json:"tags" query:"tag"`
	Tenant  string   `json:"tenant" header:"X-Tenant"`
	Session string   `json:"session" cookie:"session"`
}

type putItem struct {
	ID   int    `json:"id"`
	Name string `json:"name" validate:"required"`
}

// store is a service with REST forms.
func store() *sabir.Service {
	s := sabir.NewService("items")
	sabir.Handle(s, "find", func(_ context.Context, in findItem) (findItem, error) { return in, nil }, sabir.Route("GET", "/items/{id}"))
	sabir.Handle(s, "put", func(_ context.Context, in putItem) (putItem, error) { return in, nil },
		sabir.Route("PUT", "/items/{id}"), sabir.Route("POST", "/shelves/{id}/items"))
	kept := sabir.Middleware{Name: "cache", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		a.Annotate(gateway.CacheNote, time.Minute)
		return next
	}}
	sabir.Handle(s, "price", func(_ context.Context, in struct {
		ID int `json:"id"`
	}) (int, error) {
		return 100 * in.ID, nil
	}, sabir.Route("GET", "/items/{id}/price"), sabir.Use(kept))
	sabir.HandleStream(s, "tail", func(_ context.Context, s *sabir.Stream[putItem, string]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		for _, word := range []string{"one", "two"} {
			if err := s.Send(word + " of " + in.Name); err != nil {
				return err
			}
		}
		return nil
	}, sabir.Route("GET", "/tail/{id}"))
	return s
}

func startStore(tb testing.TB, options ...gateway.HTTPOption) (*sabir.Node, string) {
	tb.Helper()
	node := start(tb, sabir.Serve(shop(), store()), sabir.HTTP(":0", options...))
	return node, "http://" + node.HTTPAddr()
}

func TestFieldsComeFromWhereTheRouteSaysTheyDo(t *testing.T) {
	_, base := startStore(t)
	for about, test := range map[string]struct {
		method, path, body string
		headers            []string
		want               string
	}{
		"everywhere":     {"GET", "/items/7?page=2&tag=a&tag=b+c", "", []string{"X-Tenant: acme", "Cookie: session=s1"}, `{"id":7,"page":2,"tags":["a","b c"],"tenant":"acme","session":"s1"}`},
		"only the path":  {"GET", "/items/7", "", nil, `{"id":7,"page":0,"tags":[],"tenant":"","session":""}`},
		"HEAD":           {"HEAD", "/items/7", "", nil, ""},
		"path and body":  {"PUT", "/items/7", `{"name":"lamp"}`, nil, `{"id":7,"name":"lamp"}`},
		"a second route": {"POST", "/shelves/7/items", `{"name":"lamp"}`, nil, `{"id":7,"name":"lamp"}`},
		"the call":       {"POST", "/items/put", `{"id":8,"name":"lamp"}`, nil, `{"id":8,"name":"lamp"}`},
	} {
		if got := ask(t, test.method, base+test.path, test.body, test.headers...); got.status != 200 || got.body != test.want {
			t.Errorf("%s: %d %s, want %s", about, got.status, got.body, test.want)
		}
	}
}

func TestAParameterThatDoesNotFitIsReportedWithItsSource(t *testing.T) {
	_, base := startStore(t)
	for about, test := range map[string]struct {
		method, path, body string
		status             int
		in, name           string
	}{
		"a path":       {"GET", "/items/x", "", 400, "path", "id"},
		"a query":      {"GET", "/items/7?page=y", "", 400, "query", "page"},
		"a rule":       {"GET", "/items/7?page=-1", "", 422, "query", "page"},
		"a rule below": {"PUT", "/items/7", `{"name":""}`, 422, "body", ""},
	} {
		p := ask(t, test.method, base+test.path, test.body).problem(t)
		list, _ := p.Data.([]any)
		if p.Status != test.status || len(list) != 1 {
			t.Errorf("%s: %+v", about, p)
			continue
		}
		fault := list[0].(map[string]any)
		name, _ := fault["name"].(string)
		if fault["in"] != test.in || name != test.name || fault["message"] == "" {
			t.Errorf("%s: %v", about, fault)
		}
	}
	if p := ask(t, "PUT", base+"/items/7", `{"id":8,"name":"lamp"}`).problem(t); p.Status != 400 || !strings.Contains(p.Detail, "id comes from the path") {
		t.Errorf("a field that is there twice: %+v", p)
	}
}

type grade int

func (g grade) MarshalText() ([]byte, error) { return []byte{'A' + byte(g)}, nil }
func (g *grade) UnmarshalText(text []byte) error {
	if len(text) != 1 || text[0] < 'A' || text[0] > 'F' {
		return errors.New("a grade is A to F")
	}
	*g = grade(text[0] - 'A')
	return nil
}

type markIn struct {
	Grade grade     `json:"grade"`
	Also  []grade   `json:"also" query:"too"`
	Small uint8     `json:"small" header:"X-Small" validate:"max=9"`
	Since time.Time `json:"since" cookie:"since"`
	Note  string    `json:"note"`
}

func TestAParameterWhoseTextTheTypeRefusesIsReportedWithItsSource(t *testing.T) {
	s := sabir.NewService("marks")
	mark := func(context.Context, markIn) (sabir.Empty, error) { return sabir.Empty{}, nil }
	sabir.Handle(s, "find", mark, sabir.Route("GET", "/marks/{grade}"))
	sabir.Handle(s, "put", mark, sabir.Route("PUT", "/marks/{grade}"))
	sabir.HandleStream(s, "watch", func(_ context.Context, st *sabir.Stream[markIn, int]) error {
		_, err := st.Recv()
		return err
	}, sabir.Route("GET", "/marks/{grade}/watch"), sabir.ServerStream())
	alone := start(t, sabir.Serve(s), sabir.HTTP(":0"))
	for about, test := range map[string]struct {
		method, path, header string
		status               int
		in, name, at, want   string
	}{
		"a path":                {"GET", "/marks/Z", "", 400, "path", "grade", "grade", "a grade is A to F"},
		"a path before a body":  {"PUT", "/marks/Z", "", 400, "path", "grade", "grade", "a grade is A to F"},
		"one of a list":         {"GET", "/marks/A?too=B&too=Z", "", 400, "query", "too", "also[1]", "a grade is A to F"},
		"a number out of range": {"GET", "/marks/A", "X-Small: 256", 400, "header", "X-Small", "small", "0 to 255"},
		"a time":                {"GET", "/marks/A", "Cookie: since=noon", 400, "cookie", "since", "since", "RFC 3339"},
		"of a stream":           {"GET", "/marks/Z/watch", "", 400, "path", "grade", "grade", "a grade is A to F"},
		"a rule of a stream":    {"GET", "/marks/A/watch", "X-Small: 10", 422, "header", "X-Small", "small", "9 or less"},
	} {
		body, headers := "", []string(nil)
		if test.method == "PUT" {
			body = `{"note":"x"}`
		}
		if test.header != "" {
			headers = []string{test.header}
		}
		p := ask(t, test.method, "http://"+alone.HTTPAddr()+test.path, body, headers...).problem(t)
		list, _ := p.Data.([]any)
		if p.Status != test.status || len(list) != 1 {
			t.Errorf("%s: %+v", about, p)
			continue
		}
		fault := list[0].(map[string]any)
		if message, _ := fault["message"].(string); fault["in"] != test.in || fault["name"] != test.name || fault["path"] != test.at || !strings.Contains(message, test.want) || strings.Contains(p.Detail, "offset") {
			t.Errorf("%s: %v: %s", about, fault, p.Detail)
		}
	}
}

func TestCachedAnswersAreNotSentAgain(t *testing.T) {
	_, base := startStore(t)
	first := ask(t, "GET", base+"/items/7/price", "")
	tag := first.header.Get("Etag")
	if first.status != 200 || tag == "" || !strings.Contains(first.header.Get("Cache-Control"), "max-age=60") {
		t.Fatalf("%d %v", first.status, first.header)
	}
	if again := ask(t, "GET", base+"/items/7/price", "", "If-None-Match: "+tag); again.status != 304 || again.body != "" {
		t.Errorf("%d %q", again.status, again.body)
	}
	if call := post(t, base+"/items/price", `{"id":7}`); call.header.Get("Etag") != "" {
		t.Errorf("a call, which is no GET, has the tag %s", call.header.Get("Etag"))
	}
}

func TestAGroupPutsItsServicesUnderItsPrefix(t *testing.T) {
	var seen []string
	note := exchange.Filter{Name: "note", Before: func(x *exchange.Exchange) error { seen = append(seen, x.Path); return nil }}
	var around []string
	hook := sabir.Middleware{Name: "hook", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			around = append(around, a.Name)
			ExchangeFromContext(ctx).Answer.Set("X-Seen", "yes")
			return next(ctx, r)
		}
	}}
	_, base := startStore(t, With(Config{Groups: map[string]Config{"/v1": {Services: []string{"items"}, Filters: Filters{note}, Use: []sabir.Wrapper{hook}, BodyLimit: 20}}}))
	if got := ask(t, "GET", base+"/v1/items/7", ""); got.status != 200 || got.header.Get("X-Seen") != "yes" {
		t.Errorf("in the group: %d %s %v", got.status, got.body, got.header)
	}
	if got := post(t, base+"/v1/items/put", `{"id":7,"name":"lamp"}`); got.status != 413 {
		t.Errorf("over the group's limit: %d", got.status)
	}
	if got := ask(t, "GET", base+"/items/7", ""); got.status != 404 {
		t.Errorf("outside the group: %d", got.status)
	}
	if got := post(t, base+"/shop/hello", `{"name":"Ada"}`); got.status != 200 || got.header.Get("X-Seen") != "" {
		t.Errorf("another service: %d", got.status)
	}
	if len(seen) < 1 || seen[0] != "/v1/items/7" || len(around) != 1 || around[0] != "items.find" {
		t.Errorf("the filter saw %v, the middleware %v", seen, around)
	}
}

func TestCallersShowWhoTheyAre(t *testing.T) {
	guarded := sabir.NewService("admin")
	sabir.Handle(guarded, "who", func(ctx context.Context, _ sabir.Empty) (string, error) {
		p, _ := auth.FromContext(ctx)
		return p.Subject, nil
	}, sabir.Use(auth.Require("admin")))
	keys := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada", Roles: []string{"admin"}}, "key-of-bob-0123456789": {Subject: "bob"}}}
	node := start(t, sabir.Serve(shop(), guarded, store()), sabir.HTTP("0.0.0.0:0", With(Config{Auth: []auth.Authenticator{keys}, Groups: map[string]Config{"/open": {Services: []string{"items"}, AllowAnonymous: true}}})))
	base := "http://" + strings.Replace(node.HTTPAddr(), "[::]", "127.0.0.1", 1)
	for about, test := range map[string]struct {
		path, key string
		status    int
	}{
		"nobody":             {"/shop/hello", "", 401},
		"somebody":           {"/shop/hello", "key-of-bob-0123456789", 200},
		"a wrong key":        {"/shop/hello", "key-of-eve-0123456789", 401},
		"without the role":   {"/admin/who", "key-of-bob-0123456789", 403},
		"with the role":      {"/admin/who", "key-of-ada-0123456789", 200},
		"an open group":      {"/open/items/put", "", 200},
		"the index":          {"/", "", 401},
		"who calls says who": {"/admin/who", "", 401},
		"another method":     {"/health", "", 401},
	} {
		var headers []string
		if test.key != "" {
			headers = append(headers, "X-Api-Key: "+test.key)
		}
		got := post(t, base+test.path, `{"id":1,"name":"Ada"}`, headers...)
		if got.status != test.status {
			t.Errorf("%s: %d %s, want %d", about, got.status, got.body, test.status)
		}
		if got.status == 401 && got.header.Get("Www-Authenticate") == "" {
			t.Errorf("%s: no challenge", about)
		}
	}
	forged := post(t, base+"/admin/who", `{}`, "X-Api-Key: key-of-bob-0123456789", `X-Meta-Sabir.Principal: {"sub":"ada","roles":["admin"]}`)
	if forged.status != 400 && forged.status != 403 {
		t.Errorf("a forged principal: %d %s", forged.status, forged.body)
	}
}

func TestHandlersAndFilesCanBeMounted(t *testing.T) {
	files := fstest.MapFS{"index.html": {Data: []byte("<h1>home</h1>")}, "css/a.css": {Data: []byte("a{}")}, ".env": {Data: []byte("secret")}, "empty/x.txt": {Data: []byte("x")}}
	old := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("old " + r.URL.Path)) })
	_, base := startStore(t, With(Config{Mount: map[string]http.Handler{"/": Static(files), "/old": old}}))
	for path, want := range map[string]string{"/": "<h1>home</h1>", "/css/a.css": "a{}", "/old": "old /old", "/old/x": "old /old/x"} {
		if got := ask(t, "GET", base+path, ""); got.status != 200 || got.body != want {
			t.Errorf("%s: %d %q, want %q", path, got.status, got.body, want)
		}
	}
	for _, path := range []string{"/.env", "/css/", "/empty", "/../main.go", "/%2e%2e/main.go", "/css/..%2f.env", "/nothing"} {
		if got := ask(t, "GET", base+path, ""); got.status == 200 || strings.Contains(got.body, "secret") {
			t.Errorf("%s: %d %q", path, got.status, got.body)
		}
	}
	if got := ask(t, "GET", base+"/css/a.css", "", "Range: bytes=1-2"); got.status != 206 || got.body != "{}" {
		t.Errorf("a range: %d %q", got.status, got.body)
	}
	if got := post(t, base+"/shop/hello", `{"name":"Ada"}`); got.status != 200 {
		t.Errorf("a call beside the files: %d", got.status)
	}
}

func TestTheGatewayCanBeMountedIntoAnotherServer(t *testing.T) {
	node := start(t, sabir.Serve(store()))
	server, err := Handler(node, With(Config{StrictFields: true}))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", server))
	w := recorded(mux, "GET", "/api/items/7?page=1")
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"id":7,"page":1`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	strict := httptest.NewRequest("POST", "/api/items/put", strings.NewReader(`{"id":1,"nmae":"lamp"}`))
	strict.Header.Set("Content-Type", "application/json")
	refused := httptest.NewRecorder()
	mux.ServeHTTP(refused, strict)
	if refused.Code != 400 || !strings.Contains(refused.Body.String(), "nmae") {
		t.Errorf("a member that is not known: %d %s", refused.Code, refused.Body)
	}
	if w := recorded(mux, "GET", "/api/items/7?pgae=1"); w.Code != 400 || !strings.Contains(w.Body.String(), "pgae") {
		t.Errorf("a parameter that is not known: %d %s", w.Code, w.Body)
	}
}

func TestABatchMakesSeveralCalls(t *testing.T) {
	_, base := startStore(t)
	got := post(t, base+"/batch", `[{"action":"shop.hello","input":{"name":"Ada"}},{"action":"shop.hello","input":{"name":""}},
		{"action":"shop.nothing"},{"action":"shop.watch"},{"action":"shop.secret"},{"action":"items.put","input":{"id":1,"name":"lamp"}}]`)
	var answers []batchResult
	if err := json.Unmarshal([]byte(got.body), &answers); err != nil || got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for i, want := range []int{200, 422, 404, 400, 404, 200} {
		if answers[i].Status != want || (answers[i].Output != nil) != (want == 200) || (answers[i].Problem != nil) != (want != 200) {
			t.Errorf("call %d: %d %s %s, want %d", i, answers[i].Status, answers[i].Output, answers[i].Problem, want)
		}
	}
	if got := post(t, base+"/batch", "["+strings.TrimSuffix(strings.Repeat(`{"action":"shop.hello"},`, maxBatch+1), ",")+"]"); got.status != 413 {
		t.Errorf("too many calls: %d", got.status)
	}
	if got := post(t, base+"/batch", `{}`); got.status != 400 {
		t.Errorf("no list: %d", got.status)
	}
}

func TestAStreamIsServedOnItsAddresses(t *testing.T) {
	_, base := startStore(t)
	for about, got := range map[string]answer{
		"the call": post(t, base+"/items/tail", `{"name":"x"}`),
		"lines":    post(t, base+"/items/tail", `{"name":"x"}`, "Accept: application/x-ndjson"),
	} {
		if got.status != 200 || got.body != "\"one of x\"\n\"two of x\"\n" {
			t.Errorf("%s: %d %q", about, got.status, got.body)
		}
	}
	got := ask(t, "GET", base+"/tail/7?name=x", "", "Accept: text/event-stream")
	if got.status != 200 || !strings.Contains(got.body, "data: \"one of x\"\n") || !strings.Contains(got.body, "event: end") || got.header.Get("X-Request-Id") == "" {
		t.Errorf("events: %d %q", got.status, got.body)
	}
}

func TestWhatIsWrongWithTheOptionsStopsTheStart(t *testing.T) {
	for about, test := range map[string]struct {
		option gateway.HTTPOption
		about  string
	}{
		"a prefix":             {With(Config{Groups: map[string]Config{"v1": {}}}), "without a slash"},
		"a group in a group":   {With(Config{Groups: map[string]Config{"/v1": {Groups: map[string]Config{"/v2": {}}}}}), "whole server only: Groups"},
		"a listener's setting": {With(Config{Groups: map[string]Config{"/v1": {MaxConnections: 7}}}), "whole server only: MaxConnections"},
		"a time":               {With(Config{RequestTimeout: -1}), "above zero"},
		"a body":               {With(Config{BodyLimit: -1}), "above zero"},
		"connections":          {With(Config{MaxConnections: -1}), "at least 1"},
		"no operator":          {With(Config{Operators: []string{}}), "name the roles"},
		"nothing to forward":   {With(Config{Forward: []string{}}), "name the actions"},
		"a filter":             {With(Config{Filters: Filters{exchange.Filter{Name: "own", Problem: errors.New("a rate below zero")}}}), "below zero"},
		"a limit too early": {With(Config{Filters: Filters{exchange.Filter{Name: "limit", Before: func(*exchange.Exchange) error { return nil }, ReadsPrincipal: true}}}),
			`filter "limit" reads who has signed in, and stands before the authentication: put it into AfterAuth`},
		"a limit of a group too early": {With(Config{Groups: map[string]Config{"/v1": {Filters: Filters{exchange.Filter{Name: "limit",
			Before: func(*exchange.Exchange) error { return nil }, ReadsPrincipal: true}}}}}), "put it into AfterAuth"},
		"a pattern":      {With(Config{Events: []string{"a..b"}}), "a..b"},
		"a page of ours": {With(Config{Mount: map[string]http.Handler{"/health": http.NotFoundHandler()}}), `Mounted("/health"): the server itself answers there`},
		"a mount":        {Mounted("/x", func(Site) (http.Handler, error) { return nil, errors.New("no template") }), "no template"},
		"something else": {func(c *httpaccess.Config) { c.Options = append(c.Options, 7) }, "int"},
	} {
		err := sabir.NewNode(sabir.HTTP(":0", test.option)).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.about) {
			t.Errorf("%s: %v", about, err)
		}
	}
}

func TestAnAddressThatAnotherActionHasIsAnErrorOfTheAddition(t *testing.T) {
	node := sabir.NewNode(sabir.Serve(store()), sabir.HTTP("127.0.0.1:0"))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	more := sabir.NewService("more")
	sabir.Handle(more, "again", func(_ context.Context, in putItem) (putItem, error) { return in, nil }, sabir.Route("PUT", "/items/{id}"))
	err := node.Add(t.Context(), more)
	if err == nil || !strings.Contains(err.Error(), "actions items.put and more.again: there is a route PUT /items/{id} already") {
		t.Errorf("the addition ended with %v", err)
	}
	if node.Action("more.again") != nil {
		t.Error("the service runs")
	}
	if err := node.Add(t.Context(), sabir.NewService("other")); err != nil {
		t.Errorf("an addition after it: %v", err)
	}
}

func TestAnAddressThatTwoActionsWantIsAnErrorOfTheStart(t *testing.T) {
	echo := func(_ context.Context, in putItem) (putItem, error) { return in, nil }
	for about, test := range map[string]struct {
		name   string // of the action
		routes []sabir.ActionOption
		says   string
	}{
		"a route twice":                     {"again", []sabir.ActionOption{sabir.Route("PUT", "/items/{id}")}, "actions items.put and more.again: there is a route PUT /items/{id} already"},
		"a parameter of another name":       {"again", []sabir.ActionOption{sabir.Route("PUT", "/items/{name}")}, "are for the same paths"},
		"the address of a call":             {"again", []sabir.ActionOption{sabir.Route("POST", "/items/put")}, "action more.again: calls of action items.put have the address POST /items/put"},
		"that of batches":                   {"again", []sabir.ActionOption{sabir.Route("POST", "/batch")}, "batches of calls have the address POST /batch"},
		"its own one, with another form":    {"again", []sabir.ActionOption{sabir.Route("POST", "/more/again")}, ""},
		"its own one, and fields elsewhere": {"header", nil, "its calls have the address POST /more/header, where all fields come from the body"},
	} {
		more := sabir.NewService("more")
		if test.name == "header" {
			sabir.Handle(more, "header", func(_ context.Context, in findItem) (findItem, error) { return in, nil }, sabir.Route("POST", "/more/header"))
		} else {
			sabir.Handle(more, test.name, echo, test.routes...)
		}
		node := sabir.NewNode(sabir.Serve(store(), more), sabir.HTTP(":0"))
		err := node.Start(t.Context())
		if err == nil {
			node.Stop(t.Context())
		}
		if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", about, err)
		}
	}
}

func TestAnOptionOfHTTPGivenTwiceIsAnErrorOfTheStartWithBothLines(t *testing.T) {
	key := "0123456789abcdef"
	keys := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada"}}}
	for name, options := range map[string][]gateway.HTTPOption{
		"gateway.Key":     {gateway.Key(key), gateway.Key(key)},
		"gateway.TLS":     {gateway.TLS(nil), gateway.TLS(nil)},
		"Auth":            {With(Config{Auth: []auth.Authenticator{keys}}), With(Config{Auth: []auth.Authenticator{keys}})},
		"ForwardedHeader": {With(Config{ForwardedHeader: "Forwarded"}), With(Config{ForwardedHeader: "X-Forwarded-For"})},
		"RequestTimeout":  {With(Config{RequestTimeout: 1}), With(Config{RequestTimeout: 2})},
		"BodyLimit":       {With(Config{BodyLimit: 1}), With(Config{BodyLimit: 2})},
		"MaxConnections":  {With(Config{MaxConnections: 1}), With(Config{MaxConnections: 2})},
		"Title":           {With(Config{Title: "a"}), With(Config{Title: "b"})},
		"PerClient":       {With(Config{PerClient: ClientLimits{Requests: 1}}), With(Config{PerClient: ClientLimits{Requests: 2}})},
	} {
		err := sabir.NewNode(sabir.HTTP(":0", options...)).Start(t.Context())
		if text := fmt.Sprint(err); !strings.Contains(text, name) || !strings.Contains(text, " is given twice") || strings.Count(text, "routes_test.go:") != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	node := sabir.NewNode(sabir.HTTP(":0", With(Config{RequestTimeout: time.Second, Groups: map[string]Config{"/v1": {RequestTimeout: time.Minute}}})))
	if err := node.Start(t.Context()); err != nil {
		t.Fatalf("once for the server and once for a group: %v", err)
	}
	node.Stop(context.Background())
}

func echoPut(_ context.Context, in putItem) (putItem, error) { return in, nil }

func TestFilesAtTheRootLeaveTheGatewaysOwnPages(t *testing.T) {
	_, base := startStore(t, With(Config{Mount: map[string]http.Handler{"/": Static(fstest.MapFS{"index.html": {Data: []byte("home")}}), "/app": Static(fstest.MapFS{"index.html": {Data: []byte("app")}})}, Events: []string{"**"}}))
	for path, want := range map[string]string{"/": "home", "/health": `{"status":"ok"}` + "\n", "/app/": "app", "/app": "app"} {
		if got := ask(t, "GET", base+path, ""); got.status != 200 && got.status != 308 || got.status == 200 && got.body != want {
			t.Errorf("%s: %d %q", path, got.status, got.body)
		}
	}
	if got := ask(t, "GET", base+"/app", ""); got.status != 308 || got.header.Get("Location") != "/app/" {
		t.Errorf("a folder without its slash: %d %v", got.status, got.header)
	}
	if got := ask(t, "GET", base+"/events?topic=..", ""); got.status != 400 {
		t.Errorf("events: %d %s", got.status, got.body)
	}
}

func TestPagesOfOtherSitesReadBatchesWhereTheyMay(t *testing.T) {
	_, base := startStore(t, With(Config{Filters: Filters{allowing("https://app.example")}}))
	got := post(t, base+"/batch", `[{"action":"shop.hello","input":{"name":"Ada"}}]`, "Origin: https://app.example", "Sec-Fetch-Site: cross-site")
	if got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("%d %v", got.status, got.header)
	}
}

func TestTheCallerIsNotPassedOnToAnotherCluster(t *testing.T) {
	s := sabir.NewService("who")
	sabir.Handle(s, "am", func(ctx context.Context, _ nothing) (map[string]string, error) {
		return sabir.InfoFromContext(ctx).Metadata, nil
	})
	node := start(t, sabir.WithUpstream(dialNode(t, start(t, sabir.Serve(s), sabir.HTTP(":0")), ClientConfig{})))
	ctx := auth.As(sabir.WithMetadata(t.Context(), "tenant", "blue"), auth.Principal{Subject: "ada", Roles: []string{"ops"}})
	got, err := sabir.Call[map[string]string](ctx, node, "who.am", nothing{})
	if err != nil || got["tenant"] != "blue" {
		t.Errorf("got %v, %v", got, err)
	}
	for name, value := range got {
		if strings.Contains(value, "ada") {
			t.Errorf("the other cluster was sent %s: %s", name, value)
		}
	}
}

// Probes of an API of short links, whose form GET /{slug} took the addresses, were answered by it: 200, whatever the node's state.
func TestAnAddressOfTextGoesBeforeARESTFormWithAParameterThere(t *testing.T) {
	links := sabir.NewService("links")
	for method, name := range map[string]string{"GET": "get", "POST": "put"} {
		sabir.Handle(links, name, func(_ context.Context, in struct {
			Slug string `json:"slug"`
		}) (string, error) {
			return "link " + in.Slug, nil
		}, sabir.Route(method, "/{slug...}"))
	}
	mount := With(Config{Mount: map[string]http.Handler{"/legacy": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Method) })}})
	node := start(t, sabir.Serve(links), sabir.HTTP(":0", mount))
	for about, test := range map[string]struct{ method, path, want string }{
		"health":                       {"GET", "/health", `"ok"`},
		"health by HEAD":               {"HEAD", "/health", ""},
		"readiness":                    {"GET", "/ready", `"ready"`},
		"the description":              {"GET", "/$api", `"actions"`},
		"a batch":                      {"POST", "/batch", `[]`},
		"a mounted handler":            {"GET", "/legacy", "GET"},
		"a path below a mounted one":   {"POST", "/legacy/a/b", "POST"},
		"a call":                       {"POST", "/links/get", `"link "`},
		"an address that is no text":   {"GET", "/health/of/ada", `"link health/of/ada"`},
		"another method":               {"POST", "/ready", `"link ready"`},
		"a name that begins like text": {"GET", "/legacy2", `"link legacy2"`},
	} {
		body := ""
		if test.method == "POST" {
			body = map[bool]string{true: "[]", false: "{}"}[test.path == "/batch"]
		}
		if got := ask(t, test.method, "http://"+node.HTTPAddr()+test.path, body); got.status != 200 || !strings.Contains(got.body, test.want) {
			t.Errorf("%s: %d %s, want %s", about, got.status, got.body, test.want)
		}
	}
}

// A service "items" with GET /items/{id} had no WebSocket at /items/watch: it was the item of the id "watch".
func TestAWebSocketIsOpenedAtTheAddressOfACallThatAFormTakesToo(t *testing.T) {
	s := sabir.NewService("items")
	sabir.Handle(s, "get", func(_ context.Context, in struct {
		ID string `json:"id"`
	}) (string, error) {
		return in.ID, nil
	}, sabir.Route("GET", "/items/{id}"))
	sabir.HandleStream(s, "watch", func(_ context.Context, st *sabir.Stream[sabir.Empty, string]) error { return st.Send("new") })
	node := start(t, sabir.Serve(s), sabir.HTTP(":0"))
	conn, _, _, err := ws.Dialer{Protocols: []string{"sabir.v1"}}.Dial(t.Context(), "ws://"+node.HTTPAddr()+"/items/watch")
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if got := ask(t, "GET", "http://"+node.HTTPAddr()+"/items/watch", ""); got.body != `"watch"` {
		t.Errorf("without an upgrade: %d %s, want the item", got.status, got.body)
	}
	if got := ask(t, "GET", "http://"+node.HTTPAddr()+"/items/7", "", "Connection: Upgrade", "Upgrade: websocket"); got.body != `"7"` {
		t.Errorf("where no stream is: %d %s, want the item", got.status, got.body)
	}
}

func TestEventsAreNotThereForHEAD(t *testing.T) {
	node := start(t, sabir.Serve(shop()), sabir.HTTP(":0", With(Config{Events: []string{"orders.*"}})))
	if got := ask(t, "HEAD", "http://"+node.HTTPAddr()+"/events", ""); got.status != 405 || got.header.Get("Allow") != "GET, OPTIONS" {
		t.Errorf("%d, Allow: %s", got.status, got.header.Get("Allow"))
	}
}

func TestAStreamOfValuesHasNoHEADAndNoneIsAllowed(t *testing.T) {
	s := sabir.NewService("feed")
	sabir.HandleStream(s, "watch", func(_ context.Context, st *sabir.Stream[sabir.Empty, int]) error { return st.Send(1) }, sabir.Route("GET", "/feed"), sabir.ServerStream())
	sabir.HandleStream(s, "file", func(_ context.Context, st *sabir.Stream[sabir.Empty, []byte]) error { return st.Send([]byte("x")) }, sabir.Route("GET", "/file"), sabir.ServerStream())
	node := start(t, sabir.Serve(s), sabir.HTTP(":0"))
	for _, test := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"HEAD", "/feed", 405, "GET, OPTIONS"},
		{"OPTIONS", "/feed", 204, "GET, OPTIONS"},
		{"PUT", "/feed", 405, "GET, OPTIONS"},
		{"HEAD", "/file", 200, ""},
		{"OPTIONS", "/file", 204, "GET, HEAD, OPTIONS"},
	} {
		if got := ask(t, test.method, "http://"+node.HTTPAddr()+test.path, ""); got.status != test.status || got.header.Get("Allow") != test.allow {
			t.Errorf("%s %s: %d, Allow: %s", test.method, test.path, got.status, got.header.Get("Allow"))
		}
	}
}
