package sabir

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
)

// picksItself picks the caller's own node, which does something the moment after.
type picksItself struct{ after func() }

func (p *picksItself) Pick(among []*membership.Candidate, _ string) *membership.Candidate {
	own := slices.IndexFunc(among, func(c *membership.Candidate) bool { return c.ID == "caller" })
	if own < 0 {
		return among[0]
	}
	p.after()
	return among[own]
}

func TestACallGoesToAnotherNodeWhereTheOwnServiceThatWasPickedHasJustGone(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	caller := calledAndCaller(t, ctx, []string{"a", "b"}, PreferLocal(false))
	own := NewService("svc")
	Handle(own, "it", func(context.Context, int) (string, error) { return "caller", nil })
	if err := caller.Add(ctx, own); err != nil {
		t.Fatal(err)
	}
	caller.Action("svc.it").endpoint.(*remoteAction).balancer = &picksItself{func() {
		if err := caller.Remove(ctx, own); err != nil {
			t.Error(err)
		}
	}}
	if on, err := Call[string](ctx, caller, "svc.it", 1); on != "a" || err != nil {
		t.Errorf("the call: %s, %v", on, err)
	}
}
