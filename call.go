package sabir

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/sabir-go/sabir/internal/names"
)

// Caller makes calls: a *Node, or a *Service, which calls through the node that serves it.
type Caller interface {
	// callingNode is the node to call through; nil for a service that no node serves.
	callingNode() *Node
}

// NodeOf returns the node that a caller calls through, running or not, for packages that take a [Caller]. name is the target
// of the caller's request, for the error; for a service that no node serves that is [ErrServiceUnavailable].
func NodeOf(from Caller, name string) (*Node, error) {
	if n := from.callingNode(); n != nil {
		return n, nil
	}
	return nil, errNoNode(from, name)
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
	t := n.table.Load()
	e := t.actions[action]
	h, ok := e.(*handler[In, Out])
	if ok && len(options) == 0 {
		return h.call(ctx, in)
	}
	o := gather(options)
	if ok && o.anyNode() {
		return h.callWith(ctx, in, o)
	}
	if e == nil {
		e = t.find(action)
	}
	e, err := n.endpointFor(e, action, &o)
	if a, isRemote := e.(*remoteAction); isRemote && err == nil {
		return callRemote[Out](ctx, a, in, o)
	}
	return callConverted[Out](ctx, e, err, in, o)
}

// endpointFor finds the endpoint for a call with options. e is the endpoint of the name in the routing table; nil for none.
func (n *Node) endpointFor(e endpoint, action string, o *callOptions) (endpoint, error) {
	switch {
	case o.mistake != "":
		return nil, o.errMistake(action)
	case o.forEach:
		return nil, &Error{Code: CodeInvalidArgument, Name: nameBadOption, Message: "the call of " + action + " was given Quorum or EachVersion, which are for Contract.CallEach and CallMerged"}
	case o.node == n.id:
		if own := n.table.Load().localActions[action]; own != nil {
			return own, nil
		}
		return nil, n.notFound("action", action)
	case o.node != "" || e == nil:
		if a, known := e.(*remoteAction); known && a.action.Name == action {
			return a, nil // what is known of the action holds on every node; a name without a version means each node's own
		}
		return n.remoteByName(action, o)
	}
	if s, split := e.(*splitName); split {
		o.split = true
		return s.pick(o.key), nil
	}
	return e, nil
}

// callConverted calls an endpoint whose types are not the caller's. It must not be inlined: only its own copies of in and
// out move to the heap then, not those of every call.
//
//go:noinline
func callConverted[Out, In any](ctx context.Context, e endpoint, failed error, in In, o callOptions) (out Out, err error) {
	if failed != nil {
		return out, failed
	}
	err = e.(local).callAny(ctx, &in, &out, o)
	return out, err
}

// CallJSON calls an action with a JSON document and returns its answer as one: for gateways, command lines and code that
// knows an action by its name only. Empty input stands for {}.
func CallJSON(ctx context.Context, from Caller, action string, in []byte, options ...CallOption) ([]byte, error) {
	n := from.callingNode()
	if n == nil {
		return nil, errNoNode(from, action)
	}
	o := gather(options)
	e, err := n.endpointFor(n.table.Load().find(action), action, &o)
	if err != nil {
		return nil, err
	}
	if len(in) == 0 {
		in = []byte("{}")
	}
	return e.callJSON(ctx, in, nil, o)
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
	o := gather(options)
	if o.mistake != "" {
		return dst, o.errMistake(a.Name)
	}
	return a.endpoint.callJSON(ctx, in, dst, o)
}

// PreparedCall is one of the calls that [All] makes at once. Make it with [Into] or [Contract.Into].
type PreparedCall struct {
	action string
	call   func(ctx context.Context, from Caller) error
}

// Into describes a call by name whose answer is to be stored in *out.
func Into[Out, In any](out *Out, action string, in In, options ...CallOption) PreparedCall {
	return PreparedCall{action, func(ctx context.Context, from Caller) (err error) {
		*out, err = Call[Out](ctx, from, action, in, options...)
		return err
	}}
}

// All makes several calls at once and waits for all of them. Its error joins those of the calls that failed, in order; the
// answers of the others are stored:
//
//	var user User
//	var stock Stock
//	err := sabir.All(ctx, node, users.Get.Into(&user, GetUser{ID: id}), stocks.Get.Into(&stock, GetStock{Item: item}))
//
// The outputs must be different variables.
func All(ctx context.Context, from Caller, calls ...PreparedCall) error {
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i := 1; i < len(calls); i++ {
		wg.Go(func() {
			call := func(ctx context.Context) error { return calls[i].call(ctx, from) }
			isolateGoroutine(calls[i].action, ctx, call, func(err error) { errs[i] = logEnded(from, err) })
		})
	}
	if len(calls) > 0 {
		errs[0] = calls[0].call(ctx, from) // one of them may as well run here
	}
	wg.Wait()
	return errors.Join(errs...)
}

