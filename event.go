package sabir

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/native"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/validate"
)

// Event is one event on its way through the middlewares to one handler. It belongs to the delivery and must not be kept.
type Event struct {
	Name         string
	Subscription *Subscription
	payload      any // *T of the handler's type
}

// Payload points to the payload, a *T of the handler's type.
func (e *Event) Payload() any { return e.payload }

// Subscription describes a handler of events to its middlewares and to listings.
type Subscription struct {
	Service string // full name
	Pattern string
	Group   string
	Type    reflect.Type // of the payload
	Queued  bool
}

// On adds a handler of the events that pattern takes: "user.created", "user.*" (one word), "user.**" (one or more).
//
// The payload is converted when the emitter's type is another of the same shape; T may be any to take what comes: the
// emitter's own value, or a json.RawMessage when the event came in as a document. A
// handler's error or panic is logged and harms neither the emitter nor other handlers. Handlers run one after the
// other on the emitter's goroutine, so when Emit returns they are done; one that takes long should be [Buffered].
//
// When several patterns of a service in the same group take an event, only the most specific one's handler runs, as in
// net/http's ServeMux; give handlers different groups with [ConsumerGroup] to run them all.
//
// On panics when a node serves s already: it would have no effect.
func On[T any](s *Service, pattern string, fn func(context.Context, T) error, options ...EventOption) {
	on(s, &eventDefinition{pattern: pattern, where: option.Caller()}, fn, options)
}

func on[T any](s *Service, def *eventDefinition, fn func(context.Context, T) error, options []EventOption) {
	s.declare("the handler of event "+def.pattern, def.where)
	pattern := def.pattern
	for _, o := range options {
		o.applyEvent(def)
	}
	if !def.grouped {
		def.group = s.name
	}
	s.problems = append(s.problems, def.problems...)
	if fn == nil {
		s.problem(def.where, "the handler of event %q is nil", pattern)
	}
	if bad := names.PatternFault(pattern); bad != "" {
		s.problem(def.where, "the event pattern %.100q %s", pattern, bad)
	}
	for _, other := range s.handlers {
		if other.pattern == pattern && other.group == def.group {
			s.problem(def.where, "service %s has two handlers of %q in group %s; the first is at %s", s.fullName(), pattern, def.group, other.where)
		}
	}
	def.open = func(n *Node, s *Service) (receiver, error) {
		r := &eventHandler[T]{fn: fn}
		return r, r.compose(n, s, def)
	}
	s.handlers = append(s.handlers, def)
}

// EventOption is an option of On: [Use], [Allow], [ConsumerGroup], [Buffered], [BestEffort]. Use and Allow add up; a service whose handler has two of another does not
// start.
type EventOption interface{ applyEvent(*eventDefinition) }

type eventOption func(*eventDefinition)

func (o eventOption) applyEvent(d *eventDefinition) { o(d) }

// ConsumerGroup puts the handler into a group of its own choosing instead of its service's: an emitted event goes to each
// group once.
func ConsumerGroup(group string) EventOption {
	where := option.Caller()
	return eventOption(func(d *eventDefinition) {
		d.once("ConsumerGroup", where)
		d.group, d.grouped = group, true
	})
}

// Buffered gives the handler a queue of the given length and a goroutine, so that emitters need not wait for it. Events of
// a queue are handled in order. When the queue is full an emitter waits, for 5 seconds at most or as long as its
// context allows, and then gets an error. What is in the queue when the service stops is still handled.
func Buffered(length int) EventOption {
	where := option.Caller()
	return eventOption(func(d *eventDefinition) {
		d.once("Buffered", where)
		d.queue = max(length, 1)
	})
}

