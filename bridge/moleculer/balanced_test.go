package moleculer_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/internal/brokers"
)

// With disableBalancer Moleculer's nodes leave it to NATS which node of a service gets a call, and which of a group an event.
func TestTheBrokerSharesOutCallsAndEvents(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	a.options["disableBalancer"] = true
	a.bridge.DisableBalancer = true
	js := a.peer("5", "caller")
	a.peer("5", "other")
	got := make(chan string, 1000)
	one := a.node("one", []sabir.Servable{whoami("one"), orders(), heard("mail", "user.**", got)}, moleculer.Config{Expose: []string{"**"}})
	two := a.node("two", []sabir.Servable{whoami("two"), heard("mail", "user.*", got)}, moleculer.Config{Expose: []string{"**"}})
	js.must(nil, "wait", "v3.orders", "mail")
	for _, n := range []*sabir.Node{one, two} {
		waitFor(t, "the nodes", func() bool { return len(n.Nodes()) == 4 })
	}
	if out, err := js.call("v3.orders.create", order{Item: "tea"}); err != nil || string(out.Result) != `"order of tea"` {
		t.Errorf("%s, %v", out.Result, err)
	}
	by := counts(t, 200, func() (string, error) {
		out, err := js.call("v2.js.whoami", nil)
		return string(out.Result), err
	})
	for _, id := range []string{`"one"`, `"two"`, `"caller"`, `"other"`} {
		if by[id] < 10 {
			t.Errorf("answers came from %v", by)
		}
	}
	for range 50 {
		js.must(nil, "emit", "user.created", "Ada")
	}
	for range 50 {
		next(t, got)
	}
	js.must(nil, "broadcast", "user.gone", "Bob")
	for range 2 {
		if text := next(t, got); text != "mail user.gone Bob " {
			t.Errorf("a broadcast came as %q", text)
		}
	}
	// A node that stops takes no calls with it.
	failed := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 300 && err == nil; i++ {
			_, err = js.call("v2.js.whoami", nil)
		}
		failed <- err
	}()
	if err := two.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
	// Calls from here go to a node that the balancer here picks.
	if who, err := sabir.Call[string](t.Context(), one, "js.whoami", sabir.Empty{}, sabir.ToNode("other")); err != nil || who != "other" {
		t.Errorf("%s, %v", who, err)
	}
	if len(got) > 0 {
		t.Errorf("%q came too", <-got)
	}
}

func TestOnlyABrokerThatCanShareOutCallsMayDoIt(t *testing.T) {
	a := newPlaceAt(t, brokers.Redis)
	n := sabir.NewNode(moleculer.Bridge(moleculer.Config{Address: a.broker.URL(), DisableBalancer: true}))
	if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "use NATS") {
		t.Errorf("the start ended with %v", err)
	}
}
