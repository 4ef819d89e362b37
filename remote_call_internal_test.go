package sabir

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/wire"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// calledAndCaller starts nodes that offer svc, with an action it and a stream flow, and last one that calls them.
func calledAndCaller(t *testing.T, ctx context.Context, called []string, options ...NodeOption) *Node {
	t.Helper()
	begin := beginner(t, ctx)
	var nodes []*Node
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
		nodes = append(nodes, begin(id, Serve(s)))
	}
	caller := begin("caller", options...)
	nodes = append(nodes, caller)
	for changed := caller.Changed(); len(nodesOf(caller, "svc.it")) < len(called); changed = caller.Changed() {
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("the caller does not know all nodes")
		}
	}
	awaitLinks(ctx, nodes)
	return caller
}

// nodesOf lists the nodes that a caller knows to offer an action.
func nodesOf(caller *Node, action string) []string {
	if a := caller.Action(action); a != nil {
		return a.endpoint.(*remoteAction).nodes()
	}
	return nil
}

// awaitLinks waits until all nodes are linked with each other and none dials another: so no further link comes.
func awaitLinks(ctx context.Context, nodes []*Node) {
	for _, n := range nodes {
		for _, other := range nodes {
			for other != n && ctx.Err() == nil && !meshOf(n).Settled(other.id) {
				runtime.Gosched()
			}
		}
	}
}

// keyFor is a key whose calls go to the node, whatever balancer the caller has.
func keyFor(t *testing.T, caller *Node, node string) CallOption {
	providers := caller.Action("svc.it").endpoint.(*remoteAction).providers.Load()
	balancer := membership.ConsistentHash()
	for i := range 1000 {
		key := fmt.Sprint("key ", i)
		if providers.nodes[slices.Index(providers.candidates, balancer.Pick(providers.candidates, key))].id == node {
			return ByKey(key)
		}
	}
	t.Fatal("no key is that of " + node)
	return nil
}

// goTo makes calls and opens streams, and reports where one goes elsewhere than to the node.
func goTo(t *testing.T, node string, call func() (string, error), open func() (*Stream[string, int], error)) {
	t.Helper()
	for range 4 {
		if on, err := call(); on != node || err != nil {
			t.Errorf("the call: %s, %v", on, err)
		}
		stream, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(1); err != nil {
			t.Fatal(err)
		}
		if on, err := stream.Recv(); on != node || err != nil {
			t.Errorf("the stream: %s, %v", on, err)
		}
		stream.Close()
	}
}

func TestCallsAndStreamsGoToAnotherNodeWhereALinkTakesNoMore(t *testing.T) {
	for balancer := range balancers {
		t.Run(balancer.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			caller := calledAndCaller(t, ctx, []string{"a", "b"}, Balance(balancer))
			key := keyFor(t, caller, "a")
			held, err := OpenStream[int, string](ctx, caller, "svc.flow", ToNode("a"))
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			a := meshOf(caller).Peer("a")
			for _, link := range a.Links() {
				go link.Drain(ctx) // it takes nothing new from now on; the one with the stream stands
				awaitRefusal(ctx, link)
			}
			if len(a.Links()) == 0 {
				t.Fatal("the table does without the link already")
			}
			goTo(t, "b", func() (string, error) {
				return Call[string](ctx, caller, "svc.it", 1, key)
			}, func() (*Stream[string, int], error) {
				return OpenStream[int, string](ctx, caller, "svc.flow", key)
			})
		})
	}
}

// meshOf is the mesh of a node that has joined.
func meshOf(n *Node) *mesh.Mesh { return n.cluster().(joinedMesh).Mesh }

// awaitRefusal waits until the link takes no new work.
func awaitRefusal(ctx context.Context, link *wire.Link) {
	for ctx.Err() == nil {
		stream, err := link.Open(ctx, link.Declare(wire.StreamRoute, "svc.flow", native.Name), wire.Meta{})
		if _, ok := errors.AsType[*wire.LostError](err); ok {
			return
		}
		if err != nil { // too many at once: those that were cancelled count until the other node has received the cancellation
			runtime.Gosched()
			continue
		}
		stream.Cancel()
	}
}

