package sabir

import (
	"context"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/answer"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/httpgateway"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/introspect"
)

// WithGateway gives the node a gateway; make is called when the node starts, before it joins its cluster.
func WithGateway(make func(*Node) (gateway.Gateway, error)) NodeOption {
	return nodeOption(func(n *Node) { n.attached = append(n.attached, make) })
}

// HTTP exposes the public actions at POST /service/action, JSON in and out, with health at /health and readiness at
// /ready. Package web serves it, so the program must import it:
//
//	import _ "github.com/sabir-go/sabir/web"
//
// An address without a host, ":3000", means this machine only (127.0.0.1). To be reached from others, name the host,
// "0.0.0.0:3000", and restrict the callers with gateway.Key or a TLS configuration that demands client certificates; without
// either the node refuses to start. Port 0 takes a free one: see [Node.HTTPAddr].
func HTTP(addr string, options ...gateway.HTTPOption) NodeOption {
	config := httpaccess.Config{Addr: addr}
	for _, o := range options {
		o(&config)
	}
	attach := func(n *Node) (gateway.Gateway, error) {
		if httpgateway.New == nil {
			return nil, &Error{Code: CodeInvalidArgument, Name: nameBadOption, Node: n.id,
				Message: `sabir.HTTP needs the package that serves it: add import _ "github.com/sabir-go/sabir/web"`}
		}
		n.holdHeap()
		return httpgateway.New(n, config, n.admission.Crowded)
	}
	return nodeOptionOnce("HTTP", option.Caller(), func(n *Node) { n.attached = append(n.attached, attach) })
}

// HTTPAddr is the host and port where HTTP is served, once the node runs; "" if it is not.
func (n *Node) HTTPAddr() string {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	for _, g := range n.gateways {
		if f, ok := g.(interface{ HTTPAddr() string }); ok {
			return f.HTTPAddr()
		}
	}
	return ""
}

// AdminAddr is the host and port where the node serves its operators, see package admin; "" if it does not, and before it starts.
func (n *Node) AdminAddr() string {
	if server := n.operators.Load(); server != nil {
		return (*server).AdminAddr()
	}
	return ""
}

// operatorsServer is the extension of package admin.
type operatorsServer interface{ AdminAddr() string }

// reachable lists what the node answers over HTTP.
func (n *Node) reachable() []introspect.Reachable {
	n.tableLock.Lock()
	gateways := slices.Clone(n.gateways)
	n.tableLock.Unlock()
	list := []introspect.Reachable{}
	for _, g := range gateways {
		if f, ok := g.(interface {
			Reachable() []introspect.Reachable
		}); ok {
			list = append(list, f.Reachable()...)
		}
	}
	return list
}

// refusedHeads counts the requests over HTTP whose form was refused.
func (n *Node) refusedHeads() (count uint64) {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	for _, g := range n.gateways {
		if f, ok := g.(interface{ RefusedHeads() uint64 }); ok {
			count += f.RefusedHeads()
		}
	}
	return count
}

var strictJSON = json.New(json.Config{Strict: true})

// decodeInbound reads the input, which is JSON where format is nil.
func decodeInbound(in *gateway.Inbound, format codec.Codec, body []byte, v any) error {
	if format != nil {
		return format.Decode(body, v)
	}
	if in.Strict {
		return strictJSON.Decode(body, v)
	}
	return decodeJSON(body, v)
}

// ServeJSON is [Action.AppendJSON] for a gateway: it calls this very action with a JSON document that came from outside and
// appends its answer to dst. Empty input stands for {}. On an error it returns dst as it was. body may be used again when it
// returns.
func (a *Action) ServeJSON(in gateway.Inbound, dst, body []byte) ([]byte, error) {
	if a.endpoint == nil {
		return dst, a.notHere()
	}
	if len(body) == 0 {
		body = emptyObject
	}
	return a.endpoint.serveInbound(in, nil, dst, body)
}

// Serve is [Action.ServeJSON] for an input and an answer in another format than JSON, for gateways of protocols that have one of
// their own. Inbound.Strict does nothing then. Of an action of another node only JSON is known here: the error is
// NoCommonCodec.
func (a *Action) Serve(in gateway.Inbound, format codec.Codec, dst, body []byte) ([]byte, error) {
	if a.endpoint == nil {
		return dst, a.notHere()
	}
	return a.endpoint.serveInbound(in, format, dst, body)
}

var emptyObject = []byte("{}")

