package sabir

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/sabir-go/sabir/transport/mem"
)

// beginner starts nodes that are stopped at the end of the test.
func beginner(t *testing.T, ctx context.Context) func(id string, options ...NodeOption) *Node {
	at := "mem://" + strings.NewReplacer("/", "-", ",", "").Replace(t.Name())
	return func(id string, options ...NodeOption) *Node {
		t.Helper()
		n := NewNode(append(options, NodeID(id), Join(at))...)
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
}

func TestATableMadeWhileANodeLeavesIsWithoutIt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begin := beginner(t, ctx)
	serve := func(version int) *Service {
		s := NewService("svc", Version(version))
		Handle(s, "it", func(context.Context, Empty) (int, error) { return version, nil })
		return s
	}
	begin("old", Serve(serve(1)))
	newer := NewService("newer")
	On(newer, "news", func(context.Context, int) error { return nil })
	begin("new", Serve(serve(2), newer))
	caller := begin("caller")
	if err := caller.WaitFor(ctx, "v1.svc", "v2.svc", "newer"); err != nil {
		t.Fatal(err)
	}

	m := meshOf(caller)
	view := m.View()
	m.GoAway(m.Peer("new").Link())
	for changed := caller.Changed(); caller.Action("v2.svc.it") != nil; changed = caller.Changed() {
		<-changed
	}
	caller.rebuild(view) // by what was read a moment before
	if version, err := Call[int](ctx, caller, "svc.it", Empty{}); version != 1 || err != nil {
		t.Errorf("svc.it is that of version %d, %v", version, err)
	}
	there, stop := context.WithCancel(ctx)
	stop()
	if err := caller.WaitFor(there, "newer"); !errors.Is(err, context.Canceled) {
		t.Errorf("the service of a node that has gone is there: %v", err)
	}
}

func TestANodeThatCouldNotJoinTakesEventsAndCalls(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n := calledAndCaller(t, ctx, []string{"a"})
	view := meshOf(n).View()
	m := n.mesh.Swap(nil) // as where it had received others before it failed
	defer n.mesh.Store(m)
	n.rebuild(view)
	if err := Emit(ctx, n, "news", 1); err != nil {
		t.Error(err)
	}
	if _, err := Call[string](ctx, n, "svc.it", 1); AsError(err).Code != CodeUnavailable {
		t.Error(err)
	}
}

// slowly is a text whose reading takes until the service that is to get it has gone.
type slowly struct{ text string }

var whileItIsRead func()

func (s *slowly) UnmarshalJSON(text []byte) error {
	whileItIsRead()
	return json.Unmarshal(text, &s.text)
}

func TestAnEventGoesToAnotherOfTheGroupWhereOneIsRemovedInTheSameMoment(t *testing.T) {
	tests := []struct{ name, other, emitter string }{
		{"all on one node", "a", "a"},
		{"both on another node", "a", "c"},
		{"the other on another node", "b", "a"},
		{"each on another node", "b", "c"},
	}
	for _, test := range tests {
		for how, options := range map[string][]ServiceOption{"queued": nil, "with a stop hook": {OnStop(func(context.Context) error { return nil })}} {
			t.Run(test.name+", "+how, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				in := Delivery{Group: "group"}
				if options == nil {
					in.Buffer = 1
				}
				leaving, staying := NewService("leaving", options...), NewService("staying", options...)
				On(leaving, "news", func(context.Context, slowly) error {
					t.Error("the service that was removed got the event")
					return nil
				}, in)
				got := make(chan string, 1000)
				On(staying, "news", func(_ context.Context, text string) error {
					got <- text
					return nil
				}, in)
				begin := beginner(t, ctx)
				nodes := make(map[string]*Node)
				for _, id := range []string{"a", "b", "c"} {
					nodes[id] = begin(id)
				}
				for service, node := range map[*Service]*Node{leaving: nodes["a"], staying: nodes[test.other]} {
					if err := node.Add(ctx, service); err != nil {
						t.Fatal(err)
					}
				}
				for _, n := range nodes {
					if err := n.WaitFor(ctx, "leaving", "staying"); err != nil {
						t.Fatal(err)
					}
				}
				var asked atomic.Int32
				whileItIsRead = func() {
					if asked.Add(1) > 1 {
						t.Error("the event went to the service that has gone")
					} else if err := nodes["a"].Remove(ctx, leaving); err != nil {
						t.Error(err)
					}
				}
				emitted := 0
				for ; asked.Load() == 0; emitted++ { // they take turns
					if err := Emit(ctx, nodes[test.emitter], "news", json.RawMessage(`"news"`)); err != nil {
						t.Error(err)
					}
				}
				for range emitted {
					select {
					case <-got:
					case <-ctx.Done():
						t.Fatal("an event got lost")
					}
				}
			})
		}
	}
}