func TestCallsAndStreamsGoToAnotherNodeWhereALinkHasEnded(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	caller := calledAndCaller(t, ctx, []string{"a", "b"}, Balance(cluster.Hash))
	key := gather([]CallOption{keyFor(t, caller, "a")})
	m := meshOf(caller)
	ended, b := m.NewPeer("a"), m.Peer("b") // before the node receives the end
	for _, link := range m.Peer("a").Links() {
		link.Close(errors.New("lost"))
		ended.SetLinks(append(ended.Links(), link))
	}
	to := func(action string) *remoteAction {
		a := caller.newRemoteAction(&Action{Name: action, Service: "svc"})
		a.providers.Store(newProviders([]provider{{id: "a", peer: meshPeer{ended}, candidate: ended.Stats()}, {id: "b", peer: meshPeer{b}, candidate: b.Stats()}}, nil))
		return a
	}
	it, flow := to("svc.it"), to("svc.flow")
	goTo(t, "b", func() (string, error) {
		return callRemote[string](ctx, it, 1, key)
	}, func() (*Stream[string, int], error) {
		return callerEnd[int, string](openRemoteStream(ctx, flow, streamTypesOf[int, string](), key))
	})
}

func TestACallGoesToAnotherNodeWhereItsActionWasJustRemoved(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begin := beginner(t, ctx)
	services, nodes := map[string]*Service{}, map[string]*Node{}
	ran := 0
	for _, id := range []string{"a", "b"} {
		s := NewService("svc")
		Handle(s, "it", func(context.Context, int) (string, error) { return id, nil })
		Handle(s, "nested", func(ctx context.Context, in int) (string, error) {
			ran++
			return Call[string](ctx, nodes[id], "svc.other", in)
		})
		services[id], nodes[id] = s, begin(id, Serve(s))
	}
	caller := begin("caller")
	awaitNodes := func(want ...string) {
		t.Helper()
		for changed := caller.Changed(); !slices.Equal(nodesOf(caller, "svc.it"), want); changed = caller.Changed() {
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatal("the caller knows", nodesOf(caller, "svc.it"))
			}
		}
	}
	awaitNodes("a", "b")
	to := caller.Action("svc.it").endpoint.(*remoteAction)
	before := to.providers.Load()
	remove := func(id string) {
		t.Helper()
		if err := nodes[id].Remove(ctx, services[id]); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := Call[string](ctx, caller, "svc.nested", 1); !errors.Is(err, ErrActionNotFound) || ran != 1 {
		t.Errorf("a handler that ran %d times: %v", ran, err)
	}
	remove("a")
	awaitNodes("b")
	to.providers.Store(before) // as before the caller received it
	for range 4 {
		if on, err := callRemote[string](ctx, to, 1, callOptions{}); on != "b" || err != nil {
			t.Errorf("%s, %v", on, err)
		}
	}
	if _, err := callRemote[string](ctx, to, 1, callOptions{node: "a"}); !errors.Is(err, ErrActionNotFound) || AsError(err).Retryable {
		t.Errorf("on the node that is named: %v", err)
	}
	remove("b")
	awaitNodes()
	to.providers.Store(before)
	for range 2 {
		if _, err := callRemote[string](ctx, to, 1, callOptions{}); !errors.Is(err, ErrActionNotFound) || AsError(err).Retryable {
			t.Errorf("on all nodes: %v", err)
		}
	}
}

