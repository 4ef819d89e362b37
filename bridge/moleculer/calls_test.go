package moleculer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/validate"
)

type order struct {
	Item  string `json:"item" validate:"required"`
	Lines []struct {
		Amount int `json:"amount"`
	} `json:"lines"`
}

// orders is a service of the Go side.
func orders() *sabir.Service {
	s := sabir.NewService("orders", sabir.Version(3))
	sabir.Handle(s, "echo", func(_ context.Context, in any) (any, error) { return in, nil })
	sabir.Handle(s, "create", func(_ context.Context, in order) (string, error) { return "order of " + in.Item, nil })
	sabir.Handle(s, "info", func(ctx context.Context, _ any) (map[string]any, error) {
		info := sabir.InfoFromContext(ctx)
		_, limited := ctx.Deadline()
		return map[string]any{"level": info.Depth, "caller": info.CalledBy, "requestID": info.RequestID, "meta": sabir.InfoFromContext(ctx).Metadata, "headers": moleculer.Headers(ctx), "limited": limited}, nil
	})
	sabir.Handle(s, "mark", func(ctx context.Context, _ any) (string, error) {
		return "", errors.Join(moleculer.SetMeta(ctx, "marked", map[string]int{"times": 2}), sabir.Answer(ctx).SetHeader("plain", "text"))
	})
	sabir.Handle(s, "relay", func(ctx context.Context, in string) (json.RawMessage, error) {
		return sabir.Call[json.RawMessage](ctx, sabir.NodeFromContext(ctx), in, map[string]any{})
	})
	sabir.Handle(s, "fail", func(ctx context.Context, name string) (string, error) {
		return "", sabir.NewError(sabir.CodeFailedPrecondition, name, "it cannot be").WithData(map[string]int{"left": 3})
	})
	sabir.Handle(s, "busy", func(ctx context.Context, size int) (string, error) {
		return "", sabir.NewError(sabir.CodeUnavailable, "Busy", "come again").AsRetryable().WithData(strings.Repeat("x", size))
	})
	sabir.Handle(s, "length", func(_ context.Context, in string) (int, error) { return len(in), nil })
	sabir.Handle(s, "text", func(_ context.Context, size int) (string, error) { return strings.Repeat("x", size), nil })
	sabir.Handle(s, "sleep", func(ctx context.Context, _ any) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	sabir.Handle(s, "bytes", func(_ context.Context, in struct {
		Data []byte    `json:"data"`
		At   time.Time `json:"at"`
	}) (string, error) {
		return fmt.Sprint(in.Data, in.At.Unix()), nil
	})
	sabir.Handle(s, "secret", func(context.Context, any) (string, error) { return "secret", nil }, sabir.ClusterOnly())
	return s
}

// TestCallsBothWays runs one pair of nodes of each version, since these take seconds to find each other.
func TestCallsBothWays(t *testing.T) {
	versions(t, func(t *testing.T, a *place, js *peer) {
		n := a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"orders.*"}})
		js.must(nil, "wait", "v3.orders")
		if err := n.WaitFor(t.Context(), "v2.js"); err != nil {
			t.Fatal(err)
		}
		for _, one := range []struct {
			behaviour string
			test      func(t *testing.T, n *sabir.Node, js *peer)
		}{
			{"calls of Moleculer nodes", callsOfMoleculerNodes},
			{"calls that go there and back keep level caller request and meta", callsThatGoThereAndBackKeepLevelCallerRequestAndMeta},
			{"traces go on there and back", tracesGoOnThereAndBack},
			{"calls of Moleculer's actions", callsOfMoleculersActions},
			{"errors of Moleculer have their meaning", errorsOfMoleculerHaveTheirMeaning},
			{"errors of Sabir are Moleculer's classes", errorsOfSabirAreMoleculersClasses},
			{"errors have their data both ways", errorsHaveTheirDataBothWays},
			{"what is too large for the broker is an error", whatIsTooLargeForTheBrokerIsAnError},
			{"Moleculer's tools see the node", moleculersToolsSeeTheNode},
		} {
			t.Run(one.behaviour, func(t *testing.T) { one.test(t, n, js) })
		}
	})
}

