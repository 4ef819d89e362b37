package sabir_test

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/mem"
)

func TestNodesAtFixedAddressesFindEachOtherAndTheOneThatComesBack(t *testing.T) {
	addresses := map[string]string{"a": "mem://static-a", "b": "mem://static-b", "c": "mem://static-c"}
	all := cluster.Config{Members: []string{addresses["a"], addresses["b"], addresses["c"]}}
	start := func(id string) *sabir.Node {
		t.Helper()
		s := sabir.NewService("of-" + id)
		sabir.Handle(s, "name", func(context.Context, sabir.Empty) (string, error) { return id, nil })
		n := sabir.NewNode(sabir.NodeID(id), sabir.Serve(s), sabir.Join(addresses[id], all))
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n
	}
	stop := func(n *sabir.Node) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := n.Stop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	reaches := func(from *sabir.Node, id string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := from.WaitFor(ctx, "of-"+id); err != nil {
			t.Fatal(err)
		}
		if got, err := sabir.Call[string](ctx, from, "of-"+id+".name", sabir.Empty{}); err != nil || got != id {
			t.Errorf("%s calls %s: %q, %v", from.ID(), id, got, err)
		}
	}
	a, b, c := start("a"), start("b"), start("c")
	defer stop(a)
	defer stop(b)
	for _, from := range []*sabir.Node{a, b, c} {
		for id := range addresses {
			reaches(from, id)
		}
	}
	stop(c)
	for changed := a.Changed(); a.Action("of-c.name") != nil; changed = a.Changed() { // that of the one that has gone
		<-changed
	}
	c = start("c")
	defer stop(c)
	reaches(a, "c")
	reaches(c, "b")
}
