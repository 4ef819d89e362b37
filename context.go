package sabir

import (
	"context"
	"maps"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/requestid"
)

// CallInfo describes the call or event that a handler is handling.
type CallInfo struct {
	Action    string // full name of the action, "v2.users.get"; "" in an event handler
	Event     string // name of the event; "" in an action's handler
	Service   string // full name of the service whose handler runs
	CalledBy  string // full name of the action or the event whose handler made this call; "" at the root
	RequestID string // see WithRequestID; "" where none was given
	// Metadata holds what the context carries, see WithMetadata; nil where there is none. It must not be changed.
	Metadata map[string]string
	Depth    int    // 1 at the root, one more with each nested call
	Node     string // the node that runs the handler
	// From is the node that made the call or emitted the event: Node, or the other end of the link, or a node of another framework. It is "" for what
	// came in otherwise, such as over HTTP, and for a message of a channel.
	From      string
	Broadcast bool     // in an event handler: every handler gets the event, not one of each group
	Groups    []string // in an event handler: those that the emitter chose, see [Groups]; nil for all. It must not be changed.
}

// InfoFromContext describes the call whose handler got ctx. Outside a handler only RequestID and Metadata can be set.
func InfoFromContext(ctx context.Context) CallInfo {
	info := CallInfo{RequestID: requestIDOf(ctx), Metadata: metadataOf(ctx)}
	c := callOf(ctx)
	if c == nil {
		return info
	}
	info.Service, info.Depth, info.Node = c.op.service, int(c.level), c.op.node.id
	info.From = c.from()
	if c.op.event {
		info.Event, info.Broadcast, info.Groups = c.op.name, c.op.broadcast, c.groups()
	} else {
		info.Action = c.op.name
	}
	if c.parent != nil {
		info.CalledBy = c.parent.op.name
	}
	return info
}

// NodeFromContext is the node whose handler got ctx; nil outside a handler. Use it to call on from a handler that knows no node:
//
//	sabir.Call[User](ctx, sabir.NodeFromContext(ctx), "users.get", in)
func NodeFromContext(ctx context.Context) *Node {
	if c := callOf(ctx); c != nil {
		return c.op.node
	}
	n, _ := ctx.Value(lifecycleKey{}).(*Node)
	return n
}

// WithMetadata returns a context whose calls carry the pair, on top of what ctx carries already. Keys are
// case-sensitive. Metadata goes with the call to other nodes and on to all nested calls.
func WithMetadata(ctx context.Context, key, value string) context.Context {
	old := metadataOf(ctx)
	pairs := make(map[string]string, len(old)+1)
	maps.Copy(pairs, old)
	pairs[key] = value
	return context.WithValue(ctx, metadataKey{}, pairs)
}

// metadataOf is the metadata that ctx carries; it must not be changed.
func metadataOf(ctx context.Context) map[string]string {
	pairs, _ := ctx.Value(metadataKey{}).(map[string]string)
	return pairs
}

type (
	callKey     struct{}
	metadataKey struct{}
)

// operation is the target of a call of a handler: an action, or one handler's share of an event. It holds what is the same for
// every call.
type operation struct {
	node      *Node
	service   string // full name
	name      string // the action's full name, or the event's
	event     bool
	broadcast bool // every handler gets the event
	outside   bool // no node sends it: a message of a channel

	caller string            // see callerName; "" for name, or for what is made of it for an event
	action *Action           // of this node; nil for an event, and for an action of other nodes
	inline bool              // declared not to block: never moved to another goroutine
	root   callContext       // of a call from a bare context
	scopes scopeTable        // the calls with shared contexts that used Go
	usesGo atomic.Bool       // a handler used Go: from then on each call has a context of its own, which finds its scope at once
	gate   *gate             // nil when nothing waits for the service's calls
	load   *admission.Action // of the calls that come from elsewhere; nil for one that none come to, such as an event's
	// abandoned counts the handlers that still run after their callers were answered.
	abandoned     atomic.Int32
	nested        atomic.Pointer[map[*callContext]*callContext]
	unsharedCalls atomic.Int32 // calls over paths that nested had no place for
}

// callerName is the name by which other nodes learn of calls that the handler makes.
func (s *operation) callerName() string {
	switch {
	case s.caller != "":
		return s.caller
	case s.event:
		return eventCallerName(s.name, s.service) // made for each of them: most handlers of events make none
	}
	return s.name
}

// countAbandoned counts a handler that will run on after its caller was answered. It must be called before the caller is:
// the caller is still inside the gate then, so the gate cannot become empty before the handler is counted too.
func (s *operation) countAbandoned() {
	s.abandoned.Add(1)
	if s.gate != nil {
		s.gate.inside.Add(1)
	}
}

