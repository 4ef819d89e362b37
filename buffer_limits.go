package sabir

import (
	"context"

	"github.com/sabir-go/sabir/internal/memory"
)

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
