package sabir

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/sabir-go/sabir/internal/budget"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/introspect"
)

// Handler is the rest of a call's way: the next middleware or, at the end, the action itself. It fills in the request's
// output or returns an error.
type Handler func(ctx context.Context, r *Request) error

// EventHandler is the rest of an event's way to one handler.
type EventHandler func(ctx context.Context, e *Event) error

// Middleware wraps what passes through a node. Each field may be nil, and costs nothing then. The functions are called
// once, when a service starts, with a description of what they wrap, and return the handler that does the work; so what
// can be looked up or allocated beforehand is. Given to NewNode it applies to everything, given to NewService to the
// service's actions and handlers, given to Handle or On to that one:
//
//	timing := sabir.Middleware{Name: "timing", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
//		return func(ctx context.Context, r *sabir.Request) error {
//			start := time.Now()
//			err := next(ctx, r)
//			slog.Info("called", "action", a.Name, "took", time.Since(start))
//			return err
//		}
//	}}
//
// A call passes the node's middlewares, then validation of its input, then the service's, then the action's; within one
// list the first is the outermost.
type Middleware struct {
	// Name identifies it in errors and listings.
	Name string
	// Local wraps calls that this node handles, from any caller.
	Local func(a *Action, next Handler) Handler
	// Remote wraps calls that this node sends to another.
	Remote func(a *Action, next Handler) Handler
	// Event wraps the handling of events.
	Event func(s *Subscription, next EventHandler) EventHandler
	// Subscription is Event for a middleware that is given to the handler itself: to On, or to a consumer of a channel. Where it is set it
	// is asked there in place of Event, so that a policy for handlers does nothing where it is given to a service or a node for their calls.
	Subscription func(s *Subscription, next EventHandler) EventHandler
	// Stream wraps a stream's handler from its opening to its end; the request has neither input nor output.
	Stream func(a *Action, next Handler) Handler
	// Carry adds to the metadata of the calls, streams and events that this node sends to others, such as the trace that
	// they are part of. It is the last to see their contexts. Only a node's middlewares are asked.
	Carry func(ctx context.Context) context.Context
	// Lifecycle wraps the start and the stop of services (the node's middlewares and the service's) and of the node.
	Lifecycle func(s Stage, next func(context.Context) error) func(context.Context) error
	// Signal receives what other middlewares, such as policies, and the node noticed about an action beside the results of its calls: a cache
	// hit, a retry, a breaker that opened. kind is "cache.hit" or another one of the list in docs/telemetry.md, or a middleware's own, see
	// [Action.Signal]; node is another node that it is about, "" otherwise. It must return fast. Only a node's middlewares are asked.
	Signal func(kind, action, node string)
}

// A Wrapper makes a middleware: a [Middleware] itself, or a value with settings, such as policy.Retry{Attempts: 5}.
type Wrapper interface {
	// Middleware makes the middleware. It is called once for each use, before the node starts.
	Middleware() Middleware
}

// Middleware returns m, so that a Middleware is a [Wrapper].
func (m Middleware) Middleware() Middleware { return m }

func middlewaresOf(wrappers []Wrapper) []Middleware {
	made := make([]Middleware, len(wrappers))
	for i, w := range wrappers {
		made[i] = w.Middleware()
	}
	return made
}

// Stage is a start or a stop that Middleware.Lifecycle wraps: of a service, or of the node around those of its services.
type Stage struct {
	Stop    bool // false for a start
	Node    string
	Service string // full name; "" where it is the node that starts or stops
}

// String is "start of node a", "stop of service users".
func (s Stage) String() string {
	text := "start of "
	if s.Stop {
		text = "stop of "
	}
	if s.Service == "" {
		return text + "node " + s.Node
	}
	return text + "service " + s.Service
}

