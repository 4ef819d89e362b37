package sabir

import (
	"context"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/option"
)

// Contract is the name and the types of an action, as one value that the service and its callers share. A package that both
// import declares it once:
//
//	package users
//
//	var Get = sabir.NewAction[GetUser, User]("users.get")
//
// The service gives it a function, and callers call it. Neither compiles with other types:
//
//	users.Get.Handle(service, getUser)
//	user, err := users.Get.Call(ctx, node, users.GetUser{ID: "u-1"})
//
// A contract belongs to no node: any number of nodes may handle and call it, from many goroutines at once.
type Contract[In, Out any] struct {
	contract contract
	bound    atomic.Pointer[binding[In, Out]] // of the node that called last
}

// contract is the part of a [Contract] that has no types, which is compiled once.
type contract struct {
	name     string
	options  []ActionOption
	policies []Middleware // see With
}

// NewAction makes the contract of an action that is called by its full name: "users.get", or "v2.users.get". The options
// are those of [Handle] and hold wherever the contract is handled: routes, errors, descriptions, idempotence. Types that an
// action has no use for are [Empty].
//
// An invalid name is reported where it is used: by the start of a service that handles the contract, and by each call.
func NewAction[In, Out any](name string, options ...ActionOption) *Contract[In, Out] {
	return &Contract[In, Out]{contract: contract{name: name, options: options}}
}

// untyped is the contract without its types; nil for none.
func (c *Contract[In, Out]) untyped() *contract {
	if c == nil {
		return nil
	}
	return &c.contract
}

// caller returns the node to call through.
func (c *contract) caller(from Caller) (*Node, error) {
	if c == nil || c.name == "" {
		return nil, errNotAContract("NewAction")
	}
	if n := from.callingNode(); n != nil {
		return n, nil
	}
	return nil, errNoNode(from, c.name)
}

// callAny makes a call whose input and output are what the pointers point to.
func (c *contract) callAny(ctx context.Context, n *Node, in, out any, o callOptions) error {
	e, err := n.endpointFor(n.table.Load().find(c.name), c.name, &o)
	if err != nil {
		return err
	}
	a, remote := e.(*remoteAction)
	if !remote {
		return e.(local).callAny(ctx, in, out, o)
	}
	chain, err := c.through(a)
	if err != nil {
		return err
	}
	return a.callAny(ctx, in, out, o, chain)
}

// agree takes over the name and the options of a contract, which those of Handle may replace, and reports whether it has a name.
func (d *definition) agree(s *Service, c *contract) bool {
	if s == nil || c == nil || c.name == "" {
		maker := "NewAction"
		if d.stream {
			maker = "NewStream"
		}
		s.declare("a contract", d.where) // which panics for a nil service
		s.problem(d.where, "%v", errNotAContract(maker))
		return false
	}
	d.short = s.ownName(c.name, d.where)
	for _, o := range c.options {
		o.applyAction(d)
	}
	d.given = nil
	return true
}

// errNotAContract is the error of a contract that is nil or the zero value.
func errNotAContract(maker string) *Error {
	return &Error{Code: CodeInvalidArgument, Name: nameBadContract, Message: "this contract has no name: it was not made by sabir." + maker}
}

// Name is the action's full name.
func (c *Contract[In, Out]) Name() string { return c.contract.name }

// Handle adds the action to a service, as [Handle] does. Options given here come after those of the contract and replace
// them, or add to them where they add up. A contract whose name is not that of an action of s is reported when the service
// starts, with the file and line of this call.
func (c *Contract[In, Out]) Handle(s *Service, fn func(context.Context, In) (Out, error), options ...ActionOption) {
	def := &definition{where: option.Caller()}
	if def.agree(s, c.untyped()) {
		handle(s, def, fn, options)
	}
}

// Call calls the action and waits for its answer, as [Call] does. It looks the name up once for a node, as [Bind] does: a call
// within the node from a bare context allocates nothing. A program that calls through several nodes at once looks it up again
// whenever the node changes; bind such a contract with [Contract.Bind].
func (c *Contract[In, Out]) Call(ctx context.Context, from Caller, in In, options ...CallOption) (Out, error) {
	var b *binding[In, Out]
	if c != nil && c.contract.name != "" {
		if n := from.callingNode(); n != nil {
			if b = c.bound.Load(); b == nil || b.name.node != n {
				b = bindingOf[In, Out](n, c.contract.name)
				c.bound.Store(b)
			}
		}
	}
	if b == nil {
		var none Out
		_, err := c.untyped().caller(from)
		return none, err
	}
	if h := b.handler.Load(); h != nil && len(options) == 0 {
		return h.call(ctx, in)
	}
	return b.callGeneral(ctx, in, options, &c.contract)
}

