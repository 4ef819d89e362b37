package sabir_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/introspect"
)

// answering is a service users whose action get answers with what is given.
func answering(text string, options ...sabir.ServiceOption) sabir.NodeOption {
	s := sabir.NewService("users", options...)
	sabir.Handle(s, "get", func(context.Context, sabir.Empty) (string, error) { return text, nil }, sabir.Idempotent())
	return sabir.Serve(s)
}

// setRoute sets shares by asking a node, and returns what is set then.
func setRoute(t *testing.T, n *sabir.Node, name string, shares ...introspect.Share) []introspect.Route {
	t.Helper()
	list, err := askRoute(t, n, introspect.Route{Name: name, Shares: shares})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func askRoute(t *testing.T, n *sabir.Node, in introspect.Route) (list []introspect.Route, err error) {
	t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = sabir.CallJSON(t.Context(), n, "$node.route", text); err != nil {
		return nil, err
	}
	return list, json.Unmarshal(text, &list)
}

// awaitNode waits until what a node says of itself is as wanted. The tables change with each thing that it learns.
func awaitNode(t *testing.T, n *sabir.Node, wanted func(introspect.Node) bool) {
	t.Helper()
	for {
		changed := n.Changed()
		if wanted(n.Info()) {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("it is not told: %+v", n.Info())
		}
	}
}

func routed(info introspect.Node) bool { return len(info.Routes) == 1 }

// answers counts the answers to calls of users.get.
func answers(t *testing.T, n *sabir.Node, calls int, options ...sabir.CallOption) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	for range calls {
		text, err := sabir.Call[string](t.Context(), n, "users.get", sabir.Empty{}, options...)
		if err != nil {
			t.Fatal(err)
		}
		counts[text]++
	}
	return counts
}

func about(got, want int) bool { return math.Abs(float64(got-want)) <= 4 }

func TestANewVersionGetsItsShareOfTheCallsFromItsFirstCallOn(t *testing.T) {
	address := sabir.Join("mem://" + t.Name())
	one := start(t, sabir.NodeID("one"), answering("one", sabir.Version(1)), address)
	caller := start(t, sabir.NodeID("caller"), address)
	if list := setRoute(t, one, "users.get", introspect.Share{To: "v2", Percent: 5}); len(list) != 1 || list[0].Name != "users.get" {
		t.Fatalf("%+v", list)
	}
	awaitNode(t, caller, routed)
	if got := answers(t, caller, 100); got["one"] != 100 { // of what nobody offers
		t.Errorf("%v", got)
	}
	two := start(t, sabir.NodeID("two"), answering("two", sabir.Version(2)), address)
	if err := caller.WaitFor(t.Context(), "v2.users"); err != nil {
		t.Fatal(err)
	}
	bound := sabir.Bind[sabir.Empty, string](caller, "users.get")
	got := answers(t, caller, 500)
	for range 500 {
		text, err := bound(t.Context(), sabir.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		got[text]++
	}
	if !about(got["two"], 50) || !about(got["one"], 950) {
		t.Errorf("5 %% of 1000 calls: %v", got)
	}
	awaitNode(t, two, routed)
	if err := one.WaitFor(t.Context(), "v2.users"); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, one, 1000); !about(got["two"], 50) { // the other version is on the caller's own node
		t.Errorf("of its own node: %v", got)
	}
	if got := answers(t, caller, 20, sabir.ByKey("customer 7")); len(got) != 1 {
		t.Errorf("with one key: %v", got)
	}
	if text, err := sabir.Call[string](t.Context(), caller, "v2.users.get", sabir.Empty{}); text != "two" || err != nil {
		t.Errorf("by its version: %q, %v", text, err)
	}
	setRoute(t, two, "users.get") // ends it
	awaitNode(t, caller, func(info introspect.Node) bool { return info.Routes == nil })
	if got := answers(t, caller, 100); got["two"] != 100 { // the highest version
		t.Errorf("ended: %v", got)
	}
}

