package sabir

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/validate"
)

// Handle adds an action to a service: callers reach it as "service.name". The input is checked by its `validate` tags
// before fn runs. A panic in fn becomes its caller's error. fn may block; it is called by many goroutines at once.
//
// A nil fn, an invalid name or a second action of the same name is reported when the service starts, with the file and
// line of this call. Handle panics when a node serves s already: it would have no effect.
func Handle[In, Out any](s *Service, name string, fn func(context.Context, In) (Out, error), options ...ActionOption) {
	handle(s, &definition{short: name, where: option.Caller()}, fn, options)
}

func handle[In, Out any](s *Service, def *definition, fn func(context.Context, In) (Out, error), options []ActionOption) {
	def.apply(s, options, fn != nil)
	def.open = func(a *Action, n *Node, s *Service) (local, error) {
		a.In, a.Out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
		h := &handler[In, Out]{fn: fn, own: localAction{action: a}}
		return h, h.own.compose(n, s, def, h.invoke)
	}
	s.define(def)
}

// Empty is the input or the output of an action that has none.
type Empty = struct{}

// ActionOption is an option of Handle and HandleStream: [Use], [Allow], [Inline], [Borrow], [Idempotent], [ClusterOnly], [NodeOnly], [Doc],
// [ServerStream], [ClientStream], [Codecs], [Route], [Errors], [Example], [Deprecated]. Use, Allow, Codecs, Route, Errors and Example add up; a service whose action is
// given two of another does not start.
type ActionOption interface{ applyAction(*definition) }

type actionOption func(*definition)

func (o actionOption) applyAction(d *definition) { o(d) }

// Inline declares that the action does not block and returns in microseconds: it then runs on whatever goroutine brings
// the call, even the one that reads a link, and is never moved to another. Its deadline ends only its context. It is an option of [Handle] and
// [NewAction]: a stream waits for what comes.
func Inline() ActionOption {
	return actionOptionOnce("Inline", option.Caller(), func(d *definition) {
		d.inline = true
		d.noStream("Inline")
	})
}

// noStream notes an option that is for calls where the definition is of a stream.
func (d *definition) noStream(option string) {
	if d.stream {
		d.problems = append(d.problems, Errorf(CodeInvalidArgument, nameBadOption, "%s: %s is for Handle: the action %q is a stream", d.where, option, d.short))
	}
}

// Borrow declares that the action's handler keeps no text and no bytes of its input: they are valid until it returns, with the goroutines that it
// started with [Go], and may change then. An input that comes from another node is so read without a copy of them. What the handler gives to
// others who may keep it, such as a map, a channel, an event or a call in this node, it must copy before, with strings.Clone; its output, and
// the text of its error, it need not.
//
// Where middlewares or rules of [Allow] stand around the action, which may keep something too, and for callers on this node nothing changes. It is an
// option of [Handle] and [NewAction]: what a stream receives is always its own.
func Borrow() ActionOption {
	return actionOptionOnce("Borrow", option.Caller(), func(d *definition) {
		d.borrow = true
		d.noStream("Borrow")
	})
}

// Idempotent declares that the action does no more harm when it runs twice with the same input than once. So a call that
// was under way when its link was lost, and may or may not have been done, is a retryable error; of other actions it is not.
func Idempotent() ActionOption {
	return actionOptionOnce("Idempotent", option.Caller(), func(d *definition) { d.idempotent = true })
}

// ClusterOnly keeps an action off HTTP: nodes of the cluster may call it, and callers on the same node.
func ClusterOnly() ActionOption {
	return actionOptionOnce("ClusterOnly", option.Caller(), func(d *definition) { d.clusterOnly = true })
}

// NodeOnly keeps an action for callers on the same node.
func NodeOnly() ActionOption {
	return actionOptionOnce("NodeOnly", option.Caller(), func(d *definition) { d.nodeOnly = true })
}

// Doc gives a service, an action or a stream a sentence for listings and generated documents.
func Doc(text string) interface {
	ServiceOption
	ActionOption
} {
	return docOption{text, option.Caller()}
}

type docOption struct {
	text  string
	where option.Site
}

func (d docOption) applyService(s *Service) {
	serviceOptionOnce("Doc", d.where, func(s *Service) { s.description = d.text }).applyService(s)
}

func (d docOption) applyAction(def *definition) {
	actionOptionOnce("Doc", d.where, func(def *definition) { def.description = d.text }).applyAction(def)
}

