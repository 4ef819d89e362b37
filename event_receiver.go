package sabir

import (
	"context"
	"reflect"

	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/validate"
)

// EventReceiver hands events that come from outside the cluster, such as the messages of a broker, to one handler of a
// service, as the node's own events come to theirs: through the middlewares of the node, the service and the handler, with a
// context from which [InfoFromContext] describes the event, and with [Go]. A component makes one with
// [Service.EventReceiver]; it may be used by many goroutines at once.
type EventReceiver struct {
	op     *operation
	sub    *Subscription
	chain  EventHandler
	plan   *validate.Plan // nil where the payload has no rules
	handle func(ctx context.Context, payload any) error
}

// EventReceiver makes the way of the events of one name to a handler. It takes a service that a node serves, so call it in
// the Start of an [Extension]. The receiver is for as long as that node serves the service. Its error is of another service, or of rules in the tags of
// the payload's type that cannot be.
//
// sub describes the handler to middlewares; its Service is filled in. own are the handler's own middlewares, inside those of the
// service.
func (s *Service) EventReceiver(event string, sub Subscription, handle func(ctx context.Context, payload any) error,
	own ...Wrapper) (*EventReceiver, error) {
	n := s.callingNode()
	if n == nil {
		return nil, &Error{Code: CodeInvalidArgument, Name: nameBadService,
			Message: "EventReceiver of " + event + " was called for a service that no node serves: call it in the Start of an Extension"}
	}
	sub.Service = s.fullName()
	r := &EventReceiver{op: newOperation(n, sub.Service, event), sub: &sub, handle: handle}
	var err error
	if r.plan, err = n.compileRules(sub.Type, option.Caller()); err != nil {
		return nil, err
	}
	r.op.event, r.op.outside = true, true
	r.chain = r.invoke
	r.chain, _ = composeEvent(r.sub, r.chain, middlewaresOf(own), true)
	for _, list := range [][]Middleware{s.middlewares, n.middlewares} {
		r.chain, _ = composeEvent(r.sub, r.chain, list, false)
	}
	if err := r.sub.refusal(); err != nil {
		return nil, err
	}
	return r, nil
}

// Receive hands one event to the handler and returns when that has returned, and all goroutines that it started with Go.
// payload points to the value: a *T of Subscription.Type. requestID and metadata came with the event, for
// [InfoFromContext]; "" and nil are for none, and the map must not be changed later.
//
// A payload that breaks the rules in its struct tags does not reach the handler: the error matches [ErrValidationFailed].
//
// A panic is an [ErrPanic], logged with its stack. A handler that ends its goroutine ends that of the caller. The Error
// method of the returned error was called before, so it does not panic.
func (r *EventReceiver) Receive(ctx context.Context, payload any, requestID string, metadata map[string]string) error {
	if requestID != "" || metadata != nil {
		ctx = &linkContext{Context: ctx, requestID: requestID, metadata: metadata}
	}
	call, failed := r.op.enter(ctx)
	if failed != nil {
		return failed
	}
	if r.plan != nil {
		r.plan.SetDefaults(reflect.ValueOf(payload).UnsafePointer())
		if err := r.plan.Check(reflect.ValueOf(payload).UnsafePointer()); err != nil {
			return invalid(r.op.node, "the event "+r.op.name+" for "+r.sub.Service, err)
		}
	}
	e := &Event{Name: r.op.name, Subscription: r.sub, payload: payload}
	err := isolate(r.op.name, call, func(ctx context.Context) error { return r.chain(ctx, e) })
	if err != nil { // its own code may panic, and does so here rather than in the caller
		err = isolate("the error of a handler of "+r.op.name, call, func(context.Context) error {
			_, _ = err.Error(), AsError(err)
			return err
		})
	}
	r.op.node.logPanic(call, err)
	return err
}

// invoke is the inner end of the chain.
func (r *EventReceiver) invoke(ctx context.Context, e *Event) (err error) {
	call := callOf(ctx)
	defer func() {
		if v := recover(); v != nil {
			err = call.closeScope(panicError("the handler of "+r.op.name+" in "+r.sub.Service, v))
		}
	}()
	err = r.handle(ctx, e.payload)
	if call.hasScope() {
		err = call.closeScope(err)
	}
	return err
}
