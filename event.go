package sabir

import (
	"context"
	"fmt"
	"reflect"

	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/option"
)

// Event is one event on its way through the middlewares to one handler. It belongs to the delivery and must not be kept.
type Event struct {
	Name         string
	Subscription *Subscription
	payload      any // *T of the handler's type
}

// Payload points to the payload, a *T of the handler's type.
func (e *Event) Payload() any { return e.payload }

// Later returns a function that hands the event on when its delivery is over, for a middleware that holds events back. The emitter's deadline and
// cancellation do not count then; what middlewares further out put into ctx is there. handle returns when next has; an error or a panic is logged as that of a handler.
func (e *Event) Later(ctx context.Context, next EventHandler) (handle func()) {
	kept, c := *e, callOf(ctx).detachedAt(ctx)
	return func() {
		run := func(ctx context.Context) error { return next(ctx, &kept) }
		done := make(chan struct{})
		go isolateGoroutine(kept.Name, c, run, func(err error) {
			if err != nil {
				c.op.node.logEvent(c, c.op, kept.Subscription.Pattern, err)
			}
			close(done)
		})
		<-done
	}
}

// Subscription describes a handler of events to its middlewares and to listings.
type Subscription struct {
	Service string // full name
	Pattern string
	Group   string
	Type    reflect.Type // of the payload
	Queued  bool
	Durable bool // the events are messages of a channel, which come again until they were handled

	watches bool                    // see BestEffort of Delivery
	refused []error                 // see Reject
	onStop  []func(context.Context) // see OnStop
}

// Reject keeps the handler's service from starting; the error of the start gives the reason. A middleware calls it while it wraps a handler with
// which it cannot work, and not after its wrapping function returned.
func (s *Subscription) Reject(format string, args ...any) {
	s.refused = append(s.refused, fmt.Errorf(format, args...))
}

// OnStop has fn called when the service stops: after the last event was handed to the handler, and before calls of the service are refused. For a
// middleware that holds events back, see [Event.Later]; it is called while it wraps a handler of events, and does nothing for a durable one.
func (s *Subscription) OnStop(fn func(context.Context)) { s.onStop = append(s.onStop, fn) }

func (s *Subscription) refusal() error {
	return refusalOf("the handler of "+s.Pattern+" in "+s.Service, s.refused)
}

// On adds a handler of the events that pattern takes: "user.created", "user.*" (one word), "user.**" (one or more).
//
// The payload is converted when the emitter's type is another of the same shape; T may be any to take what comes: the
// emitter's own value, or a json.RawMessage when the event came in as a document. A
// handler's error or panic is logged and harms neither the emitter nor other handlers. Handlers run one after the
// other on the emitter's goroutine, so when Emit returns they are done; one that takes long should have a Buffer, see [Delivery].
//
// When several patterns of a service in the same group take an event, only the most specific one's handler runs, as in
// net/http's ServeMux; give handlers different groups with [Delivery] to run them all.
//
// On panics when a node serves s already: it would have no effect.
func On[T any](s *Service, pattern string, fn func(context.Context, T) error, options ...EventOption) {
	on(s, &eventDefinition{pattern: pattern, where: option.Caller()}, fn, options)
}

func on[T any](s *Service, def *eventDefinition, fn func(context.Context, T) error, options []EventOption) {
	def.open = func(n *Node, s *Service) (receiver, error) {
		h := &eventHandler[T]{fn: fn}
		return h, h.own.compose(n, s, def, reflect.TypeFor[T](), h.invoke)
	}
	def.addTo(s, options, fn != nil)
}

// addTo adds the definition to its service; made is whether it has a function.
func (d *eventDefinition) addTo(s *Service, options []EventOption, made bool) {
	s.declare("the handler of event "+d.pattern, d.where)
	for _, o := range options {
		o.applyEvent(d)
	}
	if !d.grouped {
		d.group = s.name
	}
	s.problems = append(s.problems, d.problems...)
	if !made {
		s.problem(d.where, "the handler of event %q is nil", d.pattern)
	}
	if bad := names.PatternFault(d.pattern); bad != "" {
		s.problem(d.where, "the event pattern %.100q %s", d.pattern, bad)
	}
	for _, other := range s.handlers {
		if other.pattern == d.pattern && other.group == d.group {
			s.problem(d.where, "service %s has two handlers of %q in group %s; the first is at %s", s.fullName(), d.pattern, d.group, other.where)
		}
	}
	s.handlers = append(s.handlers, d)
}

// EventOption is an option of On: [Use], [Allow], [Delivery]. Use and Allow add up; a service whose handler has two Delivery does not
// start.
type EventOption interface{ applyEvent(*eventDefinition) }

type eventOption func(*eventDefinition)

func (o eventOption) applyEvent(d *eventDefinition) { o(d) }

// Delivery is an option of event handlers that says how they get their events. The zero value of a field is the default.
//
//	sabir.On(s, "order.created", send, sabir.Delivery{Group: "mail", Buffer: 1000})
type Delivery struct {
	// Group is the group of the handler, in place of its service's name: an emitted event goes to each group once.
	Group string
	// Buffer is the length of a queue for the handler, with a goroutine, so that emitters need not wait for it. Events of
	// a queue are handled in order. When the queue is full an emitter waits, for 5 seconds at most or as long as its
	// context allows, and then gets an error. What is in the queue when the service stops is still handled. Default: no queue.
	Buffer int
	// BestEffort is for a handler that only watches, such as a dashboard: emitters on other nodes do not wait for it, and get no error
	// of it. Up to 1,024 events, or 4 MiB of them, wait for its node to take them; those that come while it is that far behind are lost,
	// which the emitter's node logs. They travel as JSON, in the order in which one node emits them. All handlers of a node with
	// [cluster.Config.ClientOnly] are of this kind.
	//
	// It gets the events that [Groups] sends to other groups too.
	//
	// A handler on the emitter's own node runs before Emit returns all the same, unless it has a Buffer: then events are lost, in
	// place of a wait, while its queue is full. The handlers of one group should all be of this kind, or none.
	BestEffort bool
}

func (o Delivery) applyEvent(d *eventDefinition) {
	d.once("Delivery", d.where)
	if o.Buffer < 0 {
		d.problems = append(d.problems, Errorf(CodeInvalidArgument, nameBadService, "%s: Buffer of Delivery is %d: want a positive number, or none for no queue", d.where, o.Buffer))
	}
	if o.Group != "" {
		d.group, d.grouped = o.Group, true
	}
	d.queue, d.bestEffort = max(o.Buffer, 0), o.BestEffort
}
