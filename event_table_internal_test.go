package sabir

import (
	"context"
	"testing"
	"time"
)

// planned is the plan of a name as it is now.
func planned(t *testing.T, n *Node, name string) *eventPlan {
	t.Helper()
	p, err := n.events.plan(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func listening(name, pattern string) *Service {
	s := NewService(name)
	On(s, pattern, func(context.Context, int) error { return nil })
	return s
}

// awaitListeners waits until so many other nodes take events of that name.
func awaitListeners(t *testing.T, ctx context.Context, n *Node, name string, nodes int) {
	t.Helper()
	for {
		changed := n.Changed()
		if len(planned(t, n, name).remoteNodes) == nodes {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%d nodes take %s, want %d", len(planned(t, n, name).remoteNodes), name, nodes)
		}
	}
}

func TestAChangeOfHandlersForgetsThePlansThatItIsAboutAndNoOthers(t *testing.T) {
	n := NewNode(Serve(listening("audit", "**")))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Stop(context.Background())
	kept, changed := planned(t, n, "user.created"), planned(t, n, "order.paid")
	orders := listening("orders", "order.*")
	if err := n.Add(t.Context(), orders); err != nil {
		t.Fatal(err)
	}
	if planned(t, n, "user.created") != kept {
		t.Error("the plan of another name is forgotten")
	}
	if p := planned(t, n, "order.paid"); p == changed || len(p.groups) != 2 {
		t.Errorf("the plan has %d groups after the second has come", len(p.groups))
	}
	if err := n.Remove(t.Context(), orders); err != nil {
		t.Fatal(err)
	}
	if p := planned(t, n, "order.paid"); len(p.groups) != 1 {
		t.Errorf("the plan has %d groups after the second has gone", len(p.groups))
	}
	if planned(t, n, "user.created") != kept {
		t.Error("the plan of another name is forgotten")
	}
}

func TestAChangeOfTheClusterForgetsThePlansThatItIsAboutAndNoOthers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begin := beginner(t, ctx)
	emitter := begin("emitter", Serve(listening("audit", "**")))
	users := begin("users", Serve(listening("users", "user.*")))
	awaitLinks(ctx, []*Node{emitter, users})
	awaitListeners(t, ctx, emitter, "user.created", 1)
	kept := planned(t, emitter, "user.created")
	orders := listening("orders", "order.*")
	if err := users.Add(ctx, orders); err != nil {
		t.Fatal(err)
	}
	awaitListeners(t, ctx, emitter, "order.paid", 1)
	if planned(t, emitter, "user.created") != kept {
		t.Error("the plan of another name is forgotten when a node listens to more")
	}
	begin("third", Serve(listening("orders", "order.*")))
	awaitListeners(t, ctx, emitter, "order.paid", 2)
	if planned(t, emitter, "user.created") != kept {
		t.Error("the plan of another name is forgotten when a node comes")
	}
	if err := users.Remove(ctx, orders); err != nil {
		t.Fatal(err)
	}
	awaitListeners(t, ctx, emitter, "order.paid", 1)
	if planned(t, emitter, "user.created") != kept {
		t.Error("the plan of another name is forgotten when a node listens to less")
	}
}