func callsOfMoleculerNodes(t *testing.T, n *sabir.Node, js *peer) {
	for _, params := range []string{`{"a":[1,2.5,null,true,"x"],"b":{"c":{}}}`, `[]`, `7`, `"text"`, `true`, `null`, `{}`} {
		out, err := js.call("v3.orders.echo", json.RawMessage(params))
		if err != nil || string(out.Result) != params {
			t.Errorf("%s came back as %s, %v", params, out.Result, err)
		}
	}
	out, err := js.call("v3.orders.info", nil, map[string]any{"meta": map[string]any{"user": "Ada", "roles": []string{"clerk"}, "sabir.principal": "forged"}, "timeout": 60000, "headers": map[string]any{"x": 1}, "requestID": "r-1"})
	want := `{"caller":"","headers":{"x":1},"level":1,"limited":true,"meta":{"moleculer-json":"roles","roles":"[\"clerk\"]","user":"Ada"},"requestID":"r-1"}`
	if js.id == "js-4" {
		want = strings.Replace(want, `{"x":1}`, `{}`, 1)
	}
	if err != nil || string(out.Result) != want {
		t.Errorf("a handler got %s, %v\nwant %s", out.Result, err, want)
	}
	if out, err := js.call("v3.orders.mark", nil, map[string]any{"meta": map[string]any{"a": 1}}); err != nil || fmt.Sprint(out.Meta) != "map[a:1 marked:map[times:2] plain:text]" {
		t.Errorf("meta is %v, %v", out.Meta, err)
	}
	var text string
	if err := js.do(&text, "buffer", "v3.orders.bytes"); err != nil || text != "[1 2 3] 0" {
		t.Errorf("bytes: %s, %v", text, err)
	}
	var same map[string]any
	if err := js.do(&same, "buffer", "v3.orders.echo"); err != nil || fmt.Sprint(same) != "map[at:1970-01-01T00:00:00.000Z data:map[data:[1 2 3] type:Buffer]]" {
		t.Errorf("a Buffer came back as %v, %v", same, err)
	}
}

func tracesGoOnThereAndBack(t *testing.T, n *sabir.Node, js *peer) {
	const request, trace, span = "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	// Moleculer, Sabir, Moleculer
	out, err := js.call("v3.orders.relay", "v2.js.info", map[string]any{"parentSpan": map[string]any{"id": "00f067aa-0ba9-42b7-8000-000000000000", "traceID": request, "sampled": true}})
	var there struct {
		RequestID, ParentID string
		Tracing             bool
	}
	if err == nil {
		err = json.Unmarshal(out.Result, &there)
	}
	if want := "00f067aa0ba942b7"; err != nil || there.RequestID != request || there.ParentID != want || !there.Tracing {
		t.Errorf("a nested call is traced as %+v, %v, want the trace %s and the span %s", there, err, request, want)
	}
	// Sabir, Moleculer, Sabir
	for name, c := range map[string]struct {
		request string
		nearer  bool // the span of the Moleculer node is in the trace
	}{"a request id that is the trace": {request, true}, "a request id of its own": {"r-4", false}, "another trace": {"0af76519-16cd-43dd-8448-eb211c80319c", false}} {
		ctx := sabir.WithMetadata(sabir.WithRequestID(t.Context(), c.request), "traceparent", "00-"+trace+"-"+span+"-01")
		back, err := sabir.Call[struct {
			Meta map[string]string `json:"meta"`
		}](ctx, n, "js.relay", map[string]any{"action": "v3.orders.info", "params": nil})
		if err != nil {
			t.Fatal(err)
		}
		got := back.Meta["traceparent"]
		if len(got) != 55 || got[3:35] != trace || got[53:] != "01" || (got[36:52] != span) != c.nearer {
			t.Errorf("%s: a call that came back has the traceparent %q", name, got)
		}
	}
}

