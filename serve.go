package sabir

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/codec/native"
	"github.com/sabir-go/sabir/wire"
)

// servedRoute is what a peer calls, as this node serves it: wire asks it for each call that comes in on the route.
type servedRoute struct {
	node   *Node
	link   *wire.Link
	name   string
	format string
	found  atomic.Pointer[foundAction]
}

// foundAction is what the name stood for in a table.
type foundAction struct {
	table  *table
	action local        // nil for none, or for one that may not be called like this
	why    *Error       // why not, where it is there
	bare   *callContext // for calls over the link that carry nothing of their own
}

// look finds what the route's name stands for now: it looks again only after the table has changed.
func (r *servedRoute) look() *foundAction {
	t := r.node.table.Load()
	f := r.found.Load()
	if f != nil && f.table == t {
		return f
	}
	next := &foundAction{table: t, action: t.here[r.name]}
	if next.action != nil && next.action.info().Visibility == Private {
		next.action = nil
	}
	if next.action != nil {
		if next.why = r.node.takes(r.name, next.action.info().Codecs, r.format); next.why != nil {
			next.action = nil
		}
	}
	switch {
	case next.action == nil:
	case f != nil && f.action == next.action:
		next.bare = f.bare // so that calls nested in it find their contexts again
	default:
		next.bare = &callContext{Context: r.link.Context(), step: next.action.hop(), level: 1, shared: true}
	}
	r.found.Store(next)
	return next
}

// Inline tells whether the action may run on the goroutine that reads the link. One that is not there may not: Serve looks
// again, and may find it.
func (r *servedRoute) Inline() bool {
	e := r.look().action
	return e != nil && e.hop().inline
}

// Serve answers one call.
func (r *servedRoute) Serve(in *wire.Inbound) {
	f := r.look()
	if f.action != nil {
		f.action.serve(in, r.format, f.bare)
		return
	}
	in.Fail(failureOf(r.missing(f)))
}

// ServeStream runs the handler of one stream.
func (r *servedRoute) ServeStream(s *wire.Stream) {
	f := r.look()
	if f.action != nil {
		f.action.serveStream(s, r.format)
		return
	}
	s.End(failureOf(r.missing(f)))
}

// missing is the error for an action that is not here: it may have been a moment ago, when the caller's node chose this
// one, so the call may go to another node.
func (r *servedRoute) missing(f *foundAction) *Error {
	if f.why != nil {
		return f.why
	}
	if state := r.node.State(); state != Running {
		return &Error{Code: Unavailable, Name: nameUnavailable, Node: r.node.id, Retryable: true, Message: "node " + r.node.id + " is " + state.String()}
	}
	e := r.node.notFoundAmong("action on node "+r.node.id, r.name, r.node.namesForOthers())
	e.Retryable = true // on another node; what a handler says of its own calls never is
	return e
}

// serve is the way of a call from another node: decode, run as any other call, encode.
func (h *handler[In, Out]) serve(in *wire.Inbound, format string, bare *callContext) {
	s := h.servingIn(format)
	f := h.takeFrame()
	f.action = h.action
	err := s.broken
	if err == nil {
		var kept bool
		if kept, err = s.in.decode(in.Payload(), in.Schema(), in.Owned(), &s.reader, &f.in); kept {
			in.Keep()
		}
	}
	if err != nil {
		err = h.badInput(err)
	} else {
		err = h.serveFrame(in, f, bare)
	}
	if err == nil {
		err = h.answer(in, s, &f.out)
	}
	if err != nil {
		in.Fail(failureOf(h.step.node.located(err)))
	}
	h.putFrame(f)
}

func (h *handler[In, Out]) serveFrame(in *wire.Inbound, f *frame[In, Out], bare *callContext) (err error) {
	c, failed := h.step.enterFrom(in, bare)
	if failed != nil {
		return failed
	}
	if gate := h.step.gate; gate != nil {
		if !gate.enter() {
			return h.step.node.unavailable(h.action.Name)
		}
		defer gate.leave()
	}
	if !h.direct {
		return f.attempt(c, h.chain)
	}
	if err := h.validate(&f.in); err != nil {
		return err
	}
	f.out, err = h.run(c, c, f.in)
	return err
}

