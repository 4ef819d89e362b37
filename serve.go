package sabir

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/answer"
	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/wire"
)

// inboundRoute serves the calls that a peer sends under one name; package wire calls it for each.
type inboundRoute struct {
	node     *Node
	link     *wire.Link
	name     string
	format   string
	resolved atomic.Pointer[resolvedAction]
}

// resolvedAction is the action that the name has in one routing table. It holds the number of the table and not the table itself:
// routes that are seldom called would each keep another one of the past in memory, with all that the cluster offered then.
type resolvedAction struct {
	generation uint64
	action     local        // nil for none, or for one that may not be called like this
	refusal    *Error       // why not, where it is there
	bare       *callContext // for calls over the link that carry nothing of their own
}

// resolve finds the action that the route's name stands for now. It looks again only after the table has changed.
func (r *inboundRoute) resolve() *resolvedAction {
	t := r.node.table.Load()
	f := r.resolved.Load()
	if f != nil && f.generation == t.generation {
		return f
	}
	next := &resolvedAction{generation: t.generation, action: t.localActions[r.name]}
	if next.action != nil && next.action.info().NodeOnly {
		next.action = nil
	}
	if next.action != nil {
		if next.refusal = r.node.checkFormat(r.name, next.action.info().Codecs, r.format); next.refusal != nil {
			next.action = nil
		}
	}
	switch {
	case next.action == nil:
	case f != nil && f.action == next.action:
		next.bare = f.bare // so that calls nested in it find their contexts again
	default:
		next.bare = &callContext{Context: r.link.Context(), op: next.action.operation(), level: 1, shared: true, remote: true}
	}
	r.resolved.Store(next)
	return next
}

// Inline reports whether the action may run on the goroutine that reads the link. An action that is not there may not: Serve
// looks again, and may find one.
func (r *inboundRoute) Inline() bool {
	e := r.resolve().action
	return e != nil && e.operation().inline
}

// Serve answers one call. The goroutine belongs to the link, so whatever ends it early must become the caller's error here.
func (r *inboundRoute) Serve(in *wire.Inbound) {
	f := r.resolve()
	if f.action == nil {
		in.Fail(r.node.failureOf(r.missing(f)))
		return
	}
	returned := false
	defer func() {
		if !returned {
			in.Fail(r.node.failureOf(r.node.panicked(background, r.name, recover())))
		}
	}()
	f.action.serve(in, r.format, f.bare)
	returned = true
}

// ServeStream runs the handler of one stream.
func (r *inboundRoute) ServeStream(s *wire.Stream) {
	f := r.resolve()
	if f.action == nil {
		s.End(r.node.failureOf(r.missing(f)))
		return
	}
	returned := false
	defer func() {
		if !returned {
			s.End(r.node.failureOf(r.node.panicked(background, r.name, recover())))
		}
	}()
	f.action.serveStream(s, r.format)
	returned = true
}

// missing is the error for an action that is not here. It may have been here when the caller's node chose this one, so the
// error is retryable and the call goes to another node.
func (r *inboundRoute) missing(f *resolvedAction) *Error {
	if f.refusal != nil {
		return f.refusal
	}
	if state := r.node.stateNow(); state != stateRunning {
		return &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: r.node.id, Retryable: true, Message: "node " + r.node.id + " is " + state.String()}
	}
	if r.node.mayRun(serviceOf(r.name)) {
		return &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: r.node.id, Retryable: true,
			Message: serviceOf(r.name) + " does not run on node " + r.node.id + " now: it runs on one node at a time"}
	}
	e := r.node.notFoundAmong("action on node "+r.node.id, r.name, r.node.namesForOthers())
	e.Retryable = true // on another node; what a handler returns from its own calls never is
	return e
}

// serve handles a call from another node: it decodes the input, runs the handler like any call, and encodes the output.
func (h *handler[In, Out]) serve(in *wire.Inbound, format string, bare *callContext) {
	f := h.takeRequest()
	h.own.serve(in, h.own.formats.named(format, h.own.action.In, h.own.action.Out), f, bare)
	h.putRequest(f)
}

func (a *localAction) serve(in *wire.Inbound, format *callFormat, f localRequest, bare *callContext) {
	s := a.op
	if !s.inline {
		begun, ok := s.load.Begin()
		if !ok {
			in.Fail(s.node.failureOf(s.tooManyCalls()))
			return
		}
		defer func() { s.load.End(begun, in.Timeout, in.Late) }()
	}
	err := format.broken
	if err == nil {
		share := sharesIf(in.Owned())
		if a.borrow {
			share = sharesAll
		}
		var kept bool
		if kept, err = format.in.decode(in.Payload(), in.Schema(), share, &format.reader, f.input()); kept {
			in.Keep()
		}
	}
	if err != nil {
		err = a.badInput(err)
	} else {
		err = s.serveRequest(in, f, bare)
	}
	if err == nil {
		err = a.answer(in, format, f.output())
	}
	if err != nil {
		in.Fail(s.node.failureOf(s.node.located(err)))
	}
}

func (s *operation) serveRequest(in *wire.Inbound, f localRequest, bare *callContext) (err error) {
	c, failed := s.enterFromLink(in, bare)
	if failed != nil {
		return failed
	}
	if gate := s.gate; gate != nil {
		if !gate.enter() {
			return s.node.unavailable(s.name)
		}
		defer gate.leave()
	}
	if r, chain, direct := f.way(); direct {
		err = f.callDirect(c)
	} else {
		err = r.attempt(c, chain)
	}
	if in.TakesPairs {
		answerBack(in, c)
	}
	return err
}