// uncountAbandoned is called when such a handler has ended.
func (s *operation) uncountAbandoned() {
	s.abandoned.Add(-1)
	if s.gate != nil {
		s.gate.leave()
	}
}

const (
	// maxNested bounds the call paths that an operation remembers. A call over a path that is not remembered allocates its
	// context. After forgetNested such calls the operation forgets all paths, since those may belong to links and services
	// that are gone.
	maxNested    = 64
	forgetNested = 1024
)

// callContext is the context a handler gets. There are two kinds.
//
// Shared: which action called which is the same for every call that takes that path, so a call from a bare
// context.Background(), and the calls nested in it, use a context made once per path; they allocate nothing. So does one
// that came over a link and brought nothing of its own; its contexts end with the link.
//
// Own: a call whose context carries something of its own (deadline, cancellation, values) gets one for itself, and so does
// every call of an operation whose handler has ever used Go.
type callContext struct {
	context.Context // the caller's
	op              *operation
	parent          *callContext          // of the call this one is nested in; nil at the root
	guard           *guard                // the guarded call that this one is or runs in; nil for none
	releasedAt      *time.Time            // when the caller stops waiting, or is answered without the handler; nil where it waits
	scope           atomic.Pointer[scope] // of an own context that used Go
	level           int32
	shared          bool
	remote          bool // it came over a link, which Context has under wire.LinkKey
}

// background is the bare context: it carries nothing.
var background = context.Background()

// backgroundWords is the memory of background, which is an interface of two words. Comparing the words is some nanoseconds
// faster than comparing interfaces, where it shows; should they ever differ for equal contexts, enter compares again.
var backgroundWords = *(*[2]uintptr)(unsafe.Pointer(&background))

func newOperation(n *Node, service, name string) *operation {
	s := new(operation)
	s.init(n, service, name)
	return s
}

// init makes an operation of a zero one, which must stay where it is.
func (s *operation) init(n *Node, service, name string) {
	s.node, s.service, s.name = n, service, name
	s.root.Context, s.root.op, s.root.level, s.root.shared = background, s, 1, true
}

// Value finds the call itself and leaves the rest to the caller's context.
func (c *callContext) Value(key any) any {
	if _, ok := key.(callKey); ok {
		return c
	}
	return c.Context.Value(key)
}

// String keeps a printed context to one short line.
func (c *callContext) String() string { return "sabir call of " + c.op.name }

// callOf finds the call that ctx belongs to, or nil.
func callOf(ctx context.Context) *callContext {
	if c, ok := ctx.(*callContext); ok {
		return c
	}
	c, _ := ctx.Value(callKey{}).(*callContext)
	return c
}

// bareContext is the fast part of enter: the shared context for a call from a bare context, or from a shared one on a path
// that is known; nil for any other.
func (s *operation) bareContext(ctx context.Context) *callContext {
	if s.usesGo.Load() {
		return nil
	}
	if words := (*[2]uintptr)(unsafe.Pointer(&ctx)); words[0] == backgroundWords[0] && words[1] == backgroundWords[1] {
		return &s.root
	}
	if parent, ok := ctx.(*callContext); ok && parent.shared {
		if known := s.nested.Load(); known != nil {
			return (*known)[parent]
		}
	}
	return nil
}

// enter makes the context for a call of s that was made with ctx.
func (s *operation) enter(ctx context.Context) (*callContext, *Error) {
	if s.usesGo.Load() {
		return s.enterOwn(ctx)
	}
	if ctx == background {
		return &s.root, nil
	}
	if parent, ok := ctx.(*callContext); ok && parent.shared {
		return s.nestedUnder(parent)
	}
	return s.enterOwn(ctx)
}

// nestedUnder finds or makes the shared context of s called from parent.
func (s *operation) nestedUnder(parent *callContext) (*callContext, *Error) {
	known := s.nested.Load()
	if known != nil {
		if c := (*known)[parent]; c != nil {
			return c, nil
		}
	}
	if int(parent.level) >= s.node.limits.Load().depth {
		return nil, s.tooManyLevels(parent)
	}
	c := &callContext{Context: parent.Context, op: s, parent: parent, level: parent.level + 1}
	if known != nil && len(*known) >= maxNested {
		if s.unsharedCalls.Add(1)%forgetNested == 0 {
			s.nested.CompareAndSwap(known, nil)
		}
		return c, nil
	}
	c.shared = true
	grown := map[*callContext]*callContext{parent: c}
	if known != nil {
		maps.Copy(grown, *known)
	}
	if !s.nested.CompareAndSwap(known, &grown) {
		return s.nestedUnder(parent) // another goroutine added a path: look again
	}
	return c, nil
}