// BestEffort is for a handler that only watches, such as a dashboard: emitters on other nodes do not wait for it, and get no error
// of it. Up to 1,024 events, or 4 MiB of them, wait for its node to take them; those that come while it is that far behind are lost,
// which the emitter's node logs. They travel as JSON, in the order in which one node emits them. All handlers of a node with
// [cluster.ClientOnly] are of this kind.
//
// A handler on the emitter's own node runs before Emit returns all the same, unless it is [Buffered]: then events are lost, in
// place of a wait, while its queue is full. The handlers of one group should all have the option, or none.
func BestEffort() EventOption {
	where := option.Caller()
	return eventOption(func(d *eventDefinition) {
		d.once("BestEffort", where)
		d.bestEffort = true
	})
}

// eventDefinition is a handler as its author wrote it.
type eventDefinition struct {
	pattern     string
	where       option.Site
	group       string
	queue       int
	middlewares []Middleware
	rules       []callerRule // see Allow
	grouped     bool         // ConsumerGroup set the group
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

// eventHandler is a running handler of events.
type eventHandler[T any] struct {
	fn      func(context.Context, T) error
	node    *Node
	sub     *Subscription
	plan    *validate.Plan // nil where the payload has no rules
	gate    *gate
	direct  bool
	chain   EventHandler
	queue   *eventQueue[T]
	native  *eventFormat[T]
	formats sync.Map // format to *receiving[T]
}

func (h *eventHandler[T]) subscription() *Subscription { return h.sub }

func (h *eventHandler[T]) compose(n *Node, s *Service, def *eventDefinition) error {
	h.node, h.gate = n, s.gate
	h.sub = &Subscription{Service: s.fullName(), Pattern: def.pattern, Group: def.group, Type: reflect.TypeFor[T](), Queued: def.queue > 0}
	var err error
	if h.plan, err = n.compileRules(h.sub.Type, def.where); err != nil {
		return err
	}
	if n.withoutIdentities() && (s.rules != nil || def.rules != nil) {
		return &Error{Code: CodeInvalidArgument, Name: nameBadService, Message: def.where.String() + ": the rules of the handler of " + def.pattern + " (sabir.Allow) need links with certificates: join with cluster.TLS"}
	}
	var own, services, nodes, ruled bool
	chain := EventHandler(h.invoke)
	chain, own = composeEvent(h.sub, chain, def.middlewares)
	chain, services = composeEvent(h.sub, chain, s.middlewares)
	h.chain, nodes = composeEvent(h.sub, chain, n.middlewares)
	h.chain, ruled = composeEvent(h.sub, h.chain, n.allowed(s.rules, def.rules))
	h.direct = !own && !services && !nodes && !ruled && h.gate == nil
	h.native = newEventFormat[T](native.Name)
	if def.queue > 0 {
		h.queue = newEventQueue(h, def.queue)
		h.queue.bestEffort = def.bestEffort
	}
	return nil
}

func (h *eventHandler[T]) begin() {
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
	if h.plan != nil {
		var err error
		if payload, err = h.checkRules(at, payload); err != nil {
			return err
		}
	}
	if h.queue != nil {
		return h.queue.push(ctx, queuedEvent[T]{ctx: c.detached(), at: at, payload: payload})
	}
	if h.direct {
		if err := h.run(c, c, payload); err != nil {
			h.node.logEvent(c, at, err)
		}
		return nil
	}
	return h.handle(c, at, payload)
}

// checkRules gives a payload the defaults in its struct tags and checks it against the rules there, on the emitter's way in, so that a broken one is the emitter's error and
// takes no place in a queue. It must not be inlined: the payload is moved to the heap here, and only for types that have rules.
//
//go:noinline
func (h *eventHandler[T]) checkRules(at *delivery, payload T) (T, error) {
	h.plan.SetDefaults(unsafe.Pointer(&payload))
	if err := h.plan.Check(unsafe.Pointer(&payload)); err != nil {
		return payload, invalid(h.node, "the event "+at.op.name+" for "+h.sub.Service, err)
	}
	return payload, nil
}

// errGroupGone means that a handler's service stopped listening a moment after the handler was chosen for an event. The
// table of events no longer has it by then.
var errGroupGone = &Error{Code: CodeUnavailable, Name: nameGroupGone, Retryable: true, Message: "the service is being removed"}

// handle runs the handler inside gate and middlewares. Its error is errGroupGone or nil.
func (h *eventHandler[T]) handle(c *callContext, at *delivery, payload T) error {
	if h.gate != nil {
		if !h.gate.enter() {
			return errGroupGone
		}
		defer h.gate.leave()
	}
	e := &Event{Name: at.op.name, Subscription: h.sub, payload: &payload}
	err := isolate(at.op.name, c, func(ctx context.Context) error { return h.chain(ctx, e) })
	if err != nil {
		h.node.logEvent(c, at, err)
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
			err = c.closeScope(panicError("the handler of "+c.op.name+" in "+h.sub.Service, recover()))
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
	var typed T
	if err := convertInto(&typed, payload); err != nil {
		return h.unreadable(ctx, at, "a "+payloadType(payload), err)
	}
	return h.receive(ctx, at, typed)
}

func (h *eventHandler[T]) receiveEncoded(ctx context.Context, at *delivery, format codec.Codec, payload []byte) error {
	var typed T
	if err := format.Decode(payload, &typed); err != nil {
		return h.unreadable(ctx, at, "written as "+format.Name(), err)
	}
	return h.receive(ctx, at, typed)
}

// unreadable is the emitter's error of a payload that cannot be read into the handler's type; other handlers still get it. It is
// logged here too, on the handler's node, where the type may be the wrong one.
func (h *eventHandler[T]) unreadable(ctx context.Context, at *delivery, payload string, err error) error {
	what := fmt.Sprintf("the event %s, %s, for the handler of %s in %s on node %s, which takes %s,",
		at.op.name, payload, h.sub.Pattern, h.sub.Service, h.node.id, h.sub.Type)
	failed := badInput(h.node, what, err)
	failed.Node = h.node.id
	if failed.Name != namePanic { // which is in the log
		h.node.logEvent(ctx, at, failed)
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

func (h *eventHandler[T]) finish(ctx context.Context) error {
	if h.queue == nil {
		return nil
	}
	return h.queue.finish(ctx)
}

func (n *Node) logEvent(ctx context.Context, at *delivery, err error) {
	n.log.ErrorContext(ctx, "event handler failed", "node", n.id, "event", at.op.name, "request", RequestIDFromContext(ctx), "service", at.op.service,
		"pattern", at.receiver.subscription().Pattern, "error", AsError(err))
}

// Emit sends an event to each group of handlers once: of the services in a group that take it, in the whole cluster, one
// gets it, in turn, on this node if there is one here. A service's handlers are in the group of its name unless they set
// another. Any payload that could be the input of an action will do.
//
// When Emit returns nil, every handler that was to get the event has run, or has the event in its queue, on other nodes
// too. It returns an error when the name is not valid, when the context has ended, when the node does not run, when a handler
// cannot read the payload into its type (ErrBadInput, which names both), when a queue stays full or a node was lost; the other
// groups have got it all the same. A node that has just left in order takes no events, which is no error. What
// handlers return is logged where they run, not returned.
func Emit[T any](ctx context.Context, from Caller, name string, payload T) error {
	p, err := planOf(ctx, from, name)
	if err != nil {
		return err
	}
	for i := range p.groups {
		failed := deliver(ctx, p.groups[i].pick(), payload)
		if failed == errGroupGone {
			failed = emitAgain(ctx, from, name, p.groups[i].name, payload)
		}
		if failed != nil && err == nil {
			err = failed // the other groups still get it
		}
	}
	if len(p.remoteGroups) == 0 {
		return err
	}
	return errors.Join(err, sendEvent(ctx, p.remoteGroups, payload))
}

// emitAgain sends an event to another member of a group, here or on another node, when the chosen one has just gone.
func emitAgain[T any](ctx context.Context, from Caller, name, group string, payload T) error {
	p, err := planOf(ctx, from, name)
	if err != nil {
		return err
	}
	for i := range p.groups {
		if p.groups[i].name == group {
			err := deliver(ctx, p.groups[i].pick(), payload)
			if err == errGroupGone {
				err = emitAgain(ctx, from, name, group, payload)
			}
			return err
		}
	}
	for _, to := range p.remoteGroups {
		if to.group == group {
			return sendEvent(ctx, []*remoteAction{to}, payload)
		}
	}
	return nil // it was the last of the group
}

// Broadcast sends an event to every service that takes it, on every node, not to one of each group only. For the rest
// see [Emit].
func Broadcast[T any](ctx context.Context, from Caller, name string, payload T) error {
	p, err := planOf(ctx, from, name)
	if err != nil {
		return err
	}
	err = broadcastHere(ctx, p, payload)
	if len(p.remoteNodes) == 0 {
		return err
	}
	return errors.Join(err, sendEvent(ctx, p.remoteNodes, payload))
}

// BroadcastLocal is Broadcast to the services of this node only.
func BroadcastLocal[T any](ctx context.Context, from Caller, name string, payload T) error {
	p, err := planOf(ctx, from, name)
	if err != nil {
		return err
	}
	return broadcastHere(ctx, p, payload)
}

func broadcastHere[T any](ctx context.Context, p *eventPlan, payload T) (err error) {
	for i := range p.groups {
		for _, at := range p.groups[i].members {
			if failed := deliver(ctx, at, payload); failed != nil && failed != errGroupGone && err == nil {
				err = failed
			}
		}
	}
	return err
}

// planOf finds the handlers and nodes for an event.
func planOf(ctx context.Context, from Caller, name string) (*eventPlan, error) {
	n := from.callingNode()
	if n == nil {
		return nil, errNoNode(from, name)
	}
	p, err := n.events.plan(name)
	if err == nil && len(p.groups) == 0 { // where there are handlers here, each looks at the context, and the node runs
		err = n.cannotEmit(ctx, name)
	}
	return p, err
}

// cannotEmit is the error of an event that no node can be asked to take, though no handler of this node takes it; nil for none.
func (n *Node) cannotEmit(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return newOperation(n, "", name).contextError(err)
	}
	if state := n.State(); state == StateCreated || state == StateStopped {
		return &Error{Code: CodeFailedPrecondition, Name: nameNodeState, Node: n.id,
			Message: "cannot emit " + name + ": node " + n.id + " is " + state.String() + ", not " + StateRunning.String()}
	}
	return nil
}

func deliver[T any](ctx context.Context, at *delivery, payload T) error {
	if h, ok := at.receiver.(*eventHandler[T]); ok {
		return h.receive(ctx, at, payload)
	}
	return deliverConverted(ctx, at, payload)
}

// deliverConverted must not be inlined, for the reason that callConverted must not.
//
//go:noinline
func deliverConverted[T any](ctx context.Context, at *delivery, payload T) error {
	return at.receiver.receiveAny(ctx, at, &payload)
}

// delivery is one handler for the events of one name. It holds what is the same for all of them.
type delivery struct {
	op       *operation
	receiver receiver
}

// eventGroup is the deliveries of which an emitted event takes one.
type eventGroup struct {
	name    string
	members []*delivery
	turn    atomic.Uint32
}

func (g *eventGroup) pick() *delivery {
	if len(g.members) == 1 {
		return g.members[0]
	}
	return g.members[int(g.turn.Add(1))%len(g.members)]
}

func badEventName(name string) error {
	if bad := names.Fault(name); bad != "" {
		return &Error{Code: CodeInvalidArgument, Name: nameBadName, Message: fmt.Sprintf("the event name %.100q %s", name, bad)}
	}
	return nil
}
