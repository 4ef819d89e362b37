package sabir

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec/native"
	_ "github.com/sabir-go/sabir/transport/mem"
	"github.com/sabir-go/sabir/wire"
)

// calledAndCaller starts nodes that offer svc, with an action it and a stream flow, and last one that calls them.
func calledAndCaller(t *testing.T, ctx context.Context, called ...string) *Node {
	t.Helper()
	begin := func(id string, options ...NodeOption) *Node {
		n := NewNode(append(options, ID(id), Join("mem://"+t.Name()))...)
		if err := n.Start(ctx); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			stopping, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := n.Stop(stopping); err != nil {
				t.Error(err)
			}
		})
		return n
	}
	for _, id := range called {
		s := NewService("svc")
		Handle(s, "it", func(_ context.Context, in int) (string, error) { return id, nil })
		On(s, "news", func(context.Context, int) error { return nil })
		HandleStream(s, "flow", func(ctx context.Context, stream *Stream[int, string]) error {
			for _, err := range stream.All() {
				if err != nil {
					return err
				}
				if err := stream.Send(id); err != nil {
					return err
				}
			}
			return nil
		})
		begin(id, Serve(s))
	}
	caller := begin("caller")
	if err := caller.WaitFor(ctx, "svc"); err != nil {
		t.Fatal(err)
	}
	return caller
}

func TestCallsAndStreamsGoToAnotherNodeWhereALinkTakesNoMore(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	caller := calledAndCaller(t, ctx, "a", "b")
	held, err := OpenStream[int, string](ctx, caller, "svc.flow", ToNode("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	a := caller.mesh.Load().linkedPeer("a")
	draining := make(map[*wire.Link]bool)
	for refused := false; !refused; {
		for _, link := range a.allLinks() { // two, where both nodes dialled
			if !draining[link] {
				draining[link] = true
				go link.Drain(ctx) // it takes nothing new from now on; the one with the stream stands
			}
		}
		stream, err := OpenStream[int, string](ctx, caller, "svc.flow", ToNode("a"))
		if refused = err != nil; !refused {
			stream.Close()
		}
	}
	if len(a.allLinks()) == 0 {
		t.Fatal("the table does without the link already")
	}
	for range 4 {
		if on, err := Call[string](ctx, caller, "svc.it", 1); on != "b" || err != nil {
			t.Errorf("the call: %s, %v", on, err)
		}
		stream, err := OpenStream[int, string](ctx, caller, "svc.flow")
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(1); err != nil {
			t.Fatal(err)
		}
		if on, err := stream.Recv(); on != "b" || err != nil {
			t.Errorf("the stream: %s, %v", on, err)
		}
		stream.Close()
	}
}

func TestAnEventForANodeThatHasJustLeftIsForNobody(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	caller := calledAndCaller(t, ctx, "a")
	plan, err := planOf(caller, "news")
	if err != nil || len(plan.away) != 1 || len(plan.others) != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	a := caller.mesh.Load().linkedPeer("a")
	var dropped []*wire.Link
	for kind, to := range map[string][]*away{"Emit": plan.away, "Broadcast": plan.others} {
		var lost error
		for lost == nil { // it goes over a second link that has just come, where both nodes dialled
			for _, link := range a.allLinks() {
				a.dropLink(link)
				dropped = append(dropped, link)
			}
			lost = tell(ctx, to, 1)
		}
		if !errors.Is(lost, ErrLinkLost) {
			t.Errorf("%s where the link is lost: %v", kind, lost)
		}
	}
	for _, link := range dropped {
		a.addLink(link)
		caller.mesh.Load().GoAway(link)
	}
	for kind, to := range map[string][]*away{"Emit": plan.away, "Broadcast": plan.others} {
		if err := tell(ctx, to, 1); err != nil {
			t.Errorf("%s where the node has left: %v", kind, err)
		}
	}
}

func TestOneSchemaTooManyIsAnErrorThatSaysSo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	caller := calledAndCaller(t, ctx, "a")
	var called, opened error
	for called == nil || opened == nil { // a second link may come while the first is used up, where both nodes dialled
		for _, link := range caller.mesh.Load().linkedPeer("a").allLinks() {
			useUpSchemas(t, link)
		}
		_, called = Call[string](ctx, caller, "svc.it", 1)
		_, opened = OpenStream[int, string](ctx, caller, "svc.flow")
	}
	for what, err := range map[string]error{"the call": called, "the stream": opened} {
		if e := AsError(err); e.Code != ResourceExhausted || e.Name != "TooMuchDeclared" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func useUpSchemas(t *testing.T, link *wire.Link) {
	for i, more := 0, true; more; i++ {
		schema, err := native.SchemaOf(reflect.StructOf([]reflect.StructField{{Name: fmt.Sprint("Field", i), Type: reflect.TypeFor[int]()}}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = link.DeclareSchema(schema)
		more = err == nil
	}
}
