package sabir

import (
	"context"
	stdjson "encoding/json"
	"maps"
)

// Wrap returns the same action with more middlewares around it, the first outermost: for a face that lets the calls which
// come in through one of its doors pass hooks of their own. The middlewares apply to [Action.ServeJSON], [Action.AppendJSON]
// and [OpenAction] of what is returned; all other calls are as before. They have the request as the action's own
// middlewares do, before those of the node; for an action of another node input and output are json.RawMessage. The
// error is what the middlewares refused.
func (a *Action) Wrap(middlewares ...Middleware) (*Action, error) {
	if a.endpoint == nil || len(middlewares) == 0 {
		return a, nil
	}
	c := *a
	c.notes, c.refused = maps.Clone(a.notes), nil
	c.endpoint = a.endpoint.wrap(&c, middlewares)
	return &c, c.refusal()
}

func (h *handler[In, Out]) wrap(a *Action, middlewares []Middleware) endpoint {
	w := &handler[In, Out]{fn: h.fn, action: h.action, step: h.step, plan: h.plan, native: h.native}
	var wrapped bool
	w.chain, wrapped = composeCall(a, h.chain, middlewares, localLayer)
	w.direct = h.direct && !wrapped
	return w
}

func (h *streamHandler[In, Out]) wrap(a *Action, middlewares []Middleware) endpoint {
	w := *h
	w.chain, _ = composeCall(a, h.chain, middlewares, streamLayer)
	return &w
}

func (a *away) wrap(action *Action, middlewares []Middleware) endpoint {
	w := &wrappedAway{away: a}
	if action.Stream {
		w.chain, _ = composeCall(action, openInside, middlewares, streamLayer)
	} else {
		w.chain, _ = composeCall(action, w.send, middlewares, localLayer)
	}
	return w
}

// wrappedAway is an action of another node with more middlewares around its JSON calls.
type wrappedAway struct {
	*away
	chain Handler
}

func (w *wrappedAway) callJSON(ctx context.Context, in, dst []byte, o callOptions) ([]byte, error) {
	own, failed := w.step.enter(ctx)
	if failed != nil {
		return dst, failed
	}
	r := &jsonRequest{in: in}
	r.action, r.options, r.typed = w.action, o, r
	if err := r.attempt(own, w.chain); err != nil {
		return dst, w.step.node.located(err)
	}
	return append(dst, r.out...), nil
}

func (w *wrappedAway) serveJSON(in Inbound, dst, body []byte) ([]byte, error) {
	var c outsideContext
	c.fill(&in, w.step.node)
	defer c.end()
	return w.callJSON(&c, body, dst, callOptions{})
}

// send is the inner end of the chain.
func (w *wrappedAway) send(ctx context.Context, r *Request) (err error) {
	j := r.typed.(*jsonRequest)
	j.out, err = callerOf[stdjson.RawMessage, stdjson.RawMessage](w.away).travel(ctx, j.in, r.options)
	return err
}

// jsonRequest is a request whose input and output are JSON documents.
type jsonRequest struct {
	Request
	in, out stdjson.RawMessage
}

func (r *jsonRequest) input() any      { return &r.in }
func (r *jsonRequest) output() any     { return &r.out }
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

func (r *jsonRequest) adopt(fork *Request) { r.out = fork.typed.(*jsonRequest).out }

func (a *Action) notHere() *Error {
	return &Error{Code: NotFound, Name: nameActionNotFound, Message: a.Name + " is no action of this node: call it by name"}
}
