package sabir

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/option"
)

// Limits is an option of [NewNode]: how deep its calls nest, how long it waits, and the memory that waits in it. The zero value of a
// field is the default. A negative one is an error of the start, except where it is said what it means.
//
//	node := sabir.NewNode(sabir.Serve(users), sabir.Limits{StopTimeout: 25 * time.Second, NodeBuffers: 256 << 20})
//
// [Node.SetLimits] changes MaxDepth, StartTimeout and StopTimeout while the node runs.
type Limits struct {
	// MaxDepth bounds how deep calls may nest, so that actions which call each other in a circle end in an error instead of
	// a full stack. Default: 100.
	MaxDepth int
	// StartTimeout bounds how long Start waits for services of other nodes that its own depend on, see [DependsOn]. The error names what
	// is missing. Default: Start waits until its context ends.
	StartTimeout time.Duration
	// StopTimeout bounds how long Run waits for calls in flight when it ends; a negative one cuts them off at once. Default: 10 seconds.
	StopTimeout time.Duration
	// WaitForNode is the option of this name for all calls of a node, those that come over HTTP included: for actions that were offered
	// in the last five minutes, or whose services this node depends on or binds actions of. Default: calls do not wait.
	WaitForNode time.Duration

	// NodeBuffers and ConnectionBuffers bound the bytes of the values that wait for something slow: for a reader that does not read, a
	// node that does not take its answers, a handler that is behind. NodeBuffers is for all in the node, ConnectionBuffers for one link to
	// another node or one connection of HTTP. Default: 128 MiB and 64 MiB. What does not fit is refused with a retryable error,
	// such as [ErrTooManyCalls].
	//
	// Streams may hold an eighth of each. When they hold more, further ones wait to be opened, for 2 seconds at most, then the error is
	// TooManyStreams; and streams whose receivers have taken nothing for a second are ended with StreamTooSlow, the longest first.
	//
	// A value that is larger than the bound of its connection is taken where no other waits there. Values of less than 1 KiB are not
	// counted. docs/memory.md lists the places where values wait.
	NodeBuffers, ConnectionBuffers int64

	// HeapFloor is how many bytes the heap of the process may have before Go collects garbage, while the node is in a cluster or serves HTTP, and
	// from the moment on when it knows a node of another framework. Default: 32 MiB; a negative one leaves it to Go, which begins at 4 MiB. Calls leave
	// much garbage and a small heap is collected all the time: with the floor a call of 677 bytes over TCP takes two thirds of the processor time. A heap whose live
	// bytes are half of the floor or more is collected as Go does. It does nothing where the environment has GOGC, or the program sets debug.SetGCPercent; GOMEMLIMIT holds as always.
	HeapFloor int64
}

// limits are those of a node that can change while it runs. They are read as a whole and replaced as a whole.
type limits struct {
	depth int
	start time.Duration // 0 for none
	stop  time.Duration

	replaced chan struct{} // closed when others took their place
}

func (l Limits) applyNode(n *Node) {
	n.optionProblem(n.given.Again("Limits", n.madeAt))
	n.optionProblem(l.problem(n.madeAt))
	n.made = l.over(n.made)
	n.waitForNode = l.WaitForNode
	n.buffers = memory.Limits{Node: l.NodeBuffers, Connection: l.ConnectionBuffers}
	n.heapFloor = max(cmp.Or(l.HeapFloor, n.heapFloor), 0)
}

// over is former with those that l sets.
func (l Limits) over(former limits) limits {
	return limits{depth: cmp.Or(l.MaxDepth, former.depth), start: cmp.Or(l.StartTimeout, former.start), stop: max(cmp.Or(l.StopTimeout, former.stop), 0)}
}

// problem is the error of a value that cannot be meant.
func (l Limits) problem(where option.Site) error {
	for _, value := range []struct {
		field string
		value any
		bad   bool
	}{
		{"MaxDepth", l.MaxDepth, l.MaxDepth < 0},
		{"StartTimeout", l.StartTimeout, l.StartTimeout < 0},
		{"WaitForNode", l.WaitForNode, l.WaitForNode < 0},
		{"NodeBuffers", l.NodeBuffers, l.NodeBuffers < 0},
		{"ConnectionBuffers", l.ConnectionBuffers, l.ConnectionBuffers < 0},
	} {
		if value.bad {
			return fmt.Errorf("%s: %s of Limits is %v: want a positive one, or none for the default", where, value.field, value.value)
		}
	}
	return nil
}

func (n *Node) useLimits(l limits) {
	l.replaced = make(chan struct{})
	if former := n.limits.Swap(&l); former != nil {
		close(former.replaced)
	}
}

// SetLimits gives the node other limits, whatever its state. A field that is left out is again what NewNode was given, or the default. Calls and
// stops that begin later have the new ones, and a start that waits has them at once. A field other than MaxDepth, StartTimeout and StopTimeout, or
// a value that NewNode refuses, is an error with the name BadOption, and nothing changes then.
func (n *Node) SetLimits(l Limits) error {
	if l != (Limits{MaxDepth: l.MaxDepth, StartTimeout: l.StartTimeout, StopTimeout: l.StopTimeout}) {
		return Errorf(CodeInvalidArgument, nameBadOption, "Node.SetLimits takes MaxDepth, StartTimeout and StopTimeout: any other field is for NewNode")
	}
	if err := l.problem(option.Caller()); err != nil {
		return Errorf(CodeInvalidArgument, nameBadOption, "%w", err)
	}
	n.useLimits(l.over(n.made))
	return nil
}
