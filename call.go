package sabir

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Caller is who makes a call: a *Node, or a *Service, which calls through the node that serves it.
type Caller interface {
	// callingNode is the node to call through; nil for a service that no node serves.
	callingNode() *Node
}

// Call calls an action by its full name, such as "users.get" or "v2.users.get", and waits for the answer:
//
//	reply, err := sabir.Call[HelloReply](ctx, node, "greeter.hello", HelloRequest{Name: "Ada"})
//
// The types need not be those of the handler as long as they agree in shape: fields are matched by their JSON names,
// unknown ones are left out. With the handler's own types nothing is converted, and a call from a bare context allocates
// nothing.
//
// The call ends at the context's deadline at the latest, even when the handler ignores it. Every error is an [*Error].
func Call[Out, In any](ctx context.Context, from Caller, action string, in In, options ...CallOption) (Out, error) {
	n := from.callingNode()
	if n == nil {
		var none Out
		return none, errNoNode(from, action)
	}
	e := n.table.Load().actions[action]
	h, ok := e.(*handler[In, Out])
	if ok && len(options) == 0 {
		return h.call(ctx, in)
	}
	o := gather(options)
	if ok && o.node == "" {
		return h.callWith(ctx, in, o)
	}
	e, err := n.endpointFor(e, action, &o)
	if a, isAway := e.(*away); isAway && err == nil {
		return callAway[Out](ctx, a, in, o)
	}
	return callOther[Out](ctx, e, err, in, o)
}

// endpointFor is where a call with options goes, given what the table has for the name.
func (n *Node) endpointFor(e endpoint, action string, o *callOptions) (endpoint, error) {
	switch {
	case o.node == n.id:
		if own := n.table.Load().here[action]; own != nil {
			return own, nil
		}
		return nil, n.notFound("action", action)
	case o.node != "" || e == nil:
		if a, known := e.(*away); known && a.action.Name == action {
			return a, nil // what is known of the action holds on every node; a name without a version means each node's own
		}
		return n.elsewhere(action, o)
	}
	return e, nil
}

// callOther calls what has other types than its caller. It is not inlined, so that only its own copies of in and out move
// to the heap, not those of every call.
//
//go:noinline
func callOther[Out, In any](ctx context.Context, e endpoint, failed error, in In, o callOptions) (out Out, err error) {
	if failed != nil {
		return out, failed
	}
	err = e.(local).callAny(ctx, &in, &out, o)
	return out, err
}

// CallJSON calls an action with a JSON document and returns its answer as one: for gateways, command lines and whoever
// knows an action by name only. Empty input stands for {}.
func CallJSON(ctx context.Context, from Caller, action string, in []byte, options ...CallOption) ([]byte, error) {
	return AppendJSON(ctx, from, nil, action, in, options...)
}

// AppendJSON is CallJSON that appends the answer to dst. On an error it returns dst as it was.
func AppendJSON(ctx context.Context, from Caller, dst []byte, action string, in []byte, options ...CallOption) ([]byte, error) {
	n := from.callingNode()
	if n == nil {
		return dst, errNoNode(from, action)
	}
	o := gather(options)
	e, err := n.endpointFor(n.table.Load().actions[action], action, &o)
	if err != nil {
		return dst, err
	}
	if len(in) == 0 {
		in = []byte("{}")
	}
	return e.callJSON(ctx, in, dst, o)
}

// AppendJSON calls this very action with a JSON document and appends its answer to dst: for gateways that decide by the
// action's description whether a call may pass, and must then reach no other that took over its name meanwhile. Empty
// input stands for {}. On an error it returns dst as it was. It works for the actions that [Node.Action] and
// [Node.Actions] return.
func (a *Action) AppendJSON(ctx context.Context, dst, in []byte, options ...CallOption) ([]byte, error) {
	if a.endpoint == nil {
		return dst, a.notHere()
	}
	if len(in) == 0 {
		in = []byte("{}")
	}
	return a.endpoint.callJSON(ctx, in, dst, gather(options))
}

// Want is one call of a CallAll.
type Want struct {
	action string
	call   func(ctx context.Context, from Caller) error
}

// Into describes a call whose answer is to be stored in *out.
func Into[Out, In any](out *Out, action string, in In, options ...CallOption) Want {
	return Want{action, func(ctx context.Context, from Caller) (err error) {
		*out, err = Call[Out](ctx, from, action, in, options...)
		return err
	}}
}