// definition is an action as its author wrote it; each time its service starts, it opens as an endpoint.
type definition struct {
	short       string
	where       option.Site // file:line of Handle
	description string
	clusterOnly bool
	nodeOnly    bool
	inline      bool
	borrow      bool
	idempotent  bool
	stream      bool
	shape       introspect.Shape
	codecs      []codecsOption
	routes      []route.Route
	statuses    []introspect.Status
	errors      []*Error
	examples    []struct{ In, Out any }
	deprecated  string
	middlewares []Middleware
	rules       []Allow // see Allow
	given       option.Given
	problems    []error // of the options
	open        func(a *Action, n *Node, s *Service) (local, error)
}

// apply puts the options of Handle or HandleStream into the definition, before it is added to the service. made is whether it has a function.
func (d *definition) apply(s *Service, options []ActionOption, made bool) {
	kind, maker := "action ", "Handle"
	if d.stream {
		kind, maker = "stream ", "HandleStream"
	}
	s.declare(kind+d.short, d.where)
	for _, o := range options {
		o.applyAction(d)
	}
	if !made {
		s.problem(d.where, "action %q has no function: %s was given nil", d.short, maker)
	}
}

// endpoint is an action that can be called, as the routing table holds it: a handler or a streamHandler of this node, or a
// remoteAction. Callers that know its Go types use the concrete type; these methods are for those that do not.
type endpoint interface {
	info() *Action
	operation() *operation
	// callJSON calls with a JSON document and appends the answer's to dst.
	callJSON(ctx context.Context, in, dst []byte, o callOptions) ([]byte, error)
	// serveInbound is callJSON for a call that came in from outside, in a format; nil for JSON.
	serveInbound(in gateway.Inbound, format codec.Codec, dst, body []byte) ([]byte, error)
	// wrap makes an endpoint for the same action whose JSON calls and streams pass the middlewares first.
	wrap(a *Action, middlewares []Middleware) endpoint
}

// local is an endpoint of this node.
type local interface {
	endpoint
	// callAny calls with whatever types in and out point to.
	callAny(ctx context.Context, in, out any, o callOptions) error
	// serve answers a call that came over a link, in the format; bare is the context of one that carries nothing.
	serve(in *wire.Inbound, format string, bare *callContext)
	// serveStream is serve for streams.
	serveStream(s *wire.Stream, format string)
}

// handler is a running action of this node. What is generic here is compiled for each pair of types that a program has, and so is kept small.
type handler[In, Out any] struct {
	own      localAction
	fn       func(context.Context, In) (Out, error)
	requests sync.Pool // of *typedRequest[In, Out]
}

// localAction is the part of a handler that has no types.
type localAction struct {
	action  *Action
	op      *operation
	plan    *validate.Plan // nil when the input's type has no rules
	direct  bool           // no middleware and no gate: the way to the function is a function call
	borrow  bool           // inputs from links may share the memory of their frame, see Borrow
	chain   Handler        // the way otherwise
	formats *callFormats   // for calls over links
}

func (h *handler[In, Out]) info() *Action         { return h.own.action }
func (h *handler[In, Out]) operation() *operation { return h.own.op }

// compose wraps the handler once, when the service starts: in the action's middlewares, the service's, validation and the node's. invoke is the
// inner end.
func (a *localAction) compose(n *Node, s *Service, def *definition, invoke Handler) (err error) {
	if err := a.action.annotate(def); err != nil {
		return err
	}
	a.op = newOperation(n, a.action.Service, a.action.Name)
	a.op.action, a.op.inline, a.op.load = a.action, def.inline, new(admission.Action)
	a.op.gate = s.gate
	a.formats = new(callFormats)
	if a.plan, err = n.compileRules(a.action.In, def.where); err != nil {
		return err
	}
	var wrapped bool
	a.chain, wrapped = a.action.composeHandler(invoke, n, s, def, a.plan != nil)
	a.direct, a.borrow = !wrapped && s.gate == nil, def.borrow && !wrapped
	return nil
}

