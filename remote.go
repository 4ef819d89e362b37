package sabir

import (
	"context"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/option"
)

// Upstream carries calls to another node by other means than links; web.Dial makes one over HTTP. Its methods are called by
// many goroutines at once.
type Upstream interface {
	// Name names where the calls go, for errors: a node's name or an address.
	Name() string
	// Send sends one call and fills in its answer. An error of the other side must come back as the *Error it was there; a
	// call that did not get through is an Unavailable one, retryable only if the other side cannot have begun it.
	Send(ctx context.Context, r *Request) error
}

// WithUpstream makes a node send the calls of actions that neither its services nor its cluster offer to another node.
func WithUpstream(remote Upstream) NodeOption {
	return nodeOptionOnce("WithUpstream", option.Caller(), func(n *Node) { n.remote = remote })
}

// AppendInput appends the input in the codec's format, for a Remote. Its error is the caller's, an *Error.
func (r *Request) AppendInput(c codec.Codec, dst []byte) ([]byte, error) {
	out, err := c.Append(dst, r.Input())
	if err != nil {
		return dst, badInput(r.action.node, "the input of "+r.action.Name, err)
	}
	return out, nil
}

// DecodeOutput reads the answer from the codec's format, for a Remote. Its error is the caller's, an *Error.
func (r *Request) DecodeOutput(c codec.Codec, data []byte) error {
	if err := c.Decode(data, r.Output()); err != nil {
		return r.action.node.badOutput("the answer of "+r.action.Name, r.action.node.id, "cannot be read", err)
	}
	return nil
}