func (h *handler[In, Out]) answer(in *wire.Inbound, s *serving[In, Out], out *Out) error {
	number, err := s.out.number(in.Link())
	if err != nil {
		return err
	}
	data, err := s.out.append(in.Buf(), number, out)
	if err != nil {
		return &Error{Code: Internal, Name: nameBadOutput, Node: h.step.node.id, cause: err,
			Message: "the answer of " + h.action.Name + " cannot be sent: " + err.Error()}
	}
	in.Reply(data)
	return nil
}

// serving is how a handler's input and output travel in one format.
type serving[In, Out any] struct {
	in     form[In]
	out    form[Out]
	reader atomic.Pointer[reader[In]]
	broken error
}

// servingIn is how calls in the format are served: natively as a rule, else in JSON or the format of the types' own codec.
func (h *handler[In, Out]) servingIn(format string) *serving[In, Out] {
	if format == native.Name {
		return h.native
	}
	known, ok := h.servings.Load(format)
	if !ok {
		s := newServing[In, Out](format)
		if s.codecMissing() {
			return s // not kept: any name may come in
		}
		known, _ = h.servings.LoadOrStore(format, s)
	}
	return known.(*serving[In, Out])
}

func newServing[In, Out any](format string) *serving[In, Out] {
	s := &serving[In, Out]{}
	if s.in, s.broken = formOf[In](format); s.broken == nil {
		s.out, s.broken = formOf[Out](format)
	}
	return s
}

func (s *serving[In, Out]) codecMissing() bool { return s.in.native == nil && s.in.codec == nil }

// enterFrom makes the context for a call of s that came over a link. One that carries nothing of its own gets bare, the
// context that all such calls over the link share, as those from a bare context in this process do.
func (s *step) enterFrom(in *wire.Inbound, bare *callContext) (*callContext, *Error) {
	ctx := in.Context()
	if m := &in.Meta; bare != nil && !s.goes.Load() && ctx == bare.Context && m.Level == 0 && m.Caller == "" && m.RequestID == "" && m.Metadata == nil {
		return bare, nil
	}
	return s.enterElsewhere(ctx, &in.Meta)
}

// enterStream is enterFrom for streams.
func (s *step) enterStream(stream *wire.Stream) (*callContext, *Error) {
	meta := stream.Meta()
	return s.enterElsewhere(stream.Context(), &meta)
}

func (s *step) enterElsewhere(ctx context.Context, m *wire.Meta) (*callContext, *Error) {
	if m.Level >= s.node.maxLevel {
		return nil, s.tooManyLevels(&callContext{step: &step{name: m.Caller}, level: int32(m.Level)})
	}
	own := &inboundCall{values: inboundContext{Context: ctx, metadata: m.Metadata, requestID: m.RequestID}}
	own.call = callContext{Context: &own.values, step: s, level: int32(m.Level) + 1}
	if m.Caller != "" {
		own.call.parent = s.node.callerElsewhere(m.Caller, m.Level)
	}
	if deadline, ok := ctx.Deadline(); ok {
		// Whoever waits is on another node, and leaves at the deadline by itself: nobody needs to be let go here.
		own.deadline = deadline
		own.call.until = &own.deadline
	}
	return &own.call, nil
}

// inboundCall is the contexts of a call from another node, in one allocation.
type inboundCall struct {
	call     callContext
	values   inboundContext
	deadline time.Time
}

// inboundContext carries what came with a call.
type inboundContext struct {
	context.Context
	metadata  map[string]string
	requestID string
}

func (c *inboundContext) Value(key any) any {
	switch key.(type) {
	case metadataKey:
		return c.metadata
	case requestIDKey:
		if c.requestID != "" {
			return c.requestID
		}
		return nil
	}
	return c.Context.Value(key)
}

// maxCallersElsewhere bounds the callers on other nodes that a node remembers by name.
const maxCallersElsewhere = 4096

// callerElsewhere stands for the action or event of another node whose handler made a call.
func (n *Node) callerElsewhere(name string, level int) *callContext {
	type key struct {
		name  string
		level int
	}
	if known, ok := n.callers.Load(key{name, level}); ok {
		return known.(*callContext)
	}
	c := &callContext{Context: background, step: &step{node: n, name: name}, level: int32(level)}
	if n.callerCount.Add(1) <= maxCallersElsewhere {
		n.callers.Store(key{name, level}, c)
	}
	return c
}