// composeHandler puts the middlewares around the inner end of a handler's calls, and reports whether there is one.
func (a *Action) composeHandler(inner Handler, n *Node, s *Service, def *definition, validated bool) (chain Handler, wrapped bool) {
	var own, services, nodes, ruled bool
	chain, own = composeCall(a, inner, def.middlewares, localLayer)
	chain, services = composeCall(a, chain, s.middlewares, localLayer)
	if validated {
		inner := chain
		chain = func(ctx context.Context, r *Request) error {
			if err := r.Validate(); err != nil {
				return err
			}
			return inner(ctx, r)
		}
	}
	chain, nodes = composeCall(a, chain, n.middlewares, localLayer)
	chain, ruled = composeCall(a, chain, n.allowed(s.rules, def.rules), localLayer)
	return chain, own || services || nodes || ruled
}

// call handles a call with the handler's own types and without options, which is the fast path: from a bare context to an
// action with nothing around it, it is the author's function and a recover. What is done here must be the same as in run,
// which handles all other calls.
func (h *handler[In, Out]) call(ctx context.Context, in In) (out Out, err error) {
	c := h.own.op.bareContext(ctx)
	if c == nil {
		return h.callWith(ctx, in, callOptions{})
	}
	if !h.own.direct {
		return h.callChain(c, in, nil)
	}
	if h.own.plan != nil {
		if err := checkRules(h.own.plan, h.own.action, &in); err != nil {
			return out, err
		}
	}
	returned := false
	defer func() {
		if !returned {
			out, err = h.panicked(c, recover())
		}
	}()
	out, err = h.fn(c, in)
	if err != nil || h.own.op.scopes.live.Load() != 0 {
		out, err = h.finish(c, out, err) // asks err, whose methods may panic
	}
	returned = true
	return out, err
}

// callWith handles calls with options, with a context of their own, or with middlewares.
func (h *handler[In, Out]) callWith(ctx context.Context, in In, o callOptions) (out Out, err error) {
	c, failed := h.own.op.enter(ctx)
	if failed != nil {
		return out, failed
	}
	if h.own.direct && o.timeout == 0 {
		if _, guarded := c.needsGuard(); !guarded {
			if h.own.plan != nil {
				if err := h.validate(&in); err != nil {
					return out, err
				}
			}
			return h.run(c, c, in)
		}
	}
	return h.callChain(c, in, &o)
}

// callChain runs the call through gate, guard and middlewares. c is its context; o is nil for no options.
func (h *handler[In, Out]) callChain(c *callContext, in In, o *callOptions) (out Out, err error) {
	f := h.takeRequest()
	f.in = in
	if o != nil {
		f.request.options = *o
	}
	if err = h.own.op.callChain(c, &f.request, h.own.chain); err == nil {
		out = f.out
	}
	h.putRequest(f)
	return out, err
}

// callChain is the part of the method of that name that a program has once, and not for each pair of types.
func (s *operation) callChain(c *callContext, r *Request, chain Handler) (err error) {
	if gate := s.gate; gate != nil {
		if !gate.enter() {
			return s.node.unavailable(s.name)
		}
		defer gate.leave()
	}
	deadline, guarded := c.needsGuard()
	switch limit := r.options.timeout; {
	case limit > 0:
		err = r.Within(c, limit, chain)
	case guarded:
		err = r.guarded(c, deadline, chain)
	default:
		err = r.attempt(c, chain)
	}
	if err != nil {
		return s.node.located(err)
	}
	return nil
}

// invoke is the inner end of the chain.
func (h *handler[In, Out]) invoke(ctx context.Context, r *Request) (err error) {
	f := r.typed.(*typedRequest[In, Out])
	f.out, err = h.run(ctx, callOf(ctx), f.in)
	return err
}

// run runs the author's function. Its error, panic or Goexit becomes an *Error here.
func (h *handler[In, Out]) run(ctx context.Context, c *callContext, in In) (out Out, err error) {
	returned := false
	defer func() {
		if !returned {
			out, err = h.panicked(c, recover())
		}
	}()
	out, err = h.fn(ctx, in)
	if err != nil || c.hasScope() {
		out, err = h.finish(c, out, err)
	}
	returned = true
	return out, err
}

// finish waits for the goroutines that the call started with Go, and returns the output or, if anything failed, an *Error.
func (h *handler[In, Out]) finish(c *callContext, out Out, err error) (Out, error) {
	if err = c.closeScope(err); err == nil {
		return out, nil
	}
	var none Out
	return none, c.handlerError(err)
}

// panicked replaces finish for a handler that did not return.
func (h *handler[In, Out]) panicked(c *callContext, value any) (none Out, err error) {
	return none, c.recovered(h.own.action.Name, value)
}

