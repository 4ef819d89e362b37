package sabir

import (
	"context"
	stdjson "encoding/json"
	"testing"
	"time"

	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/mem"
)

func TestLastWordsOfAFormerSelfDoNotCount(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begin := func(id string, options ...NodeOption) *Node {
		n := NewNode(append(options, ID(id), Join("mem://former-self"))...)
		if err := n.Start(ctx); err != nil {
			t.Fatal(err)
		}
		return n
	}
	end := func(n *Node) {
		if err := n.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
	service := func() *Service {
		s := NewService("svc")
		Handle(s, "it", func(context.Context, Nothing) (Nothing, error) { return Nothing{}, nil })
		return s
	}
	a := begin("a")
	defer end(a)
	b := begin("b", Serve(service()))
	if err := a.WaitFor(ctx, "svc"); err != nil {
		t.Fatal(err)
	}
	former := a.mesh.Load().linkedPeer("b").link()
	end(b)
	for { // else the service of the former self would be taken for that of the new one
		changed := a.Changed()
		if a.Action("svc.it") == nil {
			break
		}
		<-changed
	}
	b = begin("b", Serve(service()))
	defer end(b)
	if err := a.WaitFor(ctx, "svc"); err != nil {
		t.Fatal(err)
	}

	nothing, err := stdjson.Marshal(cluster.Catalog{Node: "b", Instance: 1, Version: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	a.mesh.Load().GoAway(former)
	a.mesh.Load().offered("b", nothing)
	a.mesh.Load().takeCatalogs()
	a.rebuild(a.mesh.Load().registry.View())
	if _, err := Call[Nothing](ctx, a, "svc.it", Nothing{}); err != nil {
		t.Errorf("what the former self of b said late counts: %v", err)
	}
}

func TestAnotherLinkToANodeLosesNoCountOfTheCallsInFlight(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began, free := make(chan struct{}, 1), make(chan struct{})
	s := NewService("svc")
	Handle(s, "it", func(context.Context, Nothing) (Nothing, error) {
		began <- struct{}{}
		<-free
		return Nothing{}, nil
	})
	b := NewNode(ID("b"), Serve(s), Join("mem://another-link"))
	a := NewNode(ID("a"), Join("mem://another-link"))
	for _, n := range []*Node{b, a} {
		if err := n.Start(ctx); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := n.Stop(ctx); err != nil {
				t.Error(err)
			}
		}()
	}
	if err := a.WaitFor(ctx, "svc"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := Call[Nothing](ctx, a, "svc.it", Nothing{})
		ended <- err
	}()
	<-began
	if err := a.mesh.Load().dial(ctx, b.Info().Addr, "b"); err != nil {
		t.Fatal(err)
	}
	for _, c := range a.Action("svc.it").endpoint.(*away).offers.Load().candidates {
		if now := a.mesh.Load().linkedPeer("b").stats.Load(); c != now || c.InFlight() != 1 {
			t.Errorf("%d calls are in flight, and the balancer looks where they are counted: %v", c.InFlight(), c == now)
		}
	}
	close(free)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
