package sabir

import (
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/sabir-go/sabir/internal/wire"
)

// What is not there when a call is read may be when it is served, and may block.
func TestOnlyAnInlineActionThatIsThereRunsOnTheReader(t *testing.T) {
	s := NewService("svc")
	nothing := func(context.Context, Empty) (Empty, error) { return Empty{}, nil }
	Handle(s, "quick", nothing, Inline())
	Handle(s, "slow", nothing)
	n := NewNode()
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Stop(context.Background())
	for _, there := range []bool{false, true} {
		if there {
			if err := n.Add(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		for name, inline := range map[string]bool{"svc.quick": true, "svc.slow": false} {
			r := &inboundRoute{node: n, link: new(wire.Link), name: name, format: "native"}
			if r.Inline() != (there && inline) {
				t.Errorf("%s, there %v: inline %v", name, there, r.Inline())
			}
		}
	}
}

func TestARouteThatIsNotCalledKeepsNoTableOfThePast(t *testing.T) {
	n := NewNode()
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Stop(context.Background())
	r := &inboundRoute{node: n, link: new(wire.Link), name: "svc.action", format: "native"}
	past := weak.Make(n.table.Load())
	r.resolve()
	if err := n.Add(t.Context(), NewService("other")); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	if past.Value() != nil {
		t.Error("the table before the change is still in memory")
	}
	runtime.KeepAlive(r)
}
