package sabir

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/validate"
)

// eventDefinition is a handler as its author wrote it.
type eventDefinition struct {
	pattern     string
	where       option.Site
	group       string
	queue       int
	middlewares []Middleware
	rules       []Allow // see Allow
	grouped     bool    // by Delivery
	bestEffort  bool
	given       option.Given
	problems    []error // of the options
	open        func(n *Node, s *Service) (receiver, error)
}

// once notes an option that can be given once.
func (d *eventDefinition) once(option string, where option.Site) {
	if err := d.given.Again(option, where); err != nil {
		d.problems = append(d.problems, err)
	}
}

// receiver is a running handler of events, as the event table holds it.
type receiver interface {
	subscription() *Subscription
	// receiveAny takes a payload of any type; payload points to it. The error is errGone where the service has gone.
	receiveAny(ctx context.Context, at *delivery, payload any) error
	// receiveEncoded takes a payload that came in from outside, in the format.
	receiveEncoded(ctx context.Context, at *delivery, format codec.Codec, payload []byte) error
	// receiveFrom takes a payload that came over a link, in the format.
	receiveFrom(in *wire.Inbound, at *delivery, format string) error
	// begin makes it ready to receive.
	begin()
	// finish waits until what was queued is handled and takes no more.
	finish(ctx context.Context) error
}

// eventHandler is a running handler of events. What is generic here is compiled for each type of payloads that a program has, and so is kept small.
type eventHandler[T any] struct {
	own localEvent
	fn  func(context.Context, T) error
}

// localEvent is the part of an eventHandler that has no types.
type localEvent struct {
	node    *Node
	sub     *Subscription
	plan    *validate.Plan // nil where the payload has no rules
	gate    *gate
	direct  bool // no middleware and no gate
	chain   EventHandler
	queue   *eventQueue
	formats callFormats // for events over links
}

func (h *eventHandler[T]) subscription() *Subscription      { return h.own.sub }
func (h *eventHandler[T]) begin()                           { h.own.begin() }
func (h *eventHandler[T]) finish(ctx context.Context) error { return h.own.finish(ctx) }

// compose wraps the handler once, when its service starts. invoke is the inner end.
func (h *localEvent) compose(n *Node, s *Service, def *eventDefinition, payload reflect.Type, invoke EventHandler) error {
	h.node, h.gate = n, s.gate
	h.sub = &Subscription{Service: s.fullName(), Pattern: def.pattern, Group: def.group, Type: payload, Queued: def.queue > 0, watches: def.bestEffort}
	var err error
	if h.plan, err = n.compileRules(h.sub.Type, def.where); err != nil {
		return err
	}
	if n.withoutIdentities() && (s.rules != nil || def.rules != nil) {
		return &Error{Code: CodeInvalidArgument, Name: nameBadService, Message: def.where.String() + ": the rules of the handler of " + def.pattern + " (sabir.Allow) need nodes that prove their names: " + wantNames}
	}
	var own, services, nodes, ruled bool
	chain := invoke
	chain, own = composeEvent(h.sub, chain, def.middlewares, true)
	chain, services = composeEvent(h.sub, chain, s.middlewares, false)
	h.chain, nodes = composeEvent(h.sub, chain, n.middlewares, false)
	h.chain, ruled = composeEvent(h.sub, h.chain, n.allowed(s.rules, def.rules), false)
	if err := h.sub.refusal(); err != nil {
		return fmt.Errorf("%s: %w", def.where, err)
	}
	if def.queue > 0 {
		h.queue = newEventQueue(h, def.queue)
		h.queue.bestEffort = def.bestEffort
	}
	h.direct = !own && !services && !nodes && !ruled && h.gate == nil && h.queue == nil
	return nil
}

func (h *localEvent) begin() {
	if h.queue != nil {
		go h.queue.drain()
	}
}

// receive takes an event whose payload has the handler's type.
func (h *eventHandler[T]) receive(ctx context.Context, at *delivery, payload T) error {
	c, failed := at.op.enter(ctx)
	if failed != nil {
		return failed
	}
	return h.receiveIn(c, ctx, at, payload)
}

func (h *eventHandler[T]) receiveIn(c *callContext, ctx context.Context, at *delivery, payload T) error {
	if h.own.plan != nil {
		var err error
		if payload, err = h.checkRules(at, payload); err != nil {
			return err
		}
	}
	if !h.own.direct {
		return h.receiveCopy(c, ctx, at, payload)
	}
	if err := h.run(c, c, payload); err != nil {
		h.own.node.logEvent(c, at.op, h.own.sub.Pattern, err)
	}
	return nil
}

