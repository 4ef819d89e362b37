package sabir

import (
	"context"

	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/option"
)

// BufferLimits bounds the bytes of the values that wait in the node for something slow: for a reader that does not read, a node that
// does not take its answers, a handler that is behind. Default: 128 MiB in the whole node, and 64 MiB for one link to another node or
// one connection of HTTP; 0 stands for the default. What does not fit is refused with a retryable error, such as [ErrTooManyCalls].
//
// Streams may hold an eighth of each. When they hold more, further ones wait to be opened, for 2 seconds at most, then the error is
// [ErrTooManyStreams]; and streams whose receivers have taken nothing for a second are ended with [ErrStreamTooSlow], the longest first.
//
// A value that is larger than the bound of its connection is taken where no other waits there. Values of less than 1 KiB are not
// counted. docs/memory.md lists the places where values wait.
func BufferLimits(node, connection int64) NodeOption {
	return nodeOptionOnce("BufferLimits", option.Caller(), func(n *Node) { n.buffers = memory.Limits{Node: max(node, 0), Connection: max(connection, 0)} })
}

func init() { memory.OfNode = func(node any) *memory.Budget { return node.(*Node).memory } }

// accountOf is the account of the connection for which a stream is opened; the node's own where it is for none.
func (n *Node) accountOf(ctx context.Context) *memory.Account {
	if a := memory.AccountOf(ctx); a != nil {
		return a
	}
	return n.memory.Own()
}

func (n *Node) streamTooSlow(action string) *Error {
	return &Error{Code: CodeResourceExhausted, Name: nameStreamTooSlow, Node: n.id, Retryable: true,
		Message: "a stream of " + action + " was not received while the streams of node " + n.id + " held more than they may, and was ended"}
}

// tooManyWait is the error of a stream that is not opened since others hold too much.
func (n *Node) tooManyWait() *Error {
	return &Error{Code: CodeResourceExhausted, Name: nameTooManyStreams, Node: n.id, Retryable: true,
		Message: "the streams of node " + n.id + " hold as much as they may, since their receivers are slow"}
}