func TestNodesWithALabelGetTheirShareOfTheCalls(t *testing.T) {
	address := "mem://" + t.Name()
	start(t, sabir.NodeID("a"), answering("a"), sabir.Join(address))
	start(t, sabir.NodeID("b"), answering("b"), sabir.Join(address))
	start(t, sabir.NodeID("c"), answering("c"), sabir.Join(address, cluster.Config{Labels: map[string]string{"track": "canary"}}))
	caller := start(t, sabir.NodeID("caller"), sabir.Join(address))
	for len(caller.Action("users.get").Nodes()) != 3 {
		<-caller.Changed()
	}
	setRoute(t, caller, "users.*", introspect.Share{To: "track=canary", Percent: 10})
	if got := answers(t, caller, 1000); !about(got["c"], 100) || !about(got["a"], 450) || !about(got["b"], 450) {
		t.Errorf("10 %% of 1000: %v", got)
	}
	setRoute(t, caller, "users.get", introspect.Share{To: "node=a", Percent: 80}, introspect.Share{To: "node=b", Percent: 20}) // rather than users.*
	if got := answers(t, caller, 1000); !about(got["a"], 800) || !about(got["b"], 200) {
		t.Errorf("80 %% and 20 %% of 1000: %v", got)
	}
	setRoute(t, caller, "users.get", introspect.Share{To: "node=a", Percent: 10}, introspect.Share{To: "node=b", Percent: 10}, introspect.Share{To: "node=c", Percent: 20})
	if got := answers(t, caller, 1000); !about(got["a"], 250) || !about(got["b"], 250) || !about(got["c"], 500) {
		t.Errorf("shares of 10, 10 and 20 %% that are all there is, of 1000: %v", got)
	}
	setRoute(t, caller, "users.get", introspect.Share{To: "node=a", Percent: 50})
	sides := make(map[bool]int)
	for i := range 50 { // a customer stays on one side
		got := answers(t, caller, 4, sabir.ByKey(fmt.Sprint("customer-", i)))
		if got["a"] != 0 && got["a"] != 4 {
			t.Errorf("customer %d: %v", i, got)
		}
		sides[got["a"] == 0]++
	}
	if len(sides) != 2 {
		t.Errorf("all customers are on one side: %v", sides)
	}
}

func TestANodeThatStartsAnewLearnsFromTheOthersWhatWasDecided(t *testing.T) {
	address := sabir.Join("mem://" + t.Name())
	first := start(t, sabir.NodeID("a"), answering("a"), address)
	other := start(t, sabir.NodeID("b"), answering("b"), address)
	setDrained(t, first, true)
	setRoute(t, first, "users.get", introspect.Share{To: "node=a", Percent: 30})
	awaitNode(t, other, routed)
	awaitDrained(t, other, "a", true)
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := start(t, sabir.NodeID("a"), answering("a"), address)
	awaitNode(t, again, func(info introspect.Node) bool { return info.Drained && routed(info) })
	reports(t, again.Ready(t.Context()), sabir.ErrServiceUnavailable, "the node is drained")
	setDrained(t, again, false)
	awaitDrained(t, other, "a", false)
	if err := other.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	third := start(t, sabir.NodeID("b"), address)
	awaitNode(t, third, routed)
	awaitDrained(t, third, "a", false)
}

func TestRoutesThatWereClearedTakeNoSpaceAndAreNoNewsToANodeThatStarts(t *testing.T) {
	address := sabir.Join("mem://" + t.Name())
	n := start(t, sabir.NodeID("a"), address)
	for i := range membership.MaxDecisions + 10 {
		name := fmt.Sprintf("x%d.get", i)
		setRoute(t, n, name, introspect.Share{To: "node=a", Percent: 50})
		setRoute(t, n, name)
	}
	setRoute(t, n, "users.get", introspect.Share{To: "node=a", Percent: 50})
	var lock sync.Mutex
	var lines []string
	log := writerFunc(func(p []byte) (int, error) {
		lock.Lock()
		defer lock.Unlock()
		if strings.Contains(string(p), "shared out") {
			lines = append(lines, string(p))
		}
		return len(p), nil
	})
	later := start(t, sabir.NodeID("b"), address, sabir.Logger(slog.New(slog.NewTextHandler(log, nil))))
	awaitNode(t, later, routed)
	setRoute(t, later, "users.get")
	lock.Lock()
	defer lock.Unlock()
	if len(lines) != 2 || !strings.Contains(lines[0], `"calls are shared out" node=b action=users.get`) || !strings.Contains(lines[1], `"calls are not shared out any more" node=b action=users.get`) {
		t.Errorf("%q", lines)
	}
}