func (h *handler[In, Out]) serveInbound(in gateway.Inbound, format codec.Codec, dst, body []byte) ([]byte, error) {
	f := h.takeRequest()
	dst, err := h.own.op.serveInbound(&in, format, dst, body, f)
	h.putRequest(f)
	return dst, err
}

// serveInbound is the part of a call from outside that a program has once, and not for each pair of types.
func (s *operation) serveInbound(in *gateway.Inbound, format codec.Codec, dst, body []byte, f localRequest) ([]byte, error) {
	if format == nil {
		held, ok := s.node.memory.Decode(s.action.In, body)
		if !ok {
			return dst, s.node.holdsTooMuch()
		}
		defer s.node.memory.Own().Give(held)
	}
	if err := decodeInbound(in, format, body, f.input()); err != nil {
		return dst, badInput(s.node, "the input of "+s.name, err)
	}
	c, failed := s.enterFromGateway(in)
	if failed != nil {
		return dst, failed
	}
	defer c.values.end()
	err := s.runInbound(in, f, c)
	c.values.endAnswer()
	if err != nil {
		return dst, s.node.located(err)
	}
	if format == nil {
		return s.node.appendJSON(dst, s.action, f.output())
	}
	out, err := format.Append(dst, f.output())
	if err != nil {
		return dst, s.node.badOutput("the answer of "+s.name, s.node.id, "cannot be written as "+format.Name(), err)
	}
	return out, nil
}

func (s *operation) runInbound(in *gateway.Inbound, f localRequest, c *gatewayCall) error {
	if n := s.node; !s.inline {
		class := s.classOf(in)
		full := func() bool { return class > admission.Critical && n.memory.Full() }
		if full() {
			return n.holdsTooMuch()
		}
		if !n.admission.Enter(in.Context, class, in.Limit) {
			return n.tooManyCalls()
		}
		defer n.admission.Leave()
		if full() { // the answers of those before it took the space while it waited
			return n.holdsTooMuch()
		}
		begun, ok := s.load.Begin()
		if !ok {
			return s.tooManyCalls()
		}
		defer func() { s.load.End(begun, in.Limit, func() bool { return c.values.Err() != nil }) }()
	}
	if gate := s.gate; gate != nil {
		if !gate.enter() {
			return s.node.unavailable(s.name)
		}
		defer gate.leave()
	}
	r, chain, direct := f.way()
	switch {
	case in.Limit > 0 && !in.Watched && !s.inline:
		return r.guardedUntil(&c.call, c.values.deadline, in.Context.Done(), chain)
	case !direct:
		return r.attempt(&c.call, chain)
	}
	return f.callDirect(&c.call)
}

// classOf is the order in which a call from outside is served. The runtime's own actions go first.
func (s *operation) classOf(in *gateway.Inbound) admission.Class {
	if strings.HasPrefix(s.name, "$") {
		return admission.Critical
	}
	return admission.ClassOf(in.Metadata[admission.MetadataKey], 0)
}

func (n *Node) tooManyCalls() *Error {
	return &Error{Code: CodeResourceExhausted, Name: nameTooManyCalls, Node: n.id, Retryable: true, Message: "node " + n.id + " " + n.admission.TooMuch()}
}

// holdsTooMuch is the error of a call whose input or answer has no space.
func (n *Node) holdsTooMuch() *Error {
	return &Error{Code: CodeResourceExhausted, Name: nameTooManyCalls, Node: n.id, Retryable: true, Message: "node " + n.id + " holds as much as it may for others"}
}

// tooManyCalls is the error of a call that would be answered too late, by what the action does and not by the node's processors.
func (s *operation) tooManyCalls() *Error {
	return &Error{Code: CodeResourceExhausted, Name: nameTooManyCalls, Node: s.node.id, Retryable: true,
		Message: "node " + s.node.id + " runs as many calls of " + s.name + " as it can answer in time"}
}

// gatewayCall holds both contexts of a call from outside in one allocation: the one that the handler gets, and the values
// that came with the call. A handler may keep its context for as long as it likes, so this is never used again.
type gatewayCall struct {
	call   callContext
	values gatewayContext
}

// gatewayContext carries what came with a call from outside: its limit, which is a zero deadline for none, and values.
type gatewayContext struct {
	deadlineContext // over the gateway's context
	metadata        map[string]string
	requestID       string
	origin          *originContext
	borrowed        interface{ Value(key any) any }
	said            answer.Collector
	answer          gateway.Answer                                    // that gets what was said; nil for nobody
	idBuffer        [len("00000000-0000-4000-8000-000000000000")]byte // for the request id
}

