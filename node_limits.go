package sabir

import (
	"errors"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/internal/option"
)

// limits are those of a node that can change while it runs. They are read as a whole and replaced as a whole.
type limits struct {
	depth int
	start time.Duration // 0 for none
	stop  time.Duration

	replaced chan struct{} // closed when others took their place
}

// limitOption is an option of NewNode that Node.SetLimits takes too.
type limitOption struct {
	name  string
	where option.Site
	set   func(*limits)
	wrong string // what is wrong with the value; "" for nothing
}

// problem is the error of a value that cannot be meant.
func (o limitOption) problem() error {
	if o.wrong == "" {
		return nil
	}
	return fmt.Errorf("%s: %s %s", o.where, o.name, o.wrong)
}

func (o limitOption) applyNode(n *Node) {
	n.optionProblem(n.given.Again(o.name, o.where))
	n.optionProblem(o.problem())
	o.set(&n.made)
}

// MaxDepth bounds how deep calls may nest, so that actions which call each other in a circle end in an error instead of
// a full stack. Default: 100.
func MaxDepth(n int) NodeOption {
	return limitOption{name: "MaxDepth", where: option.Caller(), set: func(l *limits) { l.depth = max(n, 1) }}
}

// StartTimeout bounds how long Start waits for services of other nodes that its own depend on, see [DependsOn]. The error names what
// is missing. Default: Start waits until its context ends.
func StartTimeout(d time.Duration) NodeOption {
	return limitOption{name: "StartTimeout", where: option.Caller(), set: func(l *limits) { l.start = d }, wrong: negative(d)}
}

// StopTimeout bounds how long Run waits for calls in flight when it ends; 0 cuts them off at once. Default: 10 seconds.
func StopTimeout(d time.Duration) NodeOption {
	return limitOption{name: "StopTimeout", where: option.Caller(), set: func(l *limits) { l.stop = d }, wrong: negative(d)}
}

// negative says what is wrong with a time that has passed before it begins: a stop with one would cut off all calls in flight.
func negative(d time.Duration) string {
	if d >= 0 {
		return ""
	}
	return "is " + d.String() + ": want a positive time"
}

func (n *Node) useLimits(l limits) {
	l.replaced = make(chan struct{})
	if former := n.limits.Swap(&l); former != nil {
		close(former.replaced)
	}
}

// SetLimits gives the node other limits, whatever its state: each of [MaxDepth], [StartTimeout] and [StopTimeout] at most once. One that is left out is again what
// NewNode was given, or the default. Calls and stops that begin later have the new ones, and a start that waits has them at once. Any other option, one twice, or a negative time is an error with the name BadOption, and nothing changes then.
func (n *Node) SetLimits(options ...NodeOption) error {
	next := n.made
	var given option.Given
	for _, o := range options {
		limit, ok := o.(limitOption)
		if !ok {
			return Errorf(CodeInvalidArgument, nameBadOption, "Node.SetLimits takes MaxDepth, StartTimeout and StopTimeout: any other option is for NewNode")
		}
		if err := errors.Join(given.Again(limit.name, limit.where), limit.problem()); err != nil {
			return Errorf(CodeInvalidArgument, nameBadOption, "%w", err)
		}
		limit.set(&next)
	}
	n.useLimits(next)
	return nil
}