// CallAll makes several calls at once and waits for all of them. It returns one error per call, in order, nil for the
// calls that succeeded; errors.Join of them is nil when all did:
//
//	var user User
//	var stock Stock
//	errs := sabir.CallAll(ctx, node,
//		sabir.Into(&user, "users.get", GetUser{ID: id}),
//		sabir.Into(&stock, "stock.get", GetStock{Item: item}))
//
// The outputs must be different variables.
func CallAll(ctx context.Context, from Caller, calls ...Want) []error {
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i := 1; i < len(calls); i++ {
		wg.Go(func() { errs[i] = calls[i].call(ctx, from) })
	}
	if len(calls) > 0 {
		errs[0] = calls[0].call(ctx, from) // one of them may as well run here
	}
	wg.Wait()
	return errs
}

// CallOption changes one call.
type CallOption func(*callOptions)

type callOptions struct {
	timeout time.Duration
	noCache bool
	noRetry bool
	node    string
	key     string
}

// Timeout ends the call after d at the latest: a deadline without a context to cancel.
func Timeout(d time.Duration) CallOption { return func(o *callOptions) { o.timeout = max(d, 1) } }

// NoCache asks for an answer that is not from a cache; the fresh answer is cached as always.
func NoCache() CallOption { return func(o *callOptions) { o.noCache = true } }

// NoRetry asks for one attempt only, whatever retry policy is on the way.
func NoRetry() CallOption { return func(o *callOptions) { o.noRetry = true } }

// ToNode sends the call to the node of that name, whichever others offer the action. Where it does not, or there is no
// such node, the call fails.
func ToNode(id string) CallOption { return func(o *callOptions) { o.node = id } }

// ByKey keeps calls together: under the balancer "hash" (see [Balance]), all with the same key go to the same node as long
// as it is there.
func ByKey(key string) CallOption { return func(o *callOptions) { o.key = key } }

// gather is nearly always inlined with no options, where it costs nothing: those of gatherAll move to the heap.
func gather(options []CallOption) callOptions {
	if len(options) == 0 {
		return callOptions{}
	}
	return gatherAll(options)
}

func gatherAll(options []CallOption) (o callOptions) {
	for _, option := range options {
		option(&o)
	}
	return o
}

func errNoNode(from Caller, action string) *Error {
	who := "the caller"
	if s, ok := from.(*Service); ok {
		who = "service " + s.fullName()
	}
	return &Error{Code: Unavailable, Name: nameUnavailable, Retryable: true, Message: who + " cannot call " + action + ": no node serves it"}
}

// notFound is the error for a name that is in no table; it names what was probably meant.
func (n *Node) notFound(kind, name string) *Error {
	return n.notFoundAmong(kind, name, n.actionNames())
}

func (n *Node) notFoundAmong(kind, name string, known []string) *Error {
	if state := n.State(); state != Running {
		return &Error{Code: Unavailable, Name: nameUnavailable, Node: n.id, Retryable: true,
			Message: "no " + kind + " is called " + name + ": the node is " + state.String()}
	}
	e := &Error{Code: NotFound, Name: nameActionNotFound, Node: n.id, Message: "no " + kind + " is called " + name}
	if bad := badName(name); bad != "" {
		e.Message = fmt.Sprintf("%.100q is no name of an action: it %s", name, bad)
		return e
	}
	if near := nearest(name, known); near != nil {
		e.Message += "; did you mean " + strings.Join(near, ", ") + "?"
		e.Data = map[string]any{"nearest": near}
	}
	return e
}

func (n *Node) unavailable(action string) *Error {
	return &Error{Code: Unavailable, Name: nameUnavailable, Node: n.id, Retryable: true, Message: "the service of " + action + " is being removed"}
}

func badInput(n *Node, what string, err error) *Error {
	e := &Error{Code: InvalidArgument, Name: nameBadInput, Node: n.id, cause: err, Message: what + " cannot be read: " + err.Error()}
	if bad, ok := errors.AsType[*codecError](err); ok && bad.Pointer != "" {
		e.Data = map[string]any{"pointer": bad.Pointer, "want": bad.Want}
	}
	return e
}

// located makes an *Error of whatever a handler or a middleware returned and notes where it happened.
func (n *Node) located(err error) error {
	e := AsError(err)
	if e.Node == "" {
		c := *e
		c.Node = n.id
		return &c
	}
	return e
}