// Action describes an action to its middlewares, to listings and to generators.
type Action struct {
	Name        string           // full name: "users.get", "v2.users.get"
	Service     string           // full name of its service: "users", "v2.users"
	Short       string           // name within the service: "get"
	Version     int              // of the service; 0 for none
	Node        string           // the node that handles it; "" where that is decided for each call
	Description string           // see Describe
	ClusterOnly bool             // for the nodes of the cluster, not for HTTP
	NodeOnly    bool             // for callers on the same node
	Inline      bool             // declared not to block
	Idempotent  bool             // declared to do no harm when it runs twice
	Stream      bool             // opened with OpenStream, not called
	Shape       introspect.Shape // of a stream, see ServerStream and ClientStream; "" for one with any number of values both ways
	Codecs      []string         // formats for its values, see Codecs; nil for those of the nodes
	Remote      bool             // handled by another node
	In, Out     reflect.Type     // nil for an action of another node

	Routes     []route.Route           // REST forms, see Route
	Statuses   []introspect.Status     // see Status; nil for 200. Of an action of another node without the headers
	Errors     []*Error                // declared, see Errors; nil for an action of another node
	Examples   []struct{ In, Out any } // see Example; nil for an action of another node
	Deprecated string                  // what to use instead; "" for what is not deprecated

	remoteIn  string // Go types of the input and output of an action of another node; "" where they are not known
	remoteOut string

	notes    map[any]any                     // see Annotate
	signal   func(kind, action, node string) // to the listeners; nil without any
	budget   *budget.Budget                  // of further attempts; nil for one that no node made
	node     *Node
	endpoint endpoint // nil for an action of another node
	refused  []error  // see Reject
}

// Reject keeps the action's service from starting; the error of the start gives the reason. A middleware calls it while it
// wraps an action with which it cannot work, and not after its wrapping function returned. For an action of another node,
// whose calls are wrapped when the first is made, the call fails.
func (a *Action) Reject(format string, args ...any) {
	a.refused = append(a.refused, fmt.Errorf(format, args...))
}

// Rewrap returns a function that wraps next anew, for a middleware whose settings change while the node runs. The middleware asks for it while it
// wraps the action, and may call it at any later time. It gives wrap a copy of the action; the error is of what wrap refused with Reject.
func (a *Action) Rewrap(next Handler) func(wrap func(*Action, Handler) Handler) (Handler, error) {
	before := *a
	before.notes, before.refused = maps.Clone(a.notes), nil
	return func(wrap func(*Action, Handler) Handler) (Handler, error) {
		again := before
		again.notes = maps.Clone(before.notes)
		outer := wrapCall(&again, "of changed settings", next, wrap)
		return outer, again.refusal()
	}
}

// refusal is the error for the reasons given to Reject; nil for nothing.
func (a *Action) refusal() error { return refusalOf("action "+a.Name, a.refused) }

func refusalOf(what string, refused []error) error {
	if len(refused) == 0 {
		return nil
	}
	err := errors.Join(refused...)
	return &Error{Code: CodeInvalidArgument, Name: nameBadService, cause: err, Message: what + " cannot be served: " + err.Error()}
}

// Signal sends a signal to the listeners on the action's node. Kind is a name of the middleware's own, such as "quota.spent": see
// Middleware.Signal.
func (a *Action) Signal(kind string) { a.SignalOf(kind, "") }

// SignalOf is Signal for what the middleware noticed about one of the nodes that offer the action.
func (a *Action) SignalOf(kind string, node string) {
	if a.signal != nil {
		a.signal(kind, a.Name, node)
	}
}

// Nodes lists the nodes that offer an action of other nodes now, sorted; nil for an action of this node alone, and for one that is
// called over an [Upstream].
func (a *Action) Nodes() []string {
	if other, ok := a.endpoint.(*remoteAction); ok {
		return other.nodes()
	}
	return nil
}

// Budget bounds the further attempts of the action's calls; package policy keeps to it. Calls to other nodes count themselves.
func (a *Action) Budget() *budget.Budget { return a.budget }

// Public reports whether all callers may call the action, over HTTP too: it is neither ClusterOnly nor NodeOnly.
func (a *Action) Public() bool { return !a.ClusterOnly && !a.NodeOnly }

// visibility is the callers that the action is for, as other nodes and tools read it.
func (a *Action) visibility() string {
	switch {
	case a.NodeOnly:
		return "private"
	case a.ClusterOnly:
		return "cluster"
	}
	return "public"
}

