package web

import (
	"context"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

type orderCount struct {
	ID    int `json:"id"`
	Count int `json:"count" validate:"min=1"`
}

// rulesAndErrors is a service whose inputs have rules and whose errors name nodes.
func rulesAndErrors() *sabir.Service {
	s := sabir.NewService("orders")
	sabir.Handle(s, "place", func(_ context.Context, in orderCount) (orderCount, error) { return in, nil }, sabir.Route("POST", "/orders"))
	sabir.Handle(s, "change", func(_ context.Context, in orderCount) (orderCount, error) { return in, nil }, sabir.Route("PUT", "/orders/{id}"))
	sabir.Handle(s, "none", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, sabir.NewError(sabir.CodeNotFound, "NoOrder", "there is no such order")
	})
	for action, e := range map[string]*sabir.Error{"lost": sabir.ErrLinkLost, "busy": sabir.ErrTooManyCalls, "codec": sabir.NewError(sabir.CodeFailedPrecondition, "NoCommonCodec", ""), "quorum": sabir.ErrNoQuorum} {
		sabir.Handle(s, action, func(context.Context, sabir.Empty) (sabir.Empty, error) {
			return sabir.Empty{}, sabir.Errorf(e.Code, e.Name, "this is about node worker-1")
		})
	}
	return s
}

// nodesWithRules are the address of a node with the service and that of one that forwards to it.
func nodesWithRules(t *testing.T) map[string]string {
	alone := start(t, sabir.Serve(rulesAndErrors()), sabir.HTTP(":0"))
	startAs(t, "worker-1", sabir.Join("mem://"+t.Name()), sabir.Serve(rulesAndErrors()))
	forwarding := startAs(t, "gateway", sabir.Join("mem://"+t.Name()), sabir.HTTP(":0", With(Config{Forward: []string{"orders.*"}})))
	if err := forwarding.WaitFor(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"here": "http://" + alone.HTTPAddr(), "behind a gateway": "http://" + forwarding.HTTPAddr()}
}

func TestFieldsThatBreakRulesSayWhereTheyCameFromOnAnyNode(t *testing.T) {
	for where, base := range nodesWithRules(t) {
		for _, request := range [][2]string{{"POST", "/orders"}, {"PUT", "/orders/7"}} {
			p := ask(t, request[0], base+request[1], `{"count":-1}`).problem(t)
			list, _ := p.Data.([]any)
			if len(list) != 1 {
				t.Fatalf("%s, %v: %+v", where, request, p)
			}
			fault := list[0].(map[string]any)
			if _, named := fault["name"]; p.Status != 422 || fault["in"] != "body" || named || fault["pointer"] != "/count" {
				t.Errorf("%s, %v: %+v", where, request, fault)
			}
		}
	}
}

func TestErrorsNameNoOtherNodeThanTheOneThatWasAsked(t *testing.T) {
	base := nodesWithRules(t)["behind a gateway"]
	for _, action := range []string{"none", "lost", "busy", "codec", "quorum"} {
		got := post(t, base+"/orders/"+action, `{}`)
		if p := got.problem(t); p.Node != "gateway" || strings.Contains(got.body, "worker-1") {
			t.Errorf("%s: %s", action, got.body)
		}
	}
}

func TestALinkThatIsLostUnderAHandlerIsNotSaidToBeThatOfItsCall(t *testing.T) {
	for where, base := range nodesWithRules(t) {
		got := post(t, base+"/orders/lost", `{}`).problem(t)
		if want := "the connection to another node was lost while orders.lost ran, which may have done its work"; got.Name != "LinkLost" || got.Detail != want {
			t.Errorf("%s: %s: %q, want %q", where, got.Name, got.Detail, want)
		}
	}
}

func TestTheAddressWithoutAVersionIsThatOfWhatAnswersTheName(t *testing.T) {
	named := func(text string, options ...sabir.ServiceOption) sabir.NodeOption {
		s := sabir.NewService("users", options...)
		sabir.Handle(s, "get", func(context.Context, sabir.Empty) (string, error) { return text, nil })
		return sabir.Serve(s)
	}
	join := sabir.Join("mem://" + t.Name())
	old := sabir.NewNode(sabir.NodeID("old"), named("old"), join)
	if err := old.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	startAs(t, "new", named("new", sabir.Version(2)), join)
	gate := startAs(t, "gateway", join, sabir.HTTP(":0", With(Config{Forward: []string{"users.*"}})))
	if err := gate.WaitFor(t.Context(), "users", "v2.users"); err != nil {
		t.Fatal(err)
	}
	base := "http://" + gate.HTTPAddr()
	if got := post(t, base+"/users/get", `{}`); got.body != `"old"` {
		t.Errorf("while the service without a version is there: %s", got.body)
	}
	if err := old.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for changed := gate.Changed(); len(gate.Absent()) == 0; changed = gate.Changed() {
		<-changed
	}
	if got := post(t, base+"/users/get", `{}`); got.body != `"new"` {
		t.Errorf("when it is gone: %s", got.body)
	}
}

// A gateway said that it "cannot encode Go type json.RawMessage", and not where.
func TestABodyThatIsNoJSONIsDescribedAlikeOnAnyNode(t *testing.T) {
	for where, base := range nodesWithRules(t) {
		for about, test := range map[string]struct{ method, path, body, want string }{
			"an end too early":                {"POST", "/orders", `{"id":7,"count":`, "at /count: the text ends in the middle of a value (offset 16)"},
			"a name twice":                    {"POST", "/orders", `{"count":1,"count":2}`, "at /count: the object has this name twice (offset 11)"},
			"a field of the path in the body": {"PUT", "/orders/7", `{"id":8}`, "id comes from the path, so it must not be in the body"},
		} {
			if p := ask(t, test.method, base+test.path, test.body).problem(t); p.Status != 400 || p.Name != "BadInput" || !strings.Contains(p.Detail, test.want) {
				t.Errorf("%s, %s: %d %s %s, want %s", where, about, p.Status, p.Name, p.Detail, test.want)
			}
		}
	}
}
