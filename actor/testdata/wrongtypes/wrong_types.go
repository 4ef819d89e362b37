// What the compiler refuses: each line that ends in a comment must be an error.
package wrongtypes

import (
	"context"

	"github.com/sabir-go/sabir/actor"
)

type (
	add   struct{ N int }
	total struct{}

	counter struct{ total int }
	other   struct{}
)

func (c *counter) Init(_ *actor.Process, start int) error       { c.total = start; return nil }
func (c *counter) Add(_ *actor.Process, m add) error            { c.total += m.N; return nil }
func (c *counter) Total(_ *actor.Process, _ total) (int, error) { return c.total, nil }
func (*other) Add(_ *actor.Process, m add) error                { return nil }
func (*other) Total(_ *actor.Process, _ total) (int, error)     { return 0, nil }
func (*counter) Untyped(_ *actor.Process, m any) error          { return nil }
func (*counter) Unknown(_ *actor.Process, m any) (any, error)   { return nil, nil }

var counters = actor.Define("counter", (*counter).Init, actor.OnMessage((*counter).Add), actor.OnCall((*counter).Total))

func wrong(ctx context.Context, s *actor.System) {
	ref, _ := actor.Spawn(s, counters, 40)
	_ = actor.Tell(s, ref, (*counter).Add, add{2})
	_ = actor.Tell(s, ref, (*counter).Add, &add{2})      // a pointer to the message
	_ = actor.Tell(s, ref, (*counter).Add, total{})      // another message
	_ = actor.Tell(s, ref, (*other).Add, add{2})         // the method of another state
	_ = actor.Tell(s, ref, (*counter).Total, total{})    // a call as a message
	_ = actor.Tell(s, ref.PID(), (*counter).Add, add{2}) // a PID, which has no state
	n, _ := actor.Ask(ctx, s, ref, (*counter).Total, total{})
	n++
	_, _ = actor.Ask(ctx, s, ref, (*counter).Total, &total{}) // a pointer to the input
	_, _ = actor.Ask(ctx, s, ref, (*other).Total, total{})    // the method of another state
	_, _ = actor.Ask(ctx, s, ref, (*counter).Add, add{2})     // a message that is asked
	var text string
	text, _ = actor.Ask(ctx, s, ref, (*counter).Total, total{}) // the answer
	_ = text
	var others actor.Ref[other]
	others = ref // the reference to another state
	_ = others
	others = actor.RefTo[counter](ref.PID()) // and one that is made
}
