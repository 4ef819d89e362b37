package sabir

import (
	"context"
	stdjson "encoding/json"
	"maps"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/gateway"
)

// With returns the same action with more middlewares around it, the first outermost: for a gateway that puts
// hooks of its own around the calls of one group of routes. The middlewares apply to [Action.ServeJSON], [Action.AppendJSON]
// and [OpenAction] of what is returned; all other calls are as before. They have the request as the action's own
// middlewares do, before those of the node; for an action of another node input and output are json.RawMessage. It returns
// the error of the middleware that refused.
func (a *Action) With(wrappers ...Wrapper) (*Action, error) {
	if a.endpoint == nil || len(wrappers) == 0 {
		return a, nil
	}
	c := *a
	c.notes, c.refused = maps.Clone(a.notes), nil
	c.endpoint = a.endpoint.wrap(&c, middlewaresOf(wrappers))
	return &c, c.refusal()
}

func (h *handler[In, Out]) wrap(a *Action, middlewares []Middleware) endpoint {
	w := &handler[In, Out]{fn: h.fn}
	h.own.wrap(&w.own, a, middlewares)
	return w
}

// wrap makes w the same action with more middlewares around it.
func (a *localAction) wrap(w *localAction, as *Action, middlewares []Middleware) {
	*w = *a
	var wrapped bool
	w.chain, wrapped = composeCall(as, a.chain, middlewares, localLayer)
	w.direct, w.borrow = a.direct && !wrapped, false
}

func (h *streamHandler) wrap(a *Action, middlewares []Middleware) endpoint {
	w := *h
	w.chain, _ = composeCall(a, h.chain, middlewares, streamLayer)
	return &w
}

func (a *remoteAction) wrap(action *Action, middlewares []Middleware) endpoint {
	w := &wrappedRemoteAction{remoteAction: a}
	if action.Stream {
		w.chain, _ = composeCall(action, openInside, middlewares, streamLayer)
	} else {
		w.chain, _ = composeCall(action, w.send, middlewares, localLayer)
	}
	return w
}

// wrappedRemoteAction is an action of another node with more middlewares around its JSON calls and streams.
type wrappedRemoteAction struct {
	*remoteAction
	chain Handler
}

func (w *wrappedRemoteAction) callJSON(ctx context.Context, in, dst []byte, o callOptions) ([]byte, error) {
	own, failed := w.op.enter(ctx)
	if failed != nil {
		return dst, failed
	}
	r := &jsonRequest{in: in}
	r.action, r.options, r.typed = w.action, o, r
	if err := r.attempt(own, w.chain); err != nil {
		return dst, w.op.node.located(err)
	}
	return append(dst, r.out...), nil
}

func (w *wrappedRemoteAction) serveInbound(in gateway.Inbound, format codec.Codec, dst, body []byte) ([]byte, error) {
	if format != nil {
		return dst, w.onlyJSON(format)
	}
	var c gatewayContext
	c.fill(&in, w.op.node)
	defer c.end()
	defer c.endAnswer()
	return w.callJSON(&c, body, dst, callOptions{})
}

// send is the inner end of the chain.
func (w *wrappedRemoteAction) send(ctx context.Context, r *Request) error {
	j := r.typed.(*jsonRequest)
	return w.callAnyIn(ctx, &j.in, &j.out, r.options, w.remoteAction.chain)
}

// jsonRequest is a request whose input and output are JSON documents.
type jsonRequest struct {
	Request
	in, out stdjson.RawMessage
}

func (r *jsonRequest) input() any { return &r.in }

func (r *jsonRequest) output() any { return &r.out }

func (r *jsonRequest) copyOutput() any { return r.out }

func (r *jsonRequest) validate() error { return nil } // the node that handles it has the rules

func (r *jsonRequest) setOutput(value any) bool {
	out, ok := value.(stdjson.RawMessage)
	if ok {
		r.out = out
	}
	return ok
}

func (r *jsonRequest) fork() *Request {
	c := &jsonRequest{in: r.in}
	c.action, c.options, c.valid, c.typed = r.action, r.options, r.valid, c
	return &c.Request
}

func (r *jsonRequest) drop(*Request) {}

func (r *jsonRequest) adopt(fork *Request) { r.out = fork.typed.(*jsonRequest).out }

func (a *Action) notHere() *Error {
	return &Error{Code: CodeNotFound, Name: nameActionNotFound, Message: a.Name + " is no action of this node: call it by name"}
}