func callsThatGoThereAndBackKeepLevelCallerRequestAndMeta(t *testing.T, n *sabir.Node, js *peer) {
	type info struct {
		Level     int            `json:"level"`
		Caller    string         `json:"caller"`
		RequestID string         `json:"requestID"`
		Meta      map[string]any `json:"meta"`
		Timeout   int            `json:"timeout"`
	}
	// Moleculer, Sabir, Moleculer
	out, err := js.call("v3.orders.relay", "v2.js.info", map[string]any{"requestID": "r-2", "timeout": 60_000, "meta": map[string]any{"user": map[string]any{"id": 7}}})
	var there info
	if err == nil {
		err = json.Unmarshal(out.Result, &there)
	}
	if err != nil || there.Level != 2 || there.Caller != "v3.orders.relay" || there.RequestID != "r-2" || fmt.Sprint(there.Meta["user"]) != "map[id:7]" || there.Timeout <= 0 || there.Timeout > 60_000 {
		t.Errorf("a nested call got %+v, %v", there, err)
	}
	// Sabir, Moleculer, Sabir
	ctx := sabir.WithMetadata(sabir.WithRequestID(t.Context(), "r-3"), "user", "Bob")
	back, err := sabir.Call[info](ctx, n, "js.relay", map[string]any{"action": "v3.orders.info", "params": nil})
	if err != nil || back.Level != 2 || back.Caller != "v2.js" && back.Caller != "v2.js.relay" || back.RequestID != "r-3" || back.Meta["user"] != "Bob" {
		t.Errorf("a call that came back got %+v, %v", back, err)
	}
	// What a nested handler adds to meta is in the answer to the first caller.
	if out, err := js.call("v3.orders.relay", "v2.js.mark"); err != nil || fmt.Sprint(out.Meta["marked"]) != "map[by:"+js.id+"]" {
		t.Errorf("meta is %v, %v", out.Meta, err)
	}
}

func callsOfMoleculersActions(t *testing.T, n *sabir.Node, js *peer) {
	if sum, err := sabir.Call[int](t.Context(), n, "js.add", map[string]int{"a": 2, "b": 3}); err != nil || sum != 5 {
		t.Errorf("the sum is %d, %v", sum, err)
	}
	if out, err := sabir.Call[any](t.Context(), n, "v2.js.nothing", sabir.Empty{}); err != nil || out != nil {
		t.Errorf("undefined is %v, %v", out, err)
	}
	if who, err := sabir.Call[string](t.Context(), n, "v2.js.whoami", sabir.Empty{}, sabir.ToNode(js.id)); err != nil || who != js.id {
		t.Errorf("the node is %s, %v", who, err)
	}
	ctx := moleculer.WithHeaders(t.Context(), map[string]any{"one": "hop"})
	info, err := sabir.Call[map[string]any](ctx, n, "js.info", sabir.Empty{}, sabir.WithTimeout(time.Minute))
	timeout, _ := info["timeout"].(float64)
	if err != nil || timeout <= 0 || timeout > 60000 || info["level"] != 1.0 {
		t.Errorf("a call had %v, %v", info, err)
	}
	if js.id == "js-5" && fmt.Sprint(info["headers"]) != "map[one:hop]" {
		t.Errorf("the headers are %v", info["headers"])
	}
	if _, err := sabir.Call[any](t.Context(), n, "js.sleep", map[string]int{"ms": 60000}, sabir.WithTimeout(50*time.Millisecond)); !errors.Is(err, sabir.ErrDeadlineExceeded) {
		t.Errorf("the error at the deadline is %v", err)
	}
	back, meta := moleculer.CollectMeta(t.Context())
	if _, err := sabir.Call[any](back, n, "js.mark", sabir.Empty{}); err != nil || fmt.Sprint(meta()) != "map[marked:map[by:"+js.id+"]]" {
		t.Errorf("meta came back as %v, %v", meta(), err)
	}
	if health, err := sabir.Call[map[string]any](t.Context(), n, "$node.health", sabir.Empty{}, sabir.ToNode(js.id)); err != nil || health["cpu"] == nil {
		t.Errorf("health: %v, %v", health, err)
	}
}