// logEnded logs the error of a call whose goroutine ended early, and returns it.
func logEnded(from Caller, err error) error {
	if n := from.callingNode(); n != nil {
		n.logPanic(background, err)
	}
	return err
}

// CallOption changes one call. Each may be given once: a call with one given twice, of which the second would undo the first, fails
// with BadOption.
type CallOption func(*callOptions)

type callOptions struct {
	timeout time.Duration
	noCache bool
	noRetry bool
	forEach bool // one of the next two was given, which are for CallEach
	split   bool // its name had no version, and the share of one was chosen for it

	eachVersion bool
	quorum      int32 // see Quorum; 0 for all answers
	node        string
	key         string
	wait        time.Duration // see WaitForNode; 0 for the node's own, negative for no more
	mistake     string        // what was wrong with the options; "" for nothing
}

// once notes an option that is there already.
func (o *callOptions) once(name string, already bool) {
	if already {
		o.mistake = name + " twice, and each would undo the other"
	}
}

// anyNode reports whether the call may go to whichever node offers the action. Where it may not, or an option was a mistake,
// Node.endpointFor decides.
func (o *callOptions) anyNode() bool {
	return o.node == "" && o.mistake == "" && !o.forEach
}

func (o *callOptions) errMistake(action string) error {
	return &Error{Code: CodeInvalidArgument, Name: nameBadOption, Message: "the call of " + action + " was given " + o.mistake}
}

// WithTimeout ends the call after d at the latest: a deadline without a context to cancel.
func WithTimeout(d time.Duration) CallOption {
	return func(o *callOptions) {
		o.once("WithTimeout", o.timeout != 0)
		o.timeout = max(d, 1)
	}
}

// NoCache asks for an answer that is not from a cache; the fresh answer is cached as always.
func NoCache() CallOption { return func(o *callOptions) { o.noCache = true } }

// NoRetry asks for one attempt only, whatever retry policy is on the way.
func NoRetry() CallOption { return func(o *callOptions) { o.noRetry = true } }

// ToNode sends the call to the node of that name, whichever others offer the action. Where it does not, or there is no
// such node, the call fails; with "" it is BadOption.
func ToNode(id string) CallOption {
	return func(o *callOptions) {
		o.once("ToNode", o.node != "")
		o.node = id
		if id == "" { // as of a caller that has none: the call must not go to just any node
			o.mistake = "ToNode without the name of a node"
		}
	}
}

// ByKey keeps calls together: under the balancer "hash" (see [Balance]), all with the same key go to the same node as long
// as it is there.
func ByKey(key string) CallOption {
	return func(o *callOptions) {
		o.once("ByKey", o.key != "")
		o.key = key
	}
}

// gather is nearly always inlined where there are no options, and costs nothing there: only the variables of gatherAll move
// to the heap.
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
	switch from := from.(type) {
	case *Node:
		return errNotMade()
	case *Service:
		if from == nil || from.where == 0 {
			return AsError(from.check())
		}
		who = "service " + from.fullName()
	}
	return &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Retryable: true, Message: who + " cannot call " + action + ": no node serves it"}
}

// notFound is the error for a name that no table has, with the names that were probably meant.
func (n *Node) notFound(kind, name string) *Error {
	e := n.notFoundAmong(kind, name, n.actionNames())
	if unasked := n.foreign.unasked(); unasked != nil && e.Name == nameActionNotFound {
		e.Message += "; what " + strings.Join(unasked, ", ") + " has is not known, since it could not be asked yet: is it there?"
	}
	return e
}

func (n *Node) notFoundAmong(kind, name string, known []string) *Error {
	if state := n.stateNow(); state != stateRunning {
		return &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: n.id, Retryable: true,
			Message: "no " + kind + " is called " + name + ": the node is " + state.String()}
	}
	e := &Error{Code: CodeNotFound, Name: nameActionNotFound, Node: n.id, Message: "no " + kind + " is called " + name}
	if bad := names.Fault(name); bad != "" {
		e.Message = fmt.Sprintf("%.100q is no name of an action: it %s", name, bad)
		return e
	}
	if near := names.Nearest(name, known); near != nil {
		e.Message += "; did you mean " + strings.Join(near, ", ") + "?"
		e.Data = map[string]any{"nearest": near}
	}
	return e
}

func (n *Node) unavailable(action string) *Error {
	return &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: n.id, Retryable: true, Message: "the service of " + action + " is being removed"}
}

// located makes an *Error of what a handler or a middleware returned, and sets the node where it happened.
func (n *Node) located(err error) error {
	e := AsError(err)
	n.logPanic(background, e) // of a method of err; others were logged where they were made
	if e.Node == "" {
		c := *e
		c.Node = n.id
		return &c
	}
	return e
}

// Func is an action bound to its Go types: call it like the function it stands for. It is safe for concurrent use.
type Func[In, Out any] func(ctx context.Context, in In, options ...CallOption) (Out, error)

