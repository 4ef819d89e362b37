package sabir

import (
	"context"
	"maps"
	"sync/atomic"
	"time"
	"unsafe"
)

// CallInfo is what a handler can ask about the call or event it is handling.
type CallInfo struct {
	Action    string // full name of the action, "v2.users.get"; "" in an event handler
	Event     string // name of the event; "" in an action's handler
	Service   string // full name of the service whose handler runs
	Caller    string // full name of the action or the event whose handler made this call; "" at the root
	RequestID string // see WithRequestID; "" where nobody gave one
	Level     int    // 1 at the root, one more with each nested call
	Node      string // the node that runs the handler
}

// Info tells about the call whose handler got ctx. Outside a handler only RequestID can be set.
func Info(ctx context.Context) CallInfo {
	info := CallInfo{RequestID: RequestID(ctx)}
	c := callOf(ctx)
	if c == nil {
		return info
	}
	info.Service, info.Level, info.Node = c.step.service, int(c.level), c.step.node.id
	if c.step.event {
		info.Event = c.step.name
	} else {
		info.Action = c.step.name
	}
	if c.parent != nil {
		info.Caller = c.parent.step.name
	}
	return info
}

// NodeOf is the node whose handler got ctx; nil outside a handler. Use it to call on from a handler that knows no node:
//
//	sabir.Call[User](ctx, sabir.NodeOf(ctx), "users.get", in)
func NodeOf(ctx context.Context) *Node {
	if c := callOf(ctx); c != nil {
		return c.step.node
	}
	return nil
}

// WithMetadata returns a context whose calls carry the pair, on top of what ctx carries already. Keys are
// case-sensitive. Metadata goes with the call to other nodes and on to all nested calls.
func WithMetadata(ctx context.Context, key, value string) context.Context {
	old := Metadata(ctx)
	pairs := make(map[string]string, len(old)+1)
	maps.Copy(pairs, old)
	pairs[key] = value
	return context.WithValue(ctx, metadataKey{}, pairs)
}

// Metadata is the metadata that ctx carries; it must not be changed. It is nil where there is none.
func Metadata(ctx context.Context) map[string]string {
	pairs, _ := ctx.Value(metadataKey{}).(map[string]string)
	return pairs
}

type (
	callKey     struct{}
	metadataKey struct{}
)

// step is one hop of a request: an action, or one handler's share of an event. It holds what is the same for every call.
type step struct {
	node    *Node
	service string // full name
	name    string // the action's full name, or the event's
	event   bool
	inline  bool // declared not to block: never moved to another goroutine
	root    *callContext
	scopes  scopeTable  // the calls with shared contexts that used Go
	goes    atomic.Bool // a handler used Go: from then on each call has a context of its own, which finds its scope at once
	gate    *gate       // nil when nothing waits for the service's calls
	// abandoned counts the handlers that run on after their callers were let go.
	abandoned atomic.Int32
	nested    atomic.Pointer[map[*callContext]*callContext]
}

// leaveBehind notes that a handler runs on after its caller is let go, before that is: the caller is still inside the gate
// then, so the gate cannot become empty before the handler is counted as well.
func (s *step) leaveBehind() {
	s.abandoned.Add(1)
	if s.gate != nil {
		s.gate.inside.Add(1)
	}
}

// catchUp notes that such a handler has ended.
func (s *step) catchUp() {
	s.abandoned.Add(-1)
	if s.gate != nil {
		s.gate.leave()
	}
}

// maxNested bounds how many call paths a step remembers; a call over a path that is not remembered allocates its context.
const maxNested = 64

// callContext is the context a handler gets. There are two kinds.
//
// Shared: which action called which is the same for every call that takes that path, so a call from a bare
// context.Background(), and the calls nested in it, use a context made once per path; they allocate nothing. So does one
// that came over a link and brought nothing of its own; its contexts end with the link.
//
// Own: a call whose context carries something of its own (deadline, cancellation, values) gets one for itself, and so does
// every call of a step whose handler has ever used Go.
type callContext struct {
	context.Context // the caller's
	step            *step
	parent          *callContext          // of the call this one is nested in; nil at the root
	guard           *guard                // the guarded call that this one is or runs in; nil for none
	until           *time.Time            // when whoever waits leaves, or is let go; nil where nobody sees to that
	scope           atomic.Pointer[scope] // of an own context that used Go
	level           int32
	shared          bool
}

// background is what makes a context bare: nothing can be asked of it.
var background = context.Background()

// backgroundWords is background's two words. Comparing them is a few nanoseconds faster than comparing interfaces, on
// the path where that shows; where they should ever differ for equal contexts, enter compares again.
var backgroundWords = *(*[2]uintptr)(unsafe.Pointer(&background))

func newStep(n *Node, service, name string) *step {
	s := &step{node: n, service: service, name: name}
	s.root = &callContext{Context: background, step: s, level: 1, shared: true}
	return s
}