func errorsOfMoleculerHaveTheirMeaning(t *testing.T, n *sabir.Node, js *peer) {
	for _, c := range []struct {
		class string
		code  int
		kind  string
		want  *sabir.Error
		again bool
	}{
		{"MoleculerError", 0, "", sabir.NewError(sabir.CodeInternal, "HandlerFailed", ""), false},
		{"MoleculerError", 409, "TAKEN", sabir.NewError(sabir.CodeAborted, "TAKEN", ""), false},
		{"MoleculerClientError", 401, "WHO", sabir.NewError(sabir.CodeUnauthenticated, "WHO", ""), false},
		{"MoleculerRetryableError", 500, "AGAIN", sabir.NewError(sabir.CodeInternal, "AGAIN", ""), true},
		{"MoleculerServerError", 503, "DOWN", sabir.NewError(sabir.CodeUnavailable, "DOWN", ""), true},
		{"ValidationError", 0, "", sabir.ErrValidationFailed, false},
		{"Error", 0, "", sabir.ErrHandlerFailed, false},
	} {
		in := map[string]any{"class": c.class, "message": "because"}
		if c.code != 0 {
			in["code"], in["type"] = c.code, c.kind
		}
		_, err := sabir.Call[any](t.Context(), n, "js.fail", in)
		e := sabir.AsError(err)
		if !errors.Is(err, c.want) || e.Retryable != c.again || e.Message != "because" || e.Node != js.id {
			t.Errorf("%s %d %s: %#v", c.class, c.code, c.kind, e)
		}
		if origin, ok := errors.AsType[*moleculer.Error](err); !ok || origin.Class != c.class {
			t.Errorf("%s: the class is %+v", c.class, origin)
		}
	}
	_, err := sabir.Call[any](t.Context(), n, "js.add", map[string]any{"a": "x", "b": 1})
	fields, _ := sabir.DataAs[validate.Errors](err)
	if !errors.Is(err, sabir.ErrValidationFailed) || len(fields) != 1 || fields[0].Path != "a" || fields[0].Rule != "number" {
		t.Errorf("%v with %+v", err, fields)
	}
}

func errorsOfSabirAreMoleculersClasses(t *testing.T, n *sabir.Node, js *peer) {
	for _, c := range []struct {
		action  string
		params  any
		options map[string]any
		want    string
		fields  string // a part of its data
	}{
		{"v3.orders.create", map[string]any{}, nil, "ValidationError 422 VALIDATION_ERROR false", `"field":"item"`},
		{"v3.orders.create", map[string]any{"item": 7}, nil, "ValidationError 422 VALIDATION_ERROR false", `"field":"item"`},
		{"v3.orders.create", map[string]any{"item": "a", "lines": []any{map[string]any{"amount": 1}, map[string]any{"amount": "x"}}}, nil, "ValidationError 422 VALIDATION_ERROR false", `"field":"lines[1].amount"`},
		{"v3.orders.fail", "SoldOut", nil, "MoleculerClientError 409 SoldOut false", ""},
		{"v3.orders.secret", nil, map[string]any{"nodeID": "go"}, "ServiceNotFoundError 404 SERVICE_NOT_FOUND true", ""},
		{"v3.orders.relay", "nobody.knows", nil, "MoleculerClientError 404 ActionNotFound false: no action is called nobody.knows", ""},
		{"v3.orders.sleep", nil, map[string]any{"timeout": 100}, "RequestTimeoutError 504 REQUEST_TIMEOUT true", ""},
		{"v3.orders.relay", "js.fail", nil, "TypeError <nil>  false", ""},
	} {
		_, err := js.call(c.action, c.params, c.options)
		var e *jsError
		if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), c.want) {
			t.Errorf("%s %v: %v\nwant %s", c.action, c.params, err, c.want)
		}
		if list, _ := json.Marshal(e.Data); c.fields != "" && !strings.Contains(string(list), c.fields) {
			t.Errorf("%s %v: the fields are %s, want %s", c.action, c.params, list, c.fields)
		}
	}
}

