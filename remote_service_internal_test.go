package sabir

import (
	"context"
	"log/slog"
	"testing"
	"time"

	_ "github.com/sabir-go/sabir/transport/mem"
)

func withTwoActions(name string, options ...ServiceOption) *Service {
	s := NewService(name, options...)
	for _, short := range []string{"get", "put"} {
		Handle(s, short, func(context.Context, int) (int, error) { return 0, nil })
	}
	return s
}

// joined starts a node of the test's cluster that offers the services.
func joined(t *testing.T, id string, services ...Servable) *Node {
	n := NewNode(NodeID(id), Serve(services...), Join("mem://"+t.Name()+"?seeds=mem://"+t.Name()), Logger(slog.New(slog.DiscardHandler)))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Stop(context.Background()) })
	return n
}

// awaitTable waits for a table of the node.
func awaitTable(t *testing.T, n *Node, is func(*routingTable) bool) *routingTable {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		changed := n.Changed()
		if table := n.table.Load(); is(table) {
			return table
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("the table did not come")
		}
	}
}

func TestAChangeOfOneServiceLeavesTheOthersAsTheyAre(t *testing.T) {
	caller := joined(t, "caller")
	a := joined(t, "a", withTwoActions("users"), withTwoActions("orders"))
	joined(t, "b", withTwoActions("users"))
	before := awaitTable(t, caller, func(table *routingTable) bool {
		s := table.remote["users"]
		return s != nil && len(s.nodes) == 2 && table.remote["orders"] != nil
	})
	if offers := before.view.Offers()["users"]; offers[0].Service != offers[1].Service {
		t.Error("what is the same on two nodes is kept twice")
	}
	known := before.find("orders.get")
	if err := a.Add(t.Context(), withTwoActions("more")); err != nil {
		t.Fatal(err)
	}
	after := awaitTable(t, caller, func(table *routingTable) bool { return table.remote["more"] != nil })
	for _, service := range []string{"users", "orders"} {
		if after.remote[service] != before.remote[service] {
			t.Errorf("%s was made anew for a service more", service)
		}
	}
	joined(t, "c", withTwoActions("orders"))
	last := awaitTable(t, caller, func(table *routingTable) bool { return len(table.remote["orders"].nodes) == 2 })
	if last.remote["users"] != after.remote["users"] || last.remote["orders"] == after.remote["orders"] {
		t.Error("another node with orders is no change of orders alone")
	}
	if last.find("orders.get") != known {
		t.Error("an action of orders was made anew, though it is described as before")
	}
}

// The name of an action may have dots: so one name can be of two services.
func TestANameOfTwoServicesIsThatOfTheLongerOne(t *testing.T) {
	short := NewService("shop")
	Handle(short, "orders.get", func(context.Context, int) (string, error) { return "shop", nil })
	joined(t, "a", short)
	long := NewService("shop.orders")
	Handle(long, "get", func(context.Context, int) (string, error) { return "shop.orders", nil })
	joined(t, "b", long)
	caller := joined(t, "caller")
	awaitTable(t, caller, func(table *routingTable) bool {
		return table.remote["shop"] != nil && table.remote["shop.orders"] != nil
	})
	if got, err := Call[string](t.Context(), caller, "shop.orders.get", 1); err != nil || got != "shop.orders" {
		t.Errorf("%s, %v", got, err)
	}
	named := 0
	for _, a := range caller.Actions() {
		if a.Name == "shop.orders.get" {
			named++
		}
	}
	if named != 1 {
		t.Errorf("the action is listed %d times", named)
	}
}

// The nodes of a version are told apart by their names alone: which of them prefers it must not depend on these.
func TestAVersionThatANodePrefersIsPreferredWhateverItsNodeIsCalled(t *testing.T) {
	joined(t, "a", withTwoActions("users", Version(1)))
	joined(t, "b", withTwoActions("users", Version(1), Preferred()))
	joined(t, "c", withTwoActions("users", Version(2)))
	caller := joined(t, "caller")
	table := awaitTable(t, caller, func(table *routingTable) bool {
		s := table.remote["v1.users"]
		return s != nil && len(s.nodes) == 2 && table.remote["v2.users"] != nil
	})
	if e := table.find("users.get"); e == nil || e.info().Name != "v1.users.get" {
		t.Errorf("users.get reaches %+v", e)
	}
}
