package sabir

import (
	"context"
	stdjson "encoding/json"

	"github.com/sabir-go/sabir/codec"
)

// Remote carries calls to another node; web.Dial makes one over HTTP. Its methods are called by many goroutines at once.
type Remote interface {
	// Name says where the calls go, for errors: a node's name or an address.
	Name() string
	// Send sends one call and fills in its answer. An error of the other side must come back as the *Error it was there; a
	// call that did not get through is an Unavailable one, retryable only if the other side cannot have begun it.
	Send(ctx context.Context, r *Request) error
}

// Via makes a node send the calls of actions that none of its services offers to another node.
func Via(remote Remote) NodeOption {
	return nodeOption(func(n *Node) { n.remote = remote })
}

// AppendInput appends the input in the codec's format, for a Remote.
func (r *Request) AppendInput(c codec.Codec, dst []byte) ([]byte, error) {
	return c.Append(dst, r.Input())
}

// DecodeOutput reads the answer from the codec's format, for a Remote.
func (r *Request) DecodeOutput(c codec.Codec, data []byte) error {
	return c.Decode(data, r.Output())
}

// remoteAction is an action of another node, as this node's calls see it.
type remoteAction struct {
	action *Action
	step   *step
	remote Remote
	chain  Handler
}

// maxRemoteNames bounds the names of other nodes' actions that a node remembers; calls of others work, more slowly.
const maxRemoteNames = 10_000

// elsewhere finds an action that is in no table of this node.
func (n *Node) elsewhere(name string) (endpoint, error) {
	if n.remote == nil || badName(name) != "" {
		return nil, n.notFound("action", name)
	}
	if known, ok := n.remoteActions.Load(name); ok {
		return known.(endpoint), nil
	}
	a := &remoteAction{action: &Action{Name: name, Remote: true, node: n, signal: n.signal}, remote: n.remote, step: newStep(n, "", name)}
	a.chain, _ = composeCall(a.action, a.remote.Send, n.middlewares, remoteLayer)
	if err := a.action.refusal(); err != nil {
		return nil, err
	}
	if n.remoteNames.Add(1) <= maxRemoteNames {
		n.remoteActions.Store(name, a)
	}
	return a, nil
}

func (a *remoteAction) info() *Action { return a.action }
func (a *remoteAction) hop() *step    { return a.step }

func (a *remoteAction) callAny(ctx context.Context, in, out any, o callOptions) error {
	r := &pointers{in: in, out: out}
	return a.send(ctx, r.request(a.action, o))
}

func (a *remoteAction) callJSON(ctx context.Context, in, dst []byte, o callOptions) ([]byte, error) {
	input, output := stdjson.RawMessage(in), stdjson.RawMessage(nil)
	r := &pointers{in: &input, out: &output}
	if err := a.send(ctx, r.request(a.action, o)); err != nil {
		return dst, err
	}
	return append(dst, output...), nil
}

// send is the way of a call to another node. What carries it watches the context, so no guard is needed here.
func (a *remoteAction) send(ctx context.Context, r *Request) error {
	c, failed := a.step.enter(ctx)
	if failed != nil {
		return failed
	}
	ctx = c
	if limit := r.options.timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(c, limit)
		defer cancel()
	}
	if err := r.attempt(ctx, a.chain); err != nil {
		return a.step.node.located(err)
	}
	return nil
}