func (c *gatewayContext) Deadline() (time.Time, bool) {
	if c.deadline.IsZero() {
		return c.Context.Deadline()
	}
	return c.deadlineContext.Deadline()
}

func (c *gatewayContext) Done() <-chan struct{} {
	if c.deadline.IsZero() {
		return c.Context.Done()
	}
	return c.deadlineContext.Done()
}

func (c *gatewayContext) Err() error {
	if c.deadline.IsZero() {
		return c.Context.Err()
	}
	return c.deadlineContext.Err()
}

func (c *gatewayContext) Value(key any) any {
	switch key.(type) {
	case metadataKey:
		return c.metadata
	case requestIDKey:
		if c.requestID != "" {
			return c.requestID
		}
		return nil
	case originKey:
		return c.origin
	case answer.Key:
		if c.answer != nil {
			return &c.said
		}
	}
	if c.borrowed != nil && !c.ended.Load() {
		if v := c.borrowed.Value(key); v != nil {
			return v
		}
	}
	return c.deadlineContext.Value(key)
}

// enterFromGateway makes the contexts for a call from outside.
func (s *operation) enterFromGateway(in *gateway.Inbound) (*gatewayCall, *Error) {
	if err := in.Context.Err(); err != nil {
		return nil, s.contextError(err)
	}
	if in.Level >= s.node.limits.Load().depth {
		return nil, s.tooManyLevels(s.node.remoteParent(in.CalledBy, in.Level))
	}
	c := &gatewayCall{}
	c.values.fill(in, s.node)
	c.call.Context, c.call.op, c.call.level = &c.values, s, int32(in.Level)+1
	if in.CalledBy != "" {
		c.call.parent = s.node.remoteParent(in.CalledBy, in.Level)
	}
	if in.Limit > 0 && in.Watched {
		c.call.releasedAt = &c.values.deadline // calls nested in this one need no guard
	}
	return c, nil
}

// contextFor is the context of a stream or an event that came in from outside.
func (n *Node) contextFor(in *gateway.Inbound) context.Context {
	origin := *originOfInbound(in)
	origin.Context, origin.groups = in.Context, in.Groups
	var ctx context.Context = &linkContext{Context: &origin, metadata: in.Metadata, requestID: in.RequestID}
	if in.Level > 0 {
		ctx = context.WithValue(ctx, callKey{}, n.remoteParent(in.CalledBy, in.Level))
	}
	return ctx
}

// endAnswer hands what the handler answered beside its output to the gateway. What it says later is lost.
func (c *gatewayContext) endAnswer() {
	if c.answer != nil {
		give(c.said.End(), c.answer)
	}
}

// fill sets an empty context to the values of a call.
func (c *gatewayContext) fill(in *gateway.Inbound, n *Node) {
	c.origin = originOfInbound(in)
	c.Context, c.metadata, c.borrowed, c.answer = in.Context, in.Metadata, in.Borrowed, in.Answer
	if len(in.RequestID) <= len(c.idBuffer) {
		c.requestID = unsafe.String(&c.idBuffer[0], copy(c.idBuffer[:], in.RequestID)) // written once, here
	} else {
		c.requestID = strings.Clone(in.RequestID)
	}
	if in.Limit > 0 {
		c.deadline = n.epoch.Add(time.Since(n.epoch) + in.Limit) // half the price of time.Now
	}
}

func (h *streamHandler) serveInbound(_ gateway.Inbound, _ codec.Codec, dst, _ []byte) ([]byte, error) {
	return dst, h.streamWanted()
}

func (a *remoteAction) serveInbound(in gateway.Inbound, format codec.Codec, dst, body []byte) ([]byte, error) {
	if format != nil {
		return dst, a.onlyJSON(format)
	}
	var c gatewayContext
	c.fill(&in, a.op.node)
	defer c.end()
	defer c.endAnswer()
	return a.callJSON(&c, body, dst, callOptions{})
}

// onlyJSON is the error of a call in a format for which the action's types would have to be known.
func (a *remoteAction) onlyJSON(format codec.Codec) *Error {
	return &Error{Code: CodeFailedPrecondition, Name: nameNoCommonCodec, Node: a.op.node.id,
		Message: a.action.Name + " is of another node, whose types are not known here: it is called with JSON and not with " + format.Name()}
}