func TestARouteThatCannotBeIsAnError(t *testing.T) {
	n := start(t)
	for want, in := range map[string]introspect.Route{
		`"canary" is no target of a share`: {Name: "users.get", Shares: []introspect.Share{{To: "canary", Percent: 5}}},
		`the pattern "users..get"`:         {Name: "users..get", Shares: []introspect.Share{{To: "v2", Percent: 5}}},
		"120 % together":                   {Name: "users.get", Shares: []introspect.Share{{To: "v2", Percent: 60}, {To: "v3", Percent: 60}}},
	} {
		_, err := askRoute(t, n, in)
		reports(t, err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", ""), strings.Fields(want)...)
	}
	_, err := sabir.CallJSON(t.Context(), n, "$node.route", []byte(`{"name":7}`))
	reports(t, err, sabir.ErrBadInput, "$node.route")
	_, err = sabir.CallJSON(t.Context(), n, "$node.route", []byte(`{"action":"users.get","shares":[{"to":"v2","percent":5}]}`))
	reports(t, err, sabir.ErrBadInput, "no name")
}

func version(number int) []sabir.ServiceOption { return []sabir.ServiceOption{sabir.Version(number)} }

func TestWhatIsLostHasNoPartInTheCallsOfANameThatAnotherVersionAnswers(t *testing.T) {
	for i, test := range []struct {
		name      string
		lost, new []sabir.ServiceOption
		reaches   string
		shares    []introspect.Share
	}{
		{"the service without a version", nil, version(2), "v2.users.get", nil},
		{"the service without a version, while calls are shared out", nil, version(2), "v2.users.get", []introspect.Share{{To: "v2", Percent: 5}}},
		{"a version, while calls are shared out", version(1), version(2), "v2.users.get", []introspect.Share{{To: "v2", Percent: 5}}},
		{"the version with a share", version(2), nil, "users.get", []introspect.Share{{To: "v2", Percent: 5}}},
		{"the version with all calls", version(2), version(1), "v1.users.get", []introspect.Share{{To: "v2", Percent: 100}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := sabir.Join(fmt.Sprint("mem://whatislost", i))
			lost := sabir.NewNode(sabir.NodeID("lost"), answering("lost", test.lost...), address)
			if err := lost.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			start(t, sabir.NodeID("new"), answering("new", test.new...), address)
			caller := start(t, sabir.NodeID("caller"), address)
			for changed := caller.Changed(); len(caller.Actions()) < 2; changed = caller.Changed() {
				<-changed
			}
			if test.shares != nil {
				setRoute(t, caller, "users.get", test.shares...)
			}
			bound := sabir.Bind[sabir.Empty, string](caller, "users.get")
			if err := lost.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			for changed := caller.Changed(); len(caller.Absent()) == 0; changed = caller.Changed() {
				<-changed
			}
			if got := answers(t, caller, 20); got["new"] != 20 {
				t.Errorf("%v", got)
			}
			for range 20 {
				if text, err := bound(t.Context(), sabir.Empty{}); text != "new" || err != nil {
					t.Fatalf("bound: %q, %v", text, err)
				}
			}
			if a := caller.Action("users.get"); a == nil || a.Name != test.reaches {
				t.Errorf("the name reaches %v", a)
			}
		})
	}
}

func TestACallOfASharedNameWhoseVersionIsLostOnItsWayGoesToTheRest(t *testing.T) {
	address := sabir.Join("mem://" + t.Name())
	start(t, sabir.NodeID("old"), answering("old"), address)
	canary := sabir.NewNode(sabir.NodeID("canary"), answering("new", sabir.Version(2)), address)
	if err := canary.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var caller *sabir.Node
	lose := sabir.Middleware{Name: "lose", Remote: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			if a.Name == "v2.users.get" && canary.State() == "running" {
				if err := canary.Stop(t.Context()); err != nil {
					return err
				}
				for changed := caller.Changed(); len(caller.Absent()) == 0; changed = caller.Changed() {
					<-changed
				}
			}
			return next(ctx, r)
		}
	}}
	caller = start(t, sabir.NodeID("caller"), sabir.Use(lose), address)
	if err := caller.WaitFor(t.Context(), "users", "v2.users"); err != nil {
		t.Fatal(err)
	}
	setRoute(t, caller, "users.get", introspect.Share{To: "v2", Percent: 100})
	if got := answers(t, caller, 10); got["old"] != 10 {
		t.Errorf("%v", got)
	}
}