// registryOf reads a list of $node: of each item its name, its nodes, and the names of its actions and events.
func registryOf(t *testing.T, result []byte) (list []string) {
	t.Helper()
	var items []struct {
		ID, Name, FullName, Group, NodeID string
		Count                             int
		Nodes                             []string
		Actions                           map[string]any
		Events                            map[string]any
		Endpoints                         []struct{ NodeID string }
	}
	if err := json.Unmarshal(result, &items); err != nil {
		t.Fatalf("%s: %v", result, err)
	}
	for _, i := range items {
		slices.Sort(i.Nodes)
		slices.SortFunc(i.Endpoints, func(a, b struct{ NodeID string }) int { return strings.Compare(a.NodeID, b.NodeID) })
		list = append(list, fmt.Sprint(i.ID, i.Name, i.FullName, i.Group, i.NodeID, i.Count, i.Nodes, slices.Sorted(maps.Keys(i.Actions)), slices.Sorted(maps.Keys(i.Events)), i.Endpoints))
	}
	slices.Sort(list)
	return list
}

func moleculersToolsSeeTheNode(t *testing.T, n *sabir.Node, js *peer) {
	var list []string
	js.must(&list, "nodes")
	if slices.Sort(list); !slices.Equal(list, []string{"go", js.id}) {
		t.Errorf("nodes: %v", list)
	}
	js.must(&list, "services")
	if !slices.Contains(list, "v3.orders") {
		t.Errorf("services: %v", list)
	}
	for _, action := range []string{"list", "services", "actions", "events", "health", "options", "metrics"} {
		if out, err := js.call("$node."+action, nil, map[string]any{"nodeID": "go"}); err != nil || len(out.Result) < 2 {
			t.Errorf("$node.%s: %s, %v", action, out.Result, err)
		}
	}
	for action, params := range map[string][]map[string]any{
		"list":     {{}},
		"services": {{}, {"skipInternal": true, "withActions": true}, {"grouping": false, "withEvents": "true"}},
		"actions":  {{}, {"skipInternal": true, "withEndpoints": true}},
		"events":   {{}, {"skipInternal": true, "withEndpoints": true}},
	} {
		for _, p := range params {
			own, err := js.call("$node."+action, p, map[string]any{"nodeID": js.id})
			if err != nil {
				t.Fatal(err)
			}
			out, err := js.call("$node."+action, p, map[string]any{"nodeID": "go"})
			if got, want := registryOf(t, out.Result), registryOf(t, own.Result); err != nil || !slices.Equal(got, want) {
				t.Errorf("$node.%s %v lists\n%s\nMoleculer lists\n%s\n%v", action, p, strings.Join(got, "\n"), strings.Join(want, "\n"), err)
			}
		}
	}
	local, err := js.call("$node.services", map[string]any{"onlyLocal": true, "skipInternal": true}, map[string]any{"nodeID": "go"})
	if got := registryOf(t, local.Result); err != nil || len(got) == 0 || strings.Contains(strings.Join(got, " "), js.id) {
		t.Errorf("onlyLocal: %v, %v", got, err)
	}
	var there bool
	if js.must(&there, "ping", "go"); !there {
		t.Error("the node does not answer a ping")
	}
	nodes := n.Nodes()
	if len(nodes) != 2 || nodes[1].ID != js.id || !strings.HasPrefix(nodes[1].Framework, "moleculer 0.1") || nodes[1].Actions < 9 {
		t.Errorf("nodes here: %+v", nodes)
	}
}

func errorsHaveTheirDataBothWays(t *testing.T, n *sabir.Node, js *peer) {
	_, err := sabir.Call[any](t.Context(), n, "js.fail", map[string]any{"class": "MoleculerRetryableError", "message": "m", "code": 503, "type": "AGAIN", "data": map[string]any{"left": 3}})
	if e := sabir.AsError(err); fmt.Sprint(e.Data) != "map[left:3]" || !e.Retryable {
		t.Errorf("an error of Moleculer has the data %v, retryable %v", e.Data, e.Retryable)
	}
	for _, c := range []struct {
		action string
		params any
		data   string
		again  bool
	}{{"v3.orders.fail", "SoldOut", "map[left:3]", false}, {"v3.orders.busy", 2, "xx", true}} {
		_, err := js.call(c.action, c.params)
		if e, ok := errors.AsType[*jsError](err); !ok || fmt.Sprint(e.Data) != c.data || e.Retryable != c.again || e.NodeID != "go" {
			t.Errorf("%s: %+v", c.action, err)
		}
	}
}
