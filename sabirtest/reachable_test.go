package sabirtest_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/sabirtest"
	_ "github.com/sabir-go/sabir/transport/mem"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

func echo(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil }

func start(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	n := sabir.NewNode(append([]sabir.NodeOption{sabir.Logger(slog.New(slog.DiscardHandler))}, options...)...)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Stop(context.Background()) })
	return n
}

// orders has an action for each kind of caller.
func orders(name string) *sabir.Service {
	s := sabir.NewService(name)
	sabir.Handle(s, "list", echo, sabir.Route("GET", "/"+name+"-list"))
	sabir.Handle(s, "mine", echo, sabir.Use(auth.Require()))
	sabir.Handle(s, "refund", echo, sabir.Use(auth.Require("clerk", "admin")))
	sabir.Handle(s, "inner", echo, sabir.ClusterOnly())
	return s
}

func keys() auth.Authenticator {
	return &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada"}}}
}

func TestTheAddressesOfActionsAreListedWithTheirCallers(t *testing.T) {
	for about, test := range map[string]struct {
		options []sabir.NodeOption
		list    string // the callers of orders.list
	}{
		"alone":            {[]sabir.NodeOption{sabir.HTTP("127.0.0.1:0")}, "programs on this machine"},
		"with a key":       {[]sabir.NodeOption{sabir.HTTP("127.0.0.1:0", gateway.Key("0123456789abcdef"))}, "who holds gateway.Key"},
		"with credentials": {[]sabir.NodeOption{sabir.HTTP("127.0.0.1:0", web.With(web.Config{Auth: []auth.Authenticator{keys()}}))}, "who is signed in"},
		"for everyone":     {[]sabir.NodeOption{sabir.HTTP("127.0.0.1:0", web.With(web.Config{Auth: []auth.Authenticator{keys()}, AllowAnonymous: true}))}, "programs on this machine"},
	} {
		t.Run(about, func(t *testing.T) {
			sabirtest.Reachable(t, start(t, append(test.options, sabir.Serve(orders("orders")))...),
				"POST /orders/list: "+test.list, "GET /orders-list: "+test.list,
				"POST /orders/mine: who is signed in", "POST /orders/refund: role clerk or admin")
		})
	}
}

func TestForwardedActionsHaveTheCallersThatTheirNodeAsksFor(t *testing.T) {
	start(t, sabir.NodeID("backend"), sabir.Join("mem://"+t.Name()), sabir.Serve(orders("orders"), orders("hidden")))
	gateway := start(t, sabir.NodeID("gateway"), sabir.Join("mem://"+t.Name()), sabir.HTTP("127.0.0.1:0", web.With(web.Config{Auth: []auth.Authenticator{keys()}, Forward: []string{"orders.*"}})))
	if err := gateway.WaitFor(t.Context(), "orders", "hidden"); err != nil {
		t.Fatal(err)
	}
	// doc: reachable
	sabirtest.Reachable(t, gateway,
		"POST /orders/list: who is signed in", "GET /orders-list: who is signed in",
		"POST /orders/mine: who is signed in",
		"POST /orders/refund: role clerk or admin")
	// end
}

func TestWhatIsNotListedAndWhatIsNotThereFails(t *testing.T) {
	n := start(t, sabir.HTTP("127.0.0.1:0"), sabir.Serve(orders("orders")))
	said := failures(t, func(f testing.TB) {
		sabirtest.Reachable(f, n, "POST /orders/list: programs on this machine", "GET /orders-list: programs on this machine",
			"POST /orders/mine: everyone", "POST /orders/refund: role clerk or admin")
	})
	want := []string{`reachable over HTTP, and not listed: "POST /orders/mine: who is signed in"`, `listed, and not reachable over HTTP: "POST /orders/mine: everyone"`}
	if !slices.Equal(said, want) {
		t.Errorf("got:\n%s", strings.Join(said, "\n"))
	}
}
