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
