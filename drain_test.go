package sabir_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/introspect"
)

// replica is the service users on a node, which counts its calls and events.
func replica(counts *[3]atomic.Int32) *sabir.Service {
	s := sabir.NewService("users")
	sabir.Handle(s, "get", func(ctx context.Context, _ sabir.Empty) (string, error) {
		counts[0].Add(1)
		return sabir.NodeFromContext(ctx).ID(), nil
	}, sabir.Idempotent())
	sabir.On(s, "users.asked", func(context.Context, int) error { counts[1].Add(1); return nil })
	sabir.On(s, "users.told", func(context.Context, int) error { counts[2].Add(1); return nil })
	return s
}

func awaitDrained(t *testing.T, n *sabir.Node, id string, want bool) {
	t.Helper()
	for {
		changed := n.Changed()
		for _, other := range n.Nodes() {
			if other.ID == id && other.Drained == want {
				return
			}
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal("it is not told")
		}
	}
}

// setDrained drains a node, or ends that.
func setDrained(t *testing.T, n *sabir.Node, drained bool) {
	t.Helper()
	set := n.Undrain
	if drained {
		set = n.Drain
	}
	if err := set(); err != nil {
		t.Fatal(err)
	}
}

func TestADrainedNodeGetsNoCallsAndEventsThatOthersCanTake(t *testing.T) {
	var counts [2][3]atomic.Int32
	address := sabir.Join("mem://" + t.Name())
	a := start(t, sabir.NodeID("a"), sabir.Serve(replica(&counts[0])), address)
	b := start(t, sabir.NodeID("b"), sabir.Serve(replica(&counts[1])), address)
	caller := start(t, sabir.NodeID("caller"), address)
	for !slices.Equal(caller.Action("users.get").Nodes(), []string{"a", "b"}) {
		<-caller.Changed()
	}
	calls := func() (on []string) {
		for range 8 {
			id, err := sabir.Call[string](t.Context(), caller, "users.get", sabir.Empty{})
			if err != nil {
				t.Fatal(err)
			}
			if err := sabir.Emit(t.Context(), caller, "users.asked", 1); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(on, id) {
				on = append(on, id)
			}
		}
		slices.Sort(on)
		return on
	}
	setDrained(t, a, true)
	awaitDrained(t, caller, "a", true)
	if on := calls(); !slices.Equal(on, []string{"b"}) || counts[0][1].Load() != 0 || counts[1][1].Load() != 8 {
		t.Errorf("calls went to %v, events to %d and %d", on, counts[0][1].Load(), counts[1][1].Load())
	}
	if err := sabir.Broadcast(t.Context(), caller, "users.told", 1); err != nil || counts[0][2].Load() != 1 || counts[1][2].Load() != 1 {
		t.Errorf("%v: a broadcast came %d and %d times", err, counts[0][2].Load(), counts[1][2].Load())
	}
	reports(t, a.Ready(t.Context()), sabir.ErrServiceUnavailable, "the node is drained")
	later := start(t, sabir.NodeID("later"), address)
	awaitDrained(t, later, "a", true)
	setDrained(t, b, true) // there is no better one now
	awaitDrained(t, caller, "b", true)
	if on := calls(); !slices.Equal(on, []string{"a", "b"}) {
		t.Errorf("with both drained calls went to %v", on)
	}
	setDrained(t, b, false)
	setDrained(t, a, false)
	awaitDrained(t, caller, "a", false)
	awaitDrained(t, caller, "b", false)
	if on := calls(); !slices.Equal(on, []string{"a", "b"}) || a.Ready(t.Context()) != nil {
		t.Errorf("calls went to %v; %v", on, a.Ready(t.Context()))
	}
}

func TestTheOnlyNodeOfAServiceTakesItsCallsWhenItIsDrained(t *testing.T) {
	var counts [3]atomic.Int32
	caller := twoNodes(t, replica(&counts))
	if _, err := sabir.Call[introspect.Node](t.Context(), caller, "$node.drain", sabir.Empty{}, sabir.ToNode("other")); err != nil {
		t.Fatal(err)
	}
	awaitDrained(t, caller, "other", true)
	if id, err := sabir.Call[string](t.Context(), caller, "users.get", sabir.Empty{}); id != "other" || err != nil {
		t.Errorf("got %q, %v", id, err)
	}
	if _, err := sabir.Call[introspect.Node](t.Context(), caller, "$node.undrain", sabir.Empty{}, sabir.ToNode("other")); err != nil {
		t.Fatal(err)
	}
	awaitDrained(t, caller, "other", false)
}

func TestANodeThatSharesCallsWithOthersTakesNoneWhileItIsDrained(t *testing.T) {
	var counts [2][3]atomic.Int32
	address := sabir.Join("mem://" + strings.ReplaceAll(t.Name(), "/", "-"))
	start(t, sabir.NodeID("a"), sabir.Serve(replica(&counts[0])), address)
	own := start(t, sabir.NodeID("own"), sabir.Serve(replica(&counts[1])), address, sabir.PreferLocal(false))
	for !slices.Equal(own.Action("users.get").Nodes(), []string{"a", "own"}) {
		<-own.Changed()
	}
	setDrained(t, own, true)
	for range 8 {
		if id, err := sabir.Call[string](t.Context(), own, "users.get", sabir.Empty{}); id != "a" || err != nil {
			t.Fatalf("got %q, %v", id, err)
		}
	}
}

func TestANodeThatCannotBeDrainedSaysSo(t *testing.T) {
	n := start(t)
	for i := range membership.MaxDecisions {
		setRoute(t, n, fmt.Sprintf("x%d.get", i), introspect.Share{To: "node=a", Percent: 50})
	}
	reports(t, n.Drain(), sabir.NewError(sabir.CodeInvalidArgument, "BadOption", ""), "there are 256 decisions about nodes and routes")
	_, err := sabir.Call[introspect.Node](t.Context(), n, "$node.drain", sabir.Empty{})
	reports(t, err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", ""), "there are 256 decisions about nodes and routes")
	if n.Info().Drained {
		t.Error("it is drained")
	}
}