func TestAnEventForANodeThatHasJustLeftReachesNoNode(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	caller := calledAndCaller(t, ctx, []string{"a"})
	plan, err := planOf(ctx, caller, "news")
	if err != nil || len(plan.remoteGroups) != 1 || len(plan.remoteNodes) != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	a := meshOf(caller).Peer("a")
	var dropped []*wire.Link
	for kind, to := range map[string][]*remoteAction{"Emit": plan.remoteGroups, "Broadcast": plan.remoteNodes} {
		var lost error
		for lost == nil { // it goes over a second link that has just come, where both nodes dialled
			for _, link := range a.Links() {
				a.SetLinks(slices.DeleteFunc(slices.Clone(a.Links()), func(other *wire.Link) bool { return other == link }))
				dropped = append(dropped, link)
			}
			lost = sendEvent(ctx, to, new(1))
		}
		if !errors.Is(lost, ErrLinkLost) {
			t.Errorf("%s where the link is lost: %v", kind, lost)
		}
	}
	for _, link := range dropped {
		a.SetLinks(append(slices.Clone(a.Links()), link))
		meshOf(caller).GoAway(link)
	}
	for kind, to := range map[string][]*remoteAction{"Emit": plan.remoteGroups, "Broadcast": plan.remoteNodes} {
		if err := sendEvent(ctx, to, new(1)); err != nil {
			t.Errorf("%s where the node has left: %v", kind, err)
		}
	}
}

func TestAnEventForANodeWhoseGoodbyeIsUnderWayReachesNoNode(t *testing.T) {
	for _, kind := range []string{"Emit", "Broadcast"} {
		t.Run(kind, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			caller := calledAndCaller(t, ctx, []string{"a"})
			plan, err := planOf(ctx, caller, "news")
			if err != nil {
				t.Fatal(err)
			}
			to := map[string][]*remoteAction{"Emit": plan.remoteGroups, "Broadcast": plan.remoteNodes}[kind]
			held, err := OpenStream[int, string](ctx, caller, "svc.flow")
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			for _, link := range meshOf(caller).Peer("a").Links() {
				go link.Drain(ctx) // for calls it does not matter which side ended it; the link with the stream stands
				awaitRefusal(ctx, link)
			}
			if err := sendEvent(ctx, to, new(1)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCallsGoOnWhereTheTableOfSchemasIsFull(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	caller := calledAndCaller(t, ctx, []string{"a"})
	for _, link := range meshOf(caller).Peer("a").Links() {
		useUpSchemas(t, link)
	}
	if _, err := Call[string](ctx, caller, "svc.it", 1); err != nil {
		t.Errorf("the call: %v", err)
	}
	stream, err := OpenStream[int, string](ctx, caller, "svc.flow")
	if err == nil {
		err = stream.Send(1)
	}
	if err != nil {
		t.Fatalf("the stream: %v", err)
	}
	stream.Close()
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

// Else a caller by itself, whose every call is picked once and sent once, would have but one of two links.
func TestThePickOfANodeTakesNoneOfItsLinks(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	to := calledAndCaller(t, ctx, []string{"a", "b"}).Action("svc.it").endpoint.(*remoteAction)
	var peers []*mesh.Peer
	for _, p := range to.providers.Load().nodes {
		peers = append(peers, p.peer.(meshPeer).Peer)
	}
	for _, p := range peers { // two links, which take turns
		p.SetLinks([]*wire.Link{peers[0].Links()[0], peers[1].Links()[0]})
	}
	untouched := func() bool {
		next := make(map[*mesh.Peer]*wire.Link)
		for _, p := range peers {
			p.Link()
			next[p] = p.Link()
			p.Link()
		}
		for range peers { // each is picked once
			if _, err := to.pick(&callOptions{}, &avoided{}); err != nil {
				t.Fatal(err)
			}
		}
		return peers[0].Link() == next[peers[0]] && peers[1].Link() == next[peers[1]]
	}
	for range 20 { // gossip goes over the same links, a few times a second
		if untouched() {
			return
		}
	}
	t.Error("no call was sent, and the links of a picked node have had their turns")
}