// composeCall wraps inner in the given layer of each middleware, the first outermost, and reports whether any had one.
func composeCall(a *Action, inner Handler, middlewares []Middleware, layer func(*Middleware) func(*Action, Handler) Handler) (outer Handler, wrapped bool) {
	for i := len(middlewares) - 1; i >= 0; i-- {
		if wrap := layer(&middlewares[i]); wrap != nil {
			inner, wrapped = wrapCall(a, middlewares[i].Name, inner, wrap), true
		}
	}
	return inner, wrapped
}

// wrapCall has one middleware wrap the action. One that panics refuses it: on other nodes' actions it runs while tables are
// made, where no caller waits for an error.
func wrapCall(a *Action, name string, inner Handler, wrap func(*Action, Handler) Handler) (outer Handler) {
	defer func() {
		if v := recover(); v != nil {
			outer = inner
			a.Reject("middleware %q: %w", name, a.node.panicked(background, "the middleware "+name, v))
		}
	}()
	return wrap(a, inner)
}

func localLayer(m *Middleware) func(*Action, Handler) Handler  { return m.Local }
func remoteLayer(m *Middleware) func(*Action, Handler) Handler { return m.Remote }
func streamLayer(m *Middleware) func(*Action, Handler) Handler { return m.Stream }

// composeEvent is composeCall for events. own says that the middlewares are the handler's own: one that wraps no events would do nothing there, so
// it refuses the handler.
func composeEvent(s *Subscription, inner EventHandler, middlewares []Middleware, own bool) (outer EventHandler, wrapped bool) {
	for i := len(middlewares) - 1; i >= 0; i-- {
		m := &middlewares[i]
		wrap := m.Event
		if own && m.Subscription != nil {
			wrap = m.Subscription
		}
		switch {
		case wrap != nil:
			inner, wrapped = wrap(s, inner), true
		case own:
			s.Reject("the middleware %q wraps no events", m.Name)
		}
	}
	return inner, wrapped
}

// composeStage wraps inner in the lifecycle layer of each middleware, the first outermost.
func composeStage(s Stage, inner func(context.Context) error, middlewares []Middleware) func(context.Context) error {
	for _, middleware := range slices.Backward(middlewares) {
		if wrap := middleware.Lifecycle; wrap != nil {
			inner = wrap(s, inner)
		}
	}
	return inner
}

// wrapsLifecycle reports whether one of the middlewares wraps the start and stop of services.
func wrapsLifecycle(middlewares []Middleware) bool {
	return slices.ContainsFunc(middlewares, func(m Middleware) bool { return m.Lifecycle != nil })
}

// carryAll returns the function that lets all of the middlewares add their metadata; nil if none does.
func carryAll(middlewares []Middleware) func(context.Context) context.Context {
	var all []func(context.Context) context.Context
	for i := range middlewares {
		if middlewares[i].Carry != nil {
			all = append(all, middlewares[i].Carry)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return func(ctx context.Context) context.Context {
		for _, carry := range all {
			ctx = carry(ctx)
		}
		return ctx
	}
}

// signalTo returns the function that calls all middlewares that listen to signals; nil if none does. Policies signal while
// they hold their locks, so a listener that panics is logged and must harm nothing else.
func (n *Node) signalTo(middlewares []Middleware) func(kind, action, node string) {
	var listeners []func(kind, action, node string)
	for i := range middlewares {
		if middlewares[i].Signal != nil {
			listeners = append(listeners, middlewares[i].Signal)
		}
	}
	if len(listeners) == 0 {
		return nil
	}
	return func(kind, action, node string) {
		for _, listen := range listeners {
			n.notify(listen, kind, action, node)
		}
	}
}

// Carry returns ctx with the metadata that this node's middlewares add to messages to other nodes, such as the trace, see
// Middleware.Carry. Use it for messages that leave the node by other means than calls, streams and events. It is ctx where
// they add nothing.
//
// It is ctx as well where one of them panics, which is logged.
func (n *Node) Carry(ctx context.Context) (carried context.Context) {
	if n.carry == nil {
		return ctx
	}
	defer func() {
		if v := recover(); v != nil {
			n.panicked(ctx, "Carry of a middleware", v)
			carried = ctx
		}
	}()
	return n.carry(ctx)
}

func (n *Node) notify(listen func(kind, action, node string), kind, action, node string) {
	defer func() {
		if v := recover(); v != nil {
			n.panicked(background, "Signal of a middleware", v)
		}
	}()
	listen(kind, action, node)
}
