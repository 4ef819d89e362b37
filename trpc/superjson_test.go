package trpc_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

func TestAClientWithSuperjsonIsAnsweredInItsForm(t *testing.T) {
	base := startOrders(t)
	for _, test := range []struct {
		about, method, path, body string
		status                    int
		answer                    string
	}{
		{"a query", "GET", get("orders.get", `{"json":{"id":"o-1"}}`), "", 200, `{"result":{"data":{"json":{"id":"o-1"}}}}`},
		{"an input with meta", "POST", "orders.create", `{"json":{"id":"o-2","at":"2026-01-02T03:04:05.000Z"},"meta":{"values":{"at":["Date"]},"v":1}}`, 200,
			`{"result":{"data":{"json":{"id":"o-2","at":"2026-01-02T03:04:05Z"}}}}`},
		{"nothing in and out", "POST", "orders.touch", `{"json":null,"meta":{"values":["undefined"]}}`, 200,
			`{"result":{"data":{"json":null,"meta":{"values":["undefined"]}}}}`},
		{"an error", "GET", get("orders.none", `{"json":{}}`), "", 404,
			`{"error":{"json":{"message":"no procedure is called \"orders.none\"","code":-32004,"data":{"code":"NOT_FOUND","httpStatus":404,"path":"orders.none","name":"ActionNotFound","retryable":false}}}}`},
		{"a batch", "GET", get("orders.get,orders.list", `{"0":{"json":{"id":"o-1"}},"1":{"json":null,"meta":{"values":["undefined"]}}}`) + "&batch=1", "", 200,
			`[{"result":{"data":{"json":{"id":"o-1"}}}},{"result":{"data":{"json":[{"id":"o-1"}]}}}]`},
		{"a subscription", "GET", get("orders.count", `{"json":{"n":1}}`), "", 200, "event: connected\ndata: {}\n\ndata: {\"json\":0}\n\nevent: return\ndata: \n\n"},
	} {
		if got := send(t, test.method, base+test.path, test.body); got.status != test.status || got.body != test.answer {
			t.Errorf("%s: %d\n%s\nwant %d\n%s", test.about, got.status, got.body, test.status, test.answer)
		}
	}
	got := send(t, "GET", base+get("orders.get", `{"0":{"json":{"id":"o-1"}}}`)+"&batch=1", "", "Trpc-Accept", "application/jsonl")
	if want := `{"json":{"0":[[0],[null,0,0]]}}` + "\n" + `{"json":[0,0,[[{"result":{"data":{"id":"o-1"}}}]]]}` + "\n"; got.body != want {
		t.Errorf("a streamed batch:\n%s\nwant\n%s", got.body, want)
	}
}

func TestWhatSuperjsonCarriesAndGoDoesNotReadIsRefusedWithTheRemedy(t *testing.T) {
	base := startOrders(t)
	for input, part := range map[string]string{
		`{"json":{"id":"a","big":"7"},"meta":{"values":{"big":["bigint"]}}}`:                                         `\"big\" has the type \"bigint\"`,
		`{"json":{"id":"a","big":"NaN"},"meta":{"values":{"big":["number"]}}}`:                                       `\"big\" has the type \"number\"`,
		`{"json":[["id","a"]],"meta":{"values":["map"]}}`:                                                            `the input has the type \"map\"`,
		`{"json":{"id":[["7"]]},"meta":{"values":{"id":["set",{"0.x":["bigint"]}]}}}`:                                `\"id.0.x\" has the type \"bigint\"`,
		`{"json":{"id":"a"},"meta":{"values":[["custom","Decimal"]]}}`:                                               `has the type \"custom\"`,
		`{"json":{"id":"a","at":null},"meta":{"referentialEqualities":{"id":["at"]}}}`:                               `do not set dedupe`,
		`{"json":{"id":"a"},"meta":7}`:                                                                               `\"meta\" cannot be read`,
		`{"json":{"id":"a"},"meta":{"values":7}}`:                                                                    `\"meta\" cannot be read`,
		`{"json":{"id":"a"},"meta":{"values":[]}}`:                                                                   `\"meta\" cannot be read`,
		`{"json":{"id":"a"},"meta":{"values":{"` + strings.Repeat("x", 5000) + `":["bigint"]}}}`:                     `has the type \"bigint\"`,
		`{"json":{"id":"a"},"meta":{"values":` + strings.Repeat(`{"a":`, 400) + `7` + strings.Repeat("}", 401) + `}`: `\"meta\" cannot be read`,
	} {
		got := send(t, "POST", base+"orders.create", input)
		if got.status != 400 || !strings.HasPrefix(got.body, `{"error":{"json":{`) || !strings.Contains(got.body, `superjson: `) || !strings.Contains(got.body, part) || len(got.body) > 1500 {
			t.Errorf("%.200s: %d %s", input, got.status, got.body)
		}
	}
	got := send(t, "GET", base+get("orders.count", `{"json":{"n":"7"},"meta":{"values":{"n":["bigint"]}}}`), "")
	if !strings.Contains(got.body, "event: serialized-error\ndata: {\"json\":{") || !strings.Contains(got.body, `bigint`) {
		t.Errorf("a subscription: %s", got.body)
	}
	// One object at two places is complete where no null stands for it.
	if got := send(t, "POST", base+"orders.create", `{"json":{"id":"a"},"meta":{"referentialEqualities":{"id":["at"]}}}`); got.status != 200 {
		t.Errorf("one object at two places: %d %s", got.status, got.body)
	}
}