func (a *localAction) answer(in *wire.Inbound, format *callFormat, out any) error {
	data, err := format.out.append(in.Buf(), format.out.schemaNumber(in.Link()), out)
	if err != nil {
		return a.op.node.badOutput("the answer of "+a.action.Name, a.op.node.id, "cannot be sent", err)
	}
	in.Reply(data)
	return nil
}

// callFormat encodes and decodes a handler's input and output in one format. An event's output is nothing.
type callFormat struct {
	in, out valueFormat
	reader  atomic.Pointer[reader] // of inputs
	broken  error
}

// callFormats are those of one handler, each made when a call first comes in it.
type callFormats struct {
	native atomic.Pointer[callFormat] // as a rule
	others sync.Map                   // by name
}

// named is the callFormat of these types for a format: native as a rule, else JSON or that of the types' own codec.
func (f *callFormats) named(format string, in, out reflect.Type) *callFormat {
	if format == native.Name {
		if known := f.native.Load(); known != nil {
			return known
		}
		f.native.CompareAndSwap(nil, newCallFormat(in, out, format))
		return f.native.Load()
	}
	known, ok := f.others.Load(format)
	if !ok {
		s := newCallFormat(in, out, format)
		if s.broken != nil {
			return s // not kept: any name may come in
		}
		known, _ = f.others.LoadOrStore(format, s)
	}
	return known.(*callFormat)
}

func newCallFormat(in, out reflect.Type, format string) *callFormat {
	s := &callFormat{}
	if s.in, s.broken = formatOf(in, format); s.broken == nil {
		s.out, s.broken = formatOf(out, format)
	}
	return s
}

// enterFromLink makes the context for a call over a link. A call that carries nothing of its own gets bare, the context that
// all such calls over the link share, as those from a bare context in this process do.
func (s *operation) enterFromLink(in *wire.Inbound, bare *callContext) (*callContext, *Error) {
	ctx := in.Context()
	if m := &in.Meta; bare != nil && !s.usesGo.Load() && ctx == bare.Context && m.Level == 0 && m.Caller == "" && m.RequestID == "" && m.Metadata == nil {
		return bare, nil
	}
	if in.Groups != nil {
		ctx = &originContext{Context: ctx, groups: in.Groups, level: int32(in.Level) + 1}
	}
	return s.enterRemote(ctx, &in.Meta)
}

// enterFromStream is enterFrom for streams.
func (s *operation) enterFromStream(stream *wire.Stream) (*callContext, *Error) {
	meta := stream.Meta()
	return s.enterRemote(stream.Context(), &meta)
}

func (s *operation) enterRemote(ctx context.Context, m *wire.Meta) (*callContext, *Error) {
	if m.Level >= s.node.limits.Load().depth {
		return nil, s.tooManyLevels(&callContext{op: &operation{name: m.Caller}, level: int32(m.Level)})
	}
	if m.Metadata[identity.PrincipalKey] != "" && !s.node.vouched(ctx) {
		delete(m.Metadata, identity.PrincipalKey)
	}
	own := &linkCall{values: linkContext{Context: ctx, metadata: m.Metadata, requestID: m.RequestID, answers: m.TakesPairs}}
	own.call = callContext{Context: &own.values, op: s, level: int32(m.Level) + 1, remote: true}
	if m.Caller != "" {
		own.call.parent = s.node.remoteParent(m.Caller, m.Level)
	}
	if deadline, ok := ctx.Deadline(); ok {
		// The caller is on another node, which answers it at the deadline: no guard is needed here.
		own.deadline = deadline
		own.call.releasedAt = &own.deadline
	}
	return &own.call, nil
}

// linkCall holds both contexts of a call from another node, in one allocation.
type linkCall struct {
	call     callContext
	values   linkContext
	deadline time.Time
}

// linkContext carries what came with a call over a link.
type linkContext struct {
	context.Context
	metadata  map[string]string
	requestID string
	answers   bool // the caller takes what is said beside the output
	said      answer.Collector
}

func (c *linkContext) Value(key any) any {
	switch key.(type) {
	case metadataKey:
		return c.metadata
	case requestIDKey:
		if c.requestID != "" {
			return c.requestID
		}
		return nil
	case answer.Key:
		if c.answers {
			return &c.said
		}
	}
	return c.Context.Value(key)
}

// eventCaller stands between the name of an event and the service whose handler of it makes a call, where nodes name callers.
const eventCaller = "@"

// eventCallerName is how other nodes learn of calls that the service's handler of an event makes. A name on a link has at most 255 bytes.
func eventCallerName(event, service string) string {
	if name := event + eventCaller + service; len(name) <= 255 {
		return name
	}
	return event
}

// maxRemoteParents bounds the callers on other nodes that a node remembers.
const maxRemoteParents = 4096

// remoteParent identifies a handler of another node that makes calls to this one.
type remoteParent struct {
	name  string
	level int
}

// remoteParent is the context that stands for such a handler: the parent of its calls.
func (n *Node) remoteParent(name string, level int) *callContext {
	key := remoteParent{name, level}
	if known, ok := n.remoteParents.Get(key); ok {
		return known
	}
	op := &operation{node: n}
	op.name, op.service, op.event = strings.Cut(name, eventCaller)
	if !op.event {
		op.service = name[:max(strings.LastIndexByte(name, '.'), 0)]
	}
	op.caller = name
	return n.remoteParents.Add(key, &callContext{Context: background, op: op, level: int32(level)})
}