// checkRules gives a payload the defaults in its struct tags and checks it against the rules there, on the emitter's way in, so that a broken one is the emitter's error and
// takes no place in a queue. It must not be inlined: the payload is moved to the heap here, and only for types that have rules.
//
//go:noinline
func (h *eventHandler[T]) checkRules(at *delivery, payload T) (T, error) {
	err := h.own.checkRules(at, unsafe.Pointer(&payload))
	return payload, err
}

func (h *localEvent) checkRules(at *delivery, payload unsafe.Pointer) error {
	h.plan.SetDefaults(payload)
	if err := h.plan.Check(payload); err != nil {
		return invalid(h.node, "the event "+at.op.name+" for "+h.sub.Service, err)
	}
	return nil
}

// receiveCopy puts a payload on the heap for the queue, or for the middlewares. It must not be inlined, as checkRules.
//
//go:noinline
func (h *eventHandler[T]) receiveCopy(c *callContext, ctx context.Context, at *delivery, payload T) error {
	if queue := h.own.queue; queue != nil {
		return queue.push(ctx, queuedEvent{ctx: c.detached(), at: at, payload: &payload})
	}
	return h.own.handle(c, at, &payload)
}

// handle runs the handler inside gate and middlewares. payload points to the payload. Its error is errGroupGone or nil.
func (h *localEvent) handle(c *callContext, at *delivery, payload any) error {
	if h.gate != nil {
		if !h.gate.enter() {
			return errGroupGone
		}
		defer h.gate.leave()
	}
	e := &Event{Name: at.op.name, Subscription: h.sub, payload: payload}
	err := isolate(at.op.name, c, func(ctx context.Context) error { return h.chain(ctx, e) })
	if err != nil {
		h.node.logEvent(c, at.op, h.sub.Pattern, err)
	}
	return nil
}

// invoke is the inner end of the chain.
func (h *eventHandler[T]) invoke(ctx context.Context, e *Event) error {
	return h.run(ctx, callOf(ctx), *e.payload.(*T))
}

func (h *eventHandler[T]) run(ctx context.Context, c *callContext, payload T) (err error) {
	returned := false
	defer func() {
		if !returned { // the error is logged, see logEvent
			err = c.closeScope(panicError("the handler of "+c.op.name+" in "+h.own.sub.Service, recover()))
		}
	}()
	err = h.fn(ctx, payload)
	if c.hasScope() {
		err = c.closeScope(err)
	}
	returned = true
	return err
}

func (h *eventHandler[T]) receiveAny(ctx context.Context, at *delivery, payload any) error {
	typed := new(T)
	if err := convertInto(typed, payload); err != nil {
		return h.own.unreadable(ctx, at, "a "+payloadType(payload), err)
	}
	return h.receive(ctx, at, *typed)
}

func (h *eventHandler[T]) receiveEncoded(ctx context.Context, at *delivery, format codec.Codec, payload []byte) error {
	typed := new(T)
	if err := format.Decode(payload, typed); err != nil {
		return h.own.unreadable(ctx, at, "written as "+format.Name(), err)
	}
	return h.receive(ctx, at, *typed)
}

// unreadable is the emitter's error of a payload that cannot be read into the handler's type; other handlers still get it. It is
// logged here too, on the handler's node, where the type may be the wrong one.
func (h *localEvent) unreadable(ctx context.Context, at *delivery, payload string, err error) error {
	what := fmt.Sprintf("the event %s, %s, for the handler of %s in %s on node %s, which takes %s,",
		at.op.name, payload, h.sub.Pattern, h.sub.Service, h.node.id, h.sub.Type)
	failed := badInput(h.node, what, err)
	failed.Node = h.node.id
	if failed.Name != namePanic { // which is in the log
		h.node.logEvent(ctx, at.op, h.sub.Pattern, failed)
	}
	return failed
}

// payloadType returns the type of the value that payload points to, or of the value in an interface there.
func payloadType(payload any) string {
	v := reflect.ValueOf(payload).Elem()
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	return v.Type().String()
}

func (h *localEvent) finish(ctx context.Context) (err error) {
	if h.queue != nil {
		err = h.queue.finish(ctx)
	}
	for _, fn := range h.sub.onStop {
		fn(ctx)
	}
	return err
}

func (n *Node) logEvent(ctx context.Context, op *operation, pattern string, err error) {
	n.log.ErrorContext(ctx, "event handler failed", "node", n.id, "event", op.name, "request_id", requestIDOf(ctx), "service", op.service,
		"pattern", pattern, "error", AsError(err))
}