// enterOwn makes a context for this call alone.
func (s *operation) enterOwn(ctx context.Context) (*callContext, *Error) {
	if err := ctx.Err(); err != nil {
		return nil, s.contextError(err)
	}
	c := &callContext{Context: ctx, op: s, parent: callOf(ctx), level: 1}
	if c.parent != nil {
		c.level, c.guard, c.releasedAt = c.parent.level+1, c.parent.guard, c.parent.releasedAt
		if int(c.level) > s.node.limits.Load().depth {
			return nil, s.tooManyLevels(c.parent)
		}
	}
	return c, nil
}

// needsGuard reports whether the call has a deadline at which its caller must be answered, and no call around it sees to
// that.
func (c *callContext) needsGuard() (deadline time.Time, ok bool) {
	if c.shared || c.op.inline {
		return deadline, false
	}
	deadline, ok = c.Context.Deadline()
	if !ok || c.releasedAt != nil && !deadline.Before(*c.releasedAt) {
		return deadline, false
	}
	return deadline, true
}

func (s *operation) tooManyLevels(parent *callContext) *Error {
	return &Error{Code: CodeFailedPrecondition, Name: nameTooManyLevels, Node: s.node.id,
		Message: "calls are nested " + itoa(int(parent.level)) + " deep at " + s.name + ", called by " + parent.op.name +
			"; is it calling itself? (MaxDepth of sabir.Limits sets the limit)"}
}

// contextError is the caller's error for a context that ended: canceled, or past its deadline.
func (s *operation) contextError(err error) *Error {
	if err == context.DeadlineExceeded {
		return &Error{Code: CodeDeadlineExceeded, Name: nameDeadlineExceeded, Node: s.node.id, cause: err, Message: "the deadline passed before " + s.name + " answered"}
	}
	return &Error{Code: CodeCanceled, Name: nameCanceled, Node: s.node.id, cause: err, Message: "the caller gave up on " + s.name}
}

// detached is the call without its caller's deadline and cancellation, for work that continues after the caller was
// answered.
func (c *callContext) detached() *callContext {
	if c.shared {
		return c
	}
	return &callContext{Context: context.WithoutCancel(c.Context), op: c.op, parent: c.parent, level: c.level, remote: c.remote}
}

// detachedAt is detached with the values that middlewares have added to the call's context up to ctx, such as a trace.
func (c *callContext) detachedAt(ctx context.Context) *callContext {
	if ctx == context.Context(c) {
		return c.detached()
	}
	return &callContext{Context: context.WithoutCancel(ctx), op: c.op, parent: c.parent, level: c.level, remote: c.remote}
}

// handlerError makes an *Error of what the handler returned.
func (c *callContext) handlerError(err error) error {
	if (err == context.DeadlineExceeded || err == context.Canceled) && err == c.Err() {
		return c.op.contextError(err) // the same, whether the handler or its caller noticed first
	}
	e := AsError(err)
	if e.Node != "" && e.Retryable {
		// That an action further down may be called again implies nothing about this one, which has run.
		inner := *e
		inner.Retryable = false
		return &inner
	}
	return c.op.node.located(e)
}

// recovered returns the handler's error where its function did not return. value is the result of recover: nil means that
// the goroutine is ending (runtime.Goexit). It cannot be stopped from that, so the error is then made by the code that
// started the goroutine.
func (c *callContext) recovered(name string, value any) error {
	if value == nil {
		c.closeScope(nil)
		return nil
	}
	err := panicError(name, value)
	c.op.node.logPanic(c, err)
	return c.handlerError(c.closeScope(err))
}

// WithRequestID returns a context whose calls, and all they call in turn, carry the request id. Calls that come in over
// HTTP or from another node have one already; a call made in process from a bare context has none unless it is given
// here or by [RequestIDs], so that it need not pay for it.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

func requestIDOf(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

type requestIDKey struct{}

// RequestIDs is a middleware that gives a fresh request id to each call, stream and event that has none:
//
//	node := sabir.NewNode(sabir.Use(sabir.RequestIDs()))
func RequestIDs() Middleware {
	call := func(_ *Action, next Handler) Handler {
		return func(ctx context.Context, r *Request) error { return next(withAnyRequestID(ctx), r) }
	}
	return Middleware{Name: "request ids", Local: call, Remote: call, Stream: call,
		Event: func(_ *Subscription, next EventHandler) EventHandler {
			return func(ctx context.Context, e *Event) error { return next(withAnyRequestID(ctx), e) }
		},
	}
}

func withAnyRequestID(ctx context.Context) context.Context {
	if requestIDOf(ctx) != "" {
		return ctx
	}
	return WithRequestID(ctx, requestid.New())
}