// Bind looks an action up once and returns it as a function; when services come and go, the function follows. Binding
// before the action exists is fine, so a service can bind what it needs when it is made; calling before then is an
// [ErrServiceUnavailable] in a cluster, as a node with the service may come, else an [ErrActionNotFound]. The types are named in the
// order of the function's own.
func Bind[In, Out any](from Caller, action string) Func[In, Out] {
	if n := from.callingNode(); n != nil {
		b := bindingOf[In, Out](n, action)
		return func(ctx context.Context, in In, options ...CallOption) (Out, error) {
			if h := b.handler.Load(); h != nil && len(options) == 0 {
				return h.call(ctx, in)
			}
			return b.callGeneral(ctx, in, options, nil)
		}
	}
	c := NewAction[In, Out](action) // which looks the node up when it is called
	return func(ctx context.Context, in In, options ...CallOption) (Out, error) {
		return c.Call(ctx, from, in, options...)
	}
}

// binding follows one name with one pair of types: the table hands it each new endpoint, so a call looks nothing up.
type binding[In, Out any] struct {
	name    boundName
	handler atomic.Pointer[handler[In, Out]] // nil when the endpoint is none, or has other types
}

// boundName is the part of a binding that has no types.
type boundName struct {
	node     *Node
	action   string
	types    callTypes
	remote   atomic.Pointer[remoteCaller] // nil when the action is not on other nodes
	endpoint atomic.Pointer[endpoint]     // nil when there is none
	typed    follower                     // the binding that this is a part of
}

// callGeneral calls what the fast path cannot: with options, on another node, with other types, or nothing. by may be nil.
func (b *binding[In, Out]) callGeneral(ctx context.Context, in In, options []CallOption, by *contract) (Out, error) {
	o := gather(options)
	if h := b.handler.Load(); h != nil && o.anyNode() {
		return h.callWith(ctx, in, o)
	}
	c, through, e, err := b.name.find(&o, by)
	if c != nil {
		return callThrough[Out](ctx, c, in, o, through)
	}
	return callConverted[Out](ctx, e, err, in, o)
}

// find is the endpoint for a call with options, or who calls it on other nodes, and through what.
func (b *boundName) find(o *callOptions, by *contract) (c *remoteCaller, through remoteChain, e endpoint, err error) {
	if c = b.remote.Load(); c == nil || !o.anyNode() {
		if p := b.endpoint.Load(); p != nil {
			e = *p
		}
		e, err = b.node.endpointFor(e, b.action, o)
		a, isRemote := e.(*remoteAction)
		if err != nil || !isRemote {
			return nil, through, e, err
		}
		c = a.callerOf(b.types.in, b.types.out)
	}
	if through, err = by.through(c.target); err != nil {
		c = nil
	}
	return c, through, nil, err
}

// follow takes the endpoint that the routing table now has for the name.
func (b *boundName) follow(e endpoint) {
	if e == nil {
		b.endpoint.Store(nil)
	} else {
		b.endpoint.Store(&e)
	}
	b.typed.follow(e)
	var c *remoteCaller
	if a, ok := e.(*remoteAction); ok {
		c = a.callerOf(b.types.in, b.types.out)
	}
	b.remote.Store(c)
}

// follower is a binding without its types.
type follower interface{ follow(endpoint) }

func (b *binding[In, Out]) follow(e endpoint) {
	h, _ := e.(*handler[In, Out])
	b.handler.Store(h)
}

// bindingKey identifies a binding of a node: there is one for each name and pair of types that the program still uses.
type bindingKey struct {
	action  string
	binding reflect.Type
}

func bindingOf[In, Out any](n *Node, action string) *binding[In, Out] {
	return n.bind(bindingKey{action, reflect.TypeFor[binding[In, Out]]()}, func() (*boundName, follower) {
		b := &binding[In, Out]{name: boundName{types: callTypes{reflect.TypeFor[In](), reflect.TypeFor[Out]()}}}
		return &b.name, b
	}).(*binding[In, Out])
}

// bind finds the binding of a name, or adds a new one.
func (n *Node) bind(key bindingKey, newBinding func() (*boundName, follower)) follower {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	if held := n.bindings[key]; held != nil {
		if known := held(); known != nil {
			return known.typed
		}
	}
	b, typed := newBinding()
	b.node, b.action, b.typed = n, key.action, typed
	b.follow(n.table.Load().find(key.action))
	if n.bindings[key] == nil {
		n.boundServices[serviceOf(key.action)]++
	}
	n.bindings[key] = weak.Make(b).Value // weakly, so that programs that bind names as they come do not fill the node
	runtime.AddCleanup(b, n.forgetBinding, key)
	return typed
}

// forgetBinding removes a binding that has been garbage collected.
func (n *Node) forgetBinding(key bindingKey) {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	if held := n.bindings[key]; held != nil && held() == nil { // else it was bound again
		delete(n.bindings, key)
		if service := serviceOf(key.action); n.boundServices[service] > 1 {
			n.boundServices[service]--
		} else {
			delete(n.boundServices, service)
		}
	}
}