// Nothing says which form a client reads whose request is refused before its calls are read.
func TestARequestThatIsRefusedAsAWholeIsAnsweredInBothForms(t *testing.T) {
	keys := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada"}}}
	_, guarded := start(t, []*sabir.Service{orders()}, web.With(web.Config{Auth: []auth.Authenticator{keys}}))
	base := startOrders(t, web.With(web.Config{BodyLimit: 1 << 10}))
	for about, test := range map[string]struct {
		url, body string
		status    int
		code      string
	}{
		"not JSON":         {base + "orders.create", `{"id":`, 400, "BAD_REQUEST"},
		"too large":        {base + "orders.create?batch=1", `{"0":"` + strings.Repeat("a", 2<<10) + `"}`, 413, "PAYLOAD_TOO_LARGE"},
		"a caller's key":   {guarded + "/trpc/orders.create", `{"id":"a"}`, 401, "UNAUTHORIZED"},
		"too many at once": {base + strings.Repeat("orders.list,", 100) + "orders.list?batch=1", "", 400, "BAD_REQUEST"},
	} {
		got := send(t, "POST", test.url, test.body)
		type member struct {
			Message string
			Code    int
			Data    struct {
				Code       string
				HTTPStatus int
			}
		}
		var read struct {
			Error struct {
				member
				JSON member
			}
		}
		if err := json.Unmarshal([]byte(got.body), &read); err != nil || got.status != test.status || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %d %v %s, %v", about, got.status, got.header, got.body, err)
			continue
		}
		if one := read.Error.member; one != read.Error.JSON || one.Message == "" || one.Code == 0 || one.Data.Code != test.code || one.Data.HTTPStatus != test.status {
			t.Errorf("%s: %s", about, got.body)
		}
	}
	if got := send(t, "POST", guarded+"/trpc/orders.create", `{"id":"a"}`); got.header.Get("Www-Authenticate") == "" {
		t.Errorf("the challenge is missing: %v", got.header)
	}
}

// An input may have a member with the name "json" without superjson.
func TestAnInputThatHasAMemberJSONStaysAsItIs(t *testing.T) {
	s := sabir.NewService("files")
	type file struct {
		JSON string `json:"json"`
	}
	sabir.Handle(s, "put", func(_ context.Context, in file) (string, error) { return in.JSON, nil })
	sabir.Handle(s, "map", func(_ context.Context, in map[string]string) (string, error) { return in["json"], nil })
	sabir.Handle(s, "any", func(_ context.Context, in json.RawMessage) (string, error) { return string(in), nil })
	_, base := start(t, []*sabir.Service{s})
	for name, want := range map[string]string{"put": `"a"`, "map": `"a"`, "any": `"{\"json\":\"a\"}"`} {
		if got := send(t, "POST", base+"/trpc/files."+name, `{"json":"a"}`); got.body != `{"result":{"data":`+want+`}}` {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

func TestAWebSocketIsRefusedWithTheLinkToUse(t *testing.T) {
	base := startOrders(t)
	for _, path := range []string{"", "?connectionParams=1", "orders.count"} {
		got := send(t, "GET", strings.TrimSuffix(base, "/")+strings.TrimSuffix("/"+path, "/"), "",
			"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
		if got.status != 400 || !strings.Contains(got.body, "httpSubscriptionLink") {
			t.Errorf("%q: %d %s", path, got.status, got.body)
		}
	}
}

func TestSetsAndURLsOfSuperjsonAreReadAsListsAndStrings(t *testing.T) {
	s := sabir.NewService("files")
	type file struct {
		Tags []string `json:"tags"`
		Link string   `json:"link"`
		Note string   `json:"note,omitempty"`
	}
	sabir.Handle(s, "put", func(_ context.Context, in file) (file, error) { return in, nil })
	_, base := start(t, []*sabir.Service{s})
	got := send(t, "POST", base+"/trpc/files.put",
		`{"json":{"tags":["a","b"],"link":"http://a.example/","note":null},"meta":{"values":{"tags":["set"],"link":["URL"],"note":["undefined"]},"v":1}}`)
	if got.body != `{"result":{"data":{"json":{"tags":["a","b"],"link":"http://a.example/"}}}}` {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// One call that can only be superjson's tells the form of those beside it in a batch, whose inputs could be plain ones.
func TestCallsOfOneBatchHaveOneForm(t *testing.T) {
	s := sabir.NewService("files")
	sabir.Handle(s, "map", func(_ context.Context, in map[string]string) (int, error) { return len(in), nil })
	sabir.Handle(s, "sum", func(_ context.Context, in upTo) (int, error) { return in.N, nil })
	_, base := start(t, []*sabir.Service{s})
	got := send(t, "POST", base+"/trpc/files.map,files.sum?batch=1", `{"0":{"json":{"a":"b","c":"d"}},"1":{"json":{"n":7}}}`)
	if got.body != `[{"result":{"data":{"json":2}}},{"result":{"data":{"json":7}}}]` {
		t.Errorf("%d %s", got.status, got.body)
	}
}