func (h *handler[In, Out]) validate(in *In) error {
	if h.own.plan == nil {
		return nil
	}
	return checkRules(h.own.plan, h.own.action, in)
}

func (h *handler[In, Out]) callAny(ctx context.Context, in, out any, o callOptions) error {
	f := h.takeRequest()
	err := h.own.callAny(ctx, f, in, out, o)
	h.putRequest(f)
	return err
}

func (a *localAction) callAny(ctx context.Context, f localRequest, in, out any, o callOptions) error {
	if err := convertInto(f.input(), in); err != nil {
		return a.badInput(err)
	}
	if err := a.callRequest(ctx, f, o); err != nil {
		return err
	}
	if err := convertInto(out, f.output()); err != nil {
		n := a.op.node
		return n.badOutput("the answer of "+a.action.Name, n.id, mismatch(a.action.Out, out), err)
	}
	return nil
}

func (h *handler[In, Out]) callJSON(ctx context.Context, in, dst []byte, o callOptions) ([]byte, error) {
	f := h.takeRequest()
	dst, err := h.own.callJSON(ctx, f, in, dst, o)
	h.putRequest(f)
	return dst, err
}

func (a *localAction) callJSON(ctx context.Context, f localRequest, in, dst []byte, o callOptions) ([]byte, error) {
	if err := decodeJSON(in, f.input()); err != nil {
		return dst, a.badInput(err)
	}
	if err := a.callRequest(ctx, f, o); err != nil {
		return dst, err
	}
	return a.op.node.appendJSON(dst, a.action, f.output())
}

// callRequest is callWith for a request that has its input.
func (a *localAction) callRequest(ctx context.Context, f localRequest, o callOptions) error {
	c, failed := a.op.enter(ctx)
	if failed != nil {
		return failed
	}
	r, chain, direct := f.way()
	if direct && o.timeout == 0 {
		if _, guarded := c.needsGuard(); !guarded {
			return f.callDirect(c)
		}
	}
	r.options = o
	return a.op.callChain(c, r, chain)
}

// mismatch is the error of an output that cannot be given to a caller of another type; out points to what the caller wants.
func mismatch(has reflect.Type, out any) string {
	return fmt.Sprintf("is %s, which does not fit the caller's %s", has, reflect.TypeOf(out).Elem())
}

func (a *localAction) badInput(err error) error {
	return badInput(a.op.node, "the input of "+a.action.Name, err)
}

func (h *handler[In, Out]) takeRequest() *typedRequest[In, Out] {
	f, ok := h.requests.Get().(*typedRequest[In, Out])
	if !ok {
		f = &typedRequest[In, Out]{handler: h}
		f.request.typed = f
	}
	f.request.action = h.own.action
	return f
}

// putRequest empties the request, so that the pool keeps no caller's values reachable. It sets one field after the other: an empty request would be
// made on the stack first, and copied, which takes longer than all else here.
func (h *handler[In, Out]) putRequest(f *typedRequest[In, Out]) {
	var in In
	var out Out
	f.in, f.out = in, out
	f.request.action, f.request.valid, f.request.options = nil, false, callOptions{}
	h.requests.Put(f)
}

// checkRules gives an input the defaults in its struct tags, and checks it against the rules there.
func checkRules[In any](plan *validate.Plan, a *Action, in *In) error {
	if plan.HasDefaults() {
		*in = withDefaults(plan, *in)
	}
	err := plan.Check(unsafe.Pointer(in))
	if err == nil {
		return nil
	}
	return invalid(a.node, "the input of "+a.Name, err)
}

// withDefaults must not be inlined: the value is moved to the heap here, and only for types that have defaults.
//
//go:noinline
func withDefaults[T any](plan *validate.Plan, value T) T {
	plan.SetDefaults(unsafe.Pointer(&value))
	return value
}

// invalid makes the error of broken rules for who gave the value, which what names.
func invalid(n *Node, what string, err error) *Error {
	if e := n.panicInside(what, err); e != nil {
		return e
	}
	e := &Error{Code: CodeInvalidArgument, Name: nameValidationFailed, Node: n.id, cause: err}
	if fields, ok := err.(validate.Errors); ok {
		e.Data, e.Message = fields, fields.After(what+" is not valid: ")
	} else {
		e.Message = what + " is not valid: " + err.Error()
	}
	return e
}