// Bind is the action as a function that calls through from.
func (c *Contract[In, Out]) Bind(from Caller) Func[In, Out] {
	if c == nil || c.contract.name == "" || len(c.contract.policies) > 0 {
		return func(ctx context.Context, in In, options ...CallOption) (Out, error) {
			return c.Call(ctx, from, in, options...)
		}
	}
	return Bind[In, Out](from, c.contract.name)
}

// Into is a call for [All], whose answer is stored in *out.
func (c *Contract[In, Out]) Into(out *Out, in In, options ...CallOption) PreparedCall {
	name := ""
	if c != nil {
		name = c.contract.name
	}
	return PreparedCall{name, func(ctx context.Context, from Caller) (err error) {
		*out, err = c.Call(ctx, from, in, options...)
		return err
	}}
}

// StreamContract is the name and the types of an action that is a stream. See [Contract].
type StreamContract[In, Out any] struct{ contract contract }

// NewStream makes the contract of a stream: callers send In and receive Out. See [NewAction].
func NewStream[In, Out any](name string, options ...ActionOption) *StreamContract[In, Out] {
	return &StreamContract[In, Out]{contract{name: name, options: options}}
}

func (c *StreamContract[In, Out]) untyped() *contract {
	if c == nil {
		return nil
	}
	return &c.contract
}

// Name is the stream's full name.
func (c *StreamContract[In, Out]) Name() string { return c.contract.name }

// Handle adds the stream to a service, as [HandleStream] does. See [Contract.Handle].
func (c *StreamContract[In, Out]) Handle(s *Service, fn func(context.Context, *Stream[In, Out]) error, options ...ActionOption) {
	def := &definition{where: option.Caller(), stream: true}
	if def.agree(s, c.untyped()) {
		handleStream(s, def, fn, options)
	}
}

// Open opens the stream, as [OpenStream] does. The caller must Close it.
func (c *StreamContract[In, Out]) Open(ctx context.Context, from Caller, options ...CallOption) (*Stream[Out, In], error) {
	if c == nil || c.contract.name == "" {
		return nil, errNotAContract("NewStream")
	}
	return OpenStream[In, Out](ctx, from, c.contract.name, options...)
}

// Call opens the stream, sends one value and yields what comes back, as [CallStream] does.
func (c *StreamContract[In, Out]) Call(ctx context.Context, from Caller, in In, options ...CallOption) iter.Seq2[Out, error] {
	if c == nil || c.contract.name == "" {
		return func(yield func(Out, error) bool) {
			var none Out
			yield(none, errNotAContract("NewStream"))
		}
	}
	return CallStream[Out](ctx, from, c.contract.name, in, options...)
}

// EventContract is the name and the payload's type of an event, as one value that emitters and handlers share:
//
//	var Created = sabir.NewEvent[Order]("orders.created")
//
//	Created.On(mailer, sendMail)
//	err := Created.Emit(ctx, node, order)
type EventContract[T any] struct{ name string }

// NewEvent makes the contract of an event. An invalid name is reported where it is used.
func NewEvent[T any](name string) *EventContract[T] { return &EventContract[T]{name} }

// Name is the event's name.
func (c *EventContract[T]) Name() string { return c.name }

// On adds a handler of this event to a service, as [On] does.
func (c *EventContract[T]) On(s *Service, fn func(context.Context, T) error, options ...EventOption) {
	where := option.Caller()
	s.declare("the contract of an event", where)
	if c == nil || c.name == "" {
		s.problem(where, "%v", errNotAContract("NewEvent"))
		return
	}
	if bad := names.Fault(c.name); bad != "" {
		s.problem(where, "the event name %.100q %s; patterns are for sabir.On", c.name, bad)
		return
	}
	on(s, &eventDefinition{pattern: c.name, where: where}, fn, options)
}

// Emit sends the event to each group of handlers once, as [Emit] does.
func (c *EventContract[T]) Emit(ctx context.Context, from Caller, payload T, options ...EmitOption) error {
	if c == nil || c.name == "" {
		return errNotAContract("NewEvent")
	}
	return Emit(ctx, from, c.name, payload, options...)
}

// Broadcast sends the event to every service that handles it, on every node, as [Broadcast] does.
func (c *EventContract[T]) Broadcast(ctx context.Context, from Caller, payload T) error {
	if c == nil || c.name == "" {
		return errNotAContract("NewEvent")
	}
	return Broadcast(ctx, from, c.name, payload)
}

// ownName is the rest of an action's full name without that of the service. A service with a version takes contracts with
// its version and without: callers of the latter reach the version that names without one reach.
func (s *Service) ownName(full string, where option.Site) string {
	for _, service := range []string{s.fullName(), s.name} {
		if short, ok := strings.CutPrefix(full, service+"."); ok {
			return short
		}
	}
	s.problem(where, "the contract %.100q is not of service %s: the name of an action begins with that of its service", full, s.fullName())
	return full
}