// Value finds the call itself and leaves the rest to the caller's context.
func (c *callContext) Value(key any) any {
	if _, ok := key.(callKey); ok {
		return c
	}
	return c.Context.Value(key)
}

// String keeps a printed context to one short line.
func (c *callContext) String() string { return "sabir call of " + c.step.name }

// callOf finds the call that ctx belongs to, or nil.
func callOf(ctx context.Context) *callContext {
	if c, ok := ctx.(*callContext); ok {
		return c
	}
	c, _ := ctx.Value(callKey{}).(*callContext)
	return c
}

// bare is the context for a call from a bare one, nil for any other: the fast way of enter.
func (s *step) bare(ctx context.Context) *callContext {
	if s.goes.Load() {
		return nil
	}
	if words := (*[2]uintptr)(unsafe.Pointer(&ctx)); words[0] == backgroundWords[0] && words[1] == backgroundWords[1] {
		return s.root
	}
	if parent, ok := ctx.(*callContext); ok && parent.shared {
		if known := s.nested.Load(); known != nil {
			return (*known)[parent]
		}
	}
	return nil
}

// enter makes the context for a call of s by someone who holds ctx.
func (s *step) enter(ctx context.Context) (*callContext, *Error) {
	if s.goes.Load() {
		return s.enterOwn(ctx)
	}
	if ctx == background {
		return s.root, nil
	}
	if parent, ok := ctx.(*callContext); ok && parent.shared {
		return s.under(parent)
	}
	return s.enterOwn(ctx)
}

// under finds, or makes, the shared context of s called from parent.
func (s *step) under(parent *callContext) (*callContext, *Error) {
	known := s.nested.Load()
	if known != nil {
		if c := (*known)[parent]; c != nil {
			return c, nil
		}
	}
	if int(parent.level) >= s.node.maxLevel {
		return nil, s.tooManyLevels(parent)
	}
	c := &callContext{Context: parent.Context, step: s, parent: parent, level: parent.level + 1}
	if known != nil && len(*known) >= maxNested {
		return c, nil
	}
	c.shared = true
	grown := map[*callContext]*callContext{parent: c}
	if known != nil {
		maps.Copy(grown, *known)
	}
	if !s.nested.CompareAndSwap(known, &grown) {
		return s.under(parent) // somebody else added a path: look again
	}
	return c, nil
}

// enterOwn makes a context for this call alone.
func (s *step) enterOwn(ctx context.Context) (*callContext, *Error) {
	if err := ctx.Err(); err != nil {
		return nil, s.gaveUp(err)
	}
	c := &callContext{Context: ctx, step: s, parent: callOf(ctx), level: 1}
	if c.parent != nil {
		c.level, c.guard, c.until = c.parent.level+1, c.parent.guard, c.parent.until
		if int(c.level) > s.node.maxLevel {
			return nil, s.tooManyLevels(c.parent)
		}
	}
	return c, nil
}

// wantsGuard tells whether the call must be released at a deadline that no call around it watches already.
func (c *callContext) wantsGuard() (deadline time.Time, ok bool) {
	if c.shared || c.step.inline {
		return deadline, false
	}
	deadline, ok = c.Context.Deadline()
	if !ok || c.until != nil && !deadline.Before(*c.until) {
		return deadline, false
	}
	return deadline, true
}

func (s *step) tooManyLevels(parent *callContext) *Error {
	return &Error{Code: FailedPrecondition, Name: nameTooManyLevels, Node: s.node.id,
		Message: "calls are nested " + itoa(int(parent.level)) + " deep at " + s.name + ", called by " + parent.step.name +
			"; is it calling itself? (sabir.MaxLevel sets the limit)"}
}

// gaveUp is the error for a context that ended: the caller's doing or the deadline's.
func (s *step) gaveUp(err error) *Error {
	if err == context.DeadlineExceeded {
		return &Error{Code: DeadlineExceeded, Name: nameDeadline, Node: s.node.id, cause: err, Message: "the deadline passed before " + s.name + " answered"}
	}
	return &Error{Code: Canceled, Name: nameCanceled, Node: s.node.id, cause: err, Message: "the caller gave up on " + s.name}
}

// detached is the same call without its caller's deadline and cancellation, for work that outlives the caller.
func (c *callContext) detached() *callContext {
	if c.shared {
		return c
	}
	return &callContext{Context: context.WithoutCancel(c.Context), step: c.step, parent: c.parent, level: c.level}
}

// fromHandler makes an *Error of what the handler returned.
func (c *callContext) fromHandler(err error) error {
	if (err == context.DeadlineExceeded || err == context.Canceled) && err == c.Err() {
		return c.step.gaveUp(err) // the same, whether the handler or its caller noticed first
	}
	e := AsError(err)
	if e.Node != "" && e.Retryable {
		// That an action further down may be called again says nothing of this one, which has run.
		inner := *e
		inner.Retryable = false
		return &inner
	}
	return c.step.node.located(e)
}
