package sabir

import (
	"context"
	"fmt"
	"reflect"
)

// Request is one call on its way through the middlewares to its handler and back. It belongs to the call: a middleware
// must not keep it, nor what Input and Output point to, after it returned. One goroutine works on it at a time.
type Request struct {
	action  *Action
	options callOptions
	valid   bool // the input was checked and found valid
	typed   typedValues
}

// attempts is the state that all attempts of one call to other nodes share.
type attempts struct {
	avoided
	node    string // of the latest
	counted bool   // among the calls that earn further attempts
	shared  bool   // two of them may run at once, each of which notes its node before it begins
}

// typedValues is the part of a request that knows its Go types.
type typedValues interface {
	input() any
	output() any
	copyOutput() any
	setOutput(value any) bool
	validate() error
	fork() *Request
	adopt(fork *Request)
	drop(fork *Request)
}

// localRequest is a request to a handler of this node, for the parts of a call that a program has once and not for each pair of types.
type localRequest interface {
	typedValues
	// way returns the request, the way through the middlewares to the handler, and whether there are none.
	way() (r *Request, chain Handler, direct bool)
	// callDirect checks the input and calls the handler, past the middlewares.
	callDirect(c *callContext) error
}

// Action is the action that is called. It is the same pointer for every call of the action.
func (r *Request) Action() *Action { return r.action }

// Input points to the input: a *In of the handler's type, or in the Remote layer a pointer to whatever type the caller has.
// A Local middleware may change what it points to.
func (r *Request) Input() any { return r.typed.input() }

// Output points to the output, typed like Input, which holds the answer once next has returned nil.
func (r *Request) Output() any { return r.typed.output() }

// CopyOutput returns the output as a value, Out, that may be kept: a shallow copy, so what it points to is shared.
func (r *Request) CopyOutput() any { return r.typed.copyOutput() }

// SetOutput answers the call with value, an Out as CopyOutput gave it. Another type is an error.
func (r *Request) SetOutput(value any) error {
	if !r.typed.setOutput(value) {
		return &Error{Code: CodeInternal, Name: nameBadOutput,
			Message: fmt.Sprintf("a middleware answered %s with a %T, want %s", r.action.Name, value, reflect.TypeOf(r.Output()).Elem())}
	}
	return nil
}

// Validate checks the input by the rules in its struct tags, once per call however often it is asked. The runtime asks
// after the node's middlewares and before the service's and the action's; a middleware that answers without calling next
// asks first, so that a kept answer never hides a bad input. The error is an *Error that matches ErrValidationFailed.
func (r *Request) Validate() error {
	if r.valid {
		return nil
	}
	if err := r.typed.validate(); err != nil {
		return err
	}
	r.valid = true
	return nil
}

// NoCache reports whether the caller asked for an answer that is not from a cache.
func (r *Request) NoCache() bool { return r.options.noCache }

// NoRetry reports whether the caller asked for one attempt only.
func (r *Request) NoRetry() bool { return r.options.noRetry }

// ToNode is the node that the caller on this node named by [ToNode], as each call of [Contract.CallEach] does, for middlewares whose answers may be those of
// another node. "" where any node will do.
func (r *Request) ToNode() string { return r.options.node }

// Node is the node that the latest attempt of a call to another node went to, for middlewares that tell nodes apart; "" before the
// first, and where the call goes over an [Upstream] or is handled here.
func (r *Request) Node() string {
	if f, ok := r.typed.(roundTripper); ok {
		return f.made().node
	}
	return ""
}

// Avoid names nodes that the next attempts of a call to another node go to only where there is no other, in place of those that the
// last Avoid named. Nodes on which an attempt of this call has failed are avoided without it. Names that [Action.Nodes] does not
// return have no effect. The caller must not change nodes afterwards.
func (r *Request) Avoid(nodes []string) {
	if f, ok := r.typed.(roundTripper); ok {
		f.made().named = nodes
	}
}

// attempt runs next and turns a panic into the caller's error.
func (r *Request) attempt(ctx context.Context, next Handler) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = r.action.node.panicked(ctx, r.action.Name, v)
		}
	}()
	return next(ctx, r)
}

// typedRequest is a request with its typed input and output.
type typedRequest[In, Out any] struct {
	request Request
	in      In
	out     Out
	handler *handler[In, Out]
}

func (f *typedRequest[In, Out]) input() any  { return &f.in }
func (f *typedRequest[In, Out]) output() any { return &f.out }

func (f *typedRequest[In, Out]) copyOutput() any { return f.out }

func (f *typedRequest[In, Out]) setOutput(value any) bool {
	out, ok := value.(Out)
	if ok {
		f.out = out
	}
	return ok
}

func (f *typedRequest[In, Out]) validate() error {
	return f.handler.validate(&f.in)
}

func (f *typedRequest[In, Out]) way() (*Request, Handler, bool) {
	return &f.request, f.handler.own.chain, f.handler.own.direct
}

func (f *typedRequest[In, Out]) callDirect(c *callContext) (err error) {
	if err = f.handler.validate(&f.in); err == nil {
		f.out, err = f.handler.run(c, c, f.in)
	}
	return err
}

// fork copies the request for a worker that may outlive the caller.
func (f *typedRequest[In, Out]) fork() *Request {
	c := f.handler.takeRequest()
	c.request.options, c.request.valid, c.in = f.request.options, f.request.valid, f.in
	return &c.request
}

func (f *typedRequest[In, Out]) drop(fork *Request) {
	f.handler.putRequest(fork.typed.(*typedRequest[In, Out]))
}

// adopt takes over the answer of a fork whose worker is done with it.
func (f *typedRequest[In, Out]) adopt(fork *Request) {
	c := fork.typed.(*typedRequest[In, Out])
	f.out, f.request.valid = c.out, c.request.valid
	f.handler.putRequest(c)
}
