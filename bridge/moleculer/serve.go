package moleculer

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
)

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keepBuffer is the largest buffer that is used again.
const keepBuffer = 64 << 10

func putBuffer(held *[]byte, used []byte) {
	if cap(used) <= keepBuffer {
		*held = used[:0]
		buffers.Put(held)
	}
}

// served is a request that is served, with what belongs to its call.
type served struct {
	request request
	bridge  *bridge
	from    *peer // nil where its node is not known yet
	upload  *chunks
	values  callValues
}

// callValues is the context of a call from a Moleculer node, over that of the node.
type callValues struct {
	context.Context
	meta    collectedMeta
	headers raw
}

func (c *callValues) Value(key any) any {
	switch key.(type) {
	case metaKey:
		return &c.meta
	case headersKey:
		return c.headers
	}
	return c.Context.Value(key)
}

func (b *bridge) takeRequest(data []byte) {
	s := &served{bridge: b}
	r := &s.request
	if !b.read("REQ", data, r) || !r.hasID() {
		return
	}
	if s.from = b.noticed(r.Sender); s.from == nil {
		b.discover(r.Sender, r.Version) // a request may be here before the INFO of its node
	}
	if r.Seq != nil && *r.Seq != 0 {
		b.uploads.put(r, b.wire)
		return
	}
	if !b.serving.Begin() {
		b.refuse(r, sabir.NewError(sabir.ErrTooManyCalls.Code, sabir.ErrTooManyCalls.Name, "the node serves as many calls of Moleculer nodes as it takes").AsRetryable())
		return
	}
	if r.Stream {
		if s.upload = b.uploads.open(r, &b.waiting); s.upload == nil { // it is open already
			b.serving.End()
			return
		}
	}
	b.serving.Serve(s)
}

// Run serves the request.
func (s *served) Run() {
	b, now := s.bridge, s.bridge.exposed.Load()
	action := now.actions[s.request.Action]
	if s.upload != nil || action != nil && action.Stream {
		b.serveStream(&s.request, action, now.inputs[s.request.Action], s.upload)
		return
	}
	b.answer(&s.request, &s.values.meta, func(dst []byte) ([]byte, error) { return s.call(action, now.inputs[s.request.Action], dst) })
	s.request = request{} // a handler may keep its context, which should not keep the packet
}

// refuse answers a request with an error.
func (b *bridge) refuse(r *request, err error) {
	b.fail(&writing{as: b.wire, out: b.appendAnswer(nil, r, "")}, r, err, nil)
}

// maxText bounds the text of an error that is sent without its data, in bytes.
const maxText = 4 << 10

// fail ends an answer with an error, and sends it. One that is larger than the broker takes goes without its data and meta: its caller would wait
// for an answer that does not come.
func (b *bridge) fail(w *writing, r *request, err error, a *collectedMeta) {
	before, wire := len(w.out), errorTo(err, r.Action, b.id)
	w.out = appendFailure(w.out, wire, a)
	packet, err := w.packet()
	if limit := b.broker.MaxMessage(); err == nil && len(packet) > limit {
		b.note("an error was sent without its data", r.Action, tooLarge("the error of "+r.Action, len(packet), limit))
		wire.Data, wire.Message = nil, strings.ToValidUTF8(wire.Message[:min(len(wire.Message), maxText)], "")
		w.truncate(before)
		w.out = appendFailure(w.out, wire, nil)
		packet, err = w.packet()
	}
	if err == nil {
		b.send("RES."+r.Sender, packet)
	}
}

// tooLarge is the error of a packet that the broker does not take.
func tooLarge(what string, size, limit int) *sabir.Error {
	return sabir.Errorf(sabir.ErrMessageTooLarge.Code, sabir.ErrMessageTooLarge.Name, "%s has %d bytes: the broker takes %d", what, size, limit)
}

// answer answers a request with the data that a function appends, or with its error.
func (b *bridge) answer(r *request, a *collectedMeta, data func(dst []byte) ([]byte, error)) {
	held := buffers.Get().(*[]byte)
	w := writing{as: b.wire, out: b.appendAnswer((*held)[:0], r, "")}
	before := len(w.out)
	w.out = append(w.out, `,"success":true`...)
	err := w.payload("data", data)
	var packet []byte
	if err == nil {
		w.out = a.append(append(w.out, `,"meta":`...))
		packet, err = w.packet()
	}
	if limit := b.broker.MaxMessage(); len(packet) > limit {
		err = tooLarge("the answer of "+r.Action, len(packet), limit)
	}
	if err != nil {
		w.truncate(before)
		b.fail(&w, r, err, a)
	} else {
		b.send("RES."+r.Sender, packet)
	}
	putBuffer(held, w.out)
}

// call makes the call and appends the answer's data.
func (s *served) call(action *sabir.Action, input codec.Codec, dst []byte) ([]byte, error) {
	b, r := s.bridge, &s.request
	if strings.HasPrefix(r.Action, "$") {
		if own := nodeActions[r.Action]; own != nil {
			var params asked
			_ = b.wire.values.Decode(b.wire.present(r.Params), &params) // what is no object asks for nothing particular
			text, err := json.Codec.Append(nil, own(b, params))         // what INFO of others has is JSON, which other serializers must not take as bytes
			if err != nil {
				return dst, err
			}
			return b.wire.values.Append(dst, raw(text))
		}
	}
	if action == nil {
		return dst, notFound(r.Action, b)
	}
	in, err := b.inbound(s.from, r.Sender, &r.origin, &s.values)
	if err != nil {
		return dst, err
	}
	in.Limit = r.Timeout.duration()
	return action.Serve(in, input, dst, b.wire.present(r.Params))
}

// notFound is retryable, as Moleculer's own is: another node may offer the action.
func notFound(action string, b *bridge) *sabir.Error {
	e := *sabir.NewError(sabir.ErrActionNotFound.Code, sabir.ErrActionNotFound.Name, "no action "+action+" is exposed by "+b.id)
	if !b.open.Load() {
		e = *sabir.NewError(sabir.ErrServiceUnavailable.Code, sabir.ErrServiceUnavailable.Name, "the node "+b.id+" is starting or stopping")
	}
	e.Retryable, e.Node = true, b.id
	return &e
}

// inbound describes a request or an event as one from outside. from may be nil, as values are for an event.
func (b *bridge) inbound(from *peer, sender string, o *origin, values *callValues) (gateway.Inbound, error) {
	in := gateway.Inbound{From: sender, RequestID: string(o.RequestID), Level: max(o.Level-1, 0), CalledBy: string(o.Caller[:min(len(o.Caller), 255)])}
	var err error
	if in.Metadata, err = metadataOf(o.Meta); err != nil {
		return in, err
	}
	// meta carries the traceparent of a call of this cluster further up. In the same trace the caller's own span is nearer.
	if parent, above := traceParent(o), in.Metadata["traceparent"]; parent != "" && (above == "" || len(above) == len(parent) && above[3:35] == parent[3:35]) {
		if in.Metadata == nil {
			in.Metadata = make(map[string]string)
		}
		in.Metadata["traceparent"] = parent
	}
	if from == nil {
		from = b.peers.get(sender)
	}
	in.Context = b.ctx
	if from != nil {
		in.Context = from.ctx // nobody waits for the answer once the node has gone
	}
	if values == nil {
		if hasHeaders(o.Headers) {
			in.Context = context.WithValue(in.Context, headersKey{}, o.Headers)
		}
		return in, nil
	}
	values.Context = in.Context
	if hasHeaders(o.Headers) {
		values.headers = o.Headers
	}
	in.Context, in.Answer = values, headers{&values.meta}
	return in, nil
}

func hasHeaders(headers raw) bool { return len(headers) > 2 && string(headers) != "null" }

// traceParent is the caller's span as a traceparent, where it traces the call. Its ids are UUIDs: the request's is that of the trace, and the
// first half of the call's that of the span, as Moleculer's exporters have them.
func traceParent(o *origin) string {
	if string(o.Tracing) != "true" {
		return ""
	}
	trace, span := strings.ReplaceAll(string(o.RequestID), "-", ""), strings.ReplaceAll(string(o.ParentID), "-", "")
	if len(trace) != 32 || len(span) < 16 {
		return ""
	}
	if _, err := hex.DecodeString(trace + span[:16]); err != nil {
		return ""
	}
	return strings.ToLower("00-" + trace + "-" + span[:16] + "-01") // as W3C has it
}

// appendAnswer appends the beginning of a response, with a member for its headers.
func (b *bridge) appendAnswer(dst []byte, r *request, header string) []byte {
	dst = append(append(b.appendHead(dst, r.Version), `,"id":`...), r.ID...)
	if r.Version == "5" {
		dst = append(append(append(dst, `,"headers":{`...), header...), '}')
	}
	return dst
}

// appendFailure appends the rest of a response that is an error, but for the last brace.
func appendFailure(dst []byte, w *wireError, a *collectedMeta) []byte {
	dst = w.append(append(dst, `,"success":false,"data":null,"error":`...))
	dst = append(dst, `,"meta":`...)
	if a == nil {
		return append(dst, "{}"...)
	}
	return a.append(dst)
}

func (b *bridge) takeEvent(data []byte) {
	var e event
	if !b.read("EVENT", data, &e) {
		return
	}
	b.noticed(e.Sender)
	if !b.serving.Begin() {
		b.note("an event was refused", e.Event, sabir.ErrTooManyCalls)
		return
	}
	b.serving.Go(func() { b.receive(&e) })
}

// receive gives an event to the handlers of the groups that it is for.
func (b *bridge) receive(e *event) {
	groups := b.exposed.Load().groups
	if len(e.Groups) > 0 { // an empty list is none: moleculer-go broadcasts with one
		var both []string
		for _, g := range groups {
			for _, other := range e.Groups {
				if g == other {
					both = append(both, g)
				}
			}
		}
		groups = both
	}
	in, err := b.inbound(nil, e.Sender, &e.origin, nil)
	if err == nil {
		in.Context = context.WithoutCancel(in.Context) // nobody waits for an event
		in.Groups = e.Groups
		err = b.node.ReceiveEvent(in, e.Event, groups, e.Broadcast, b.wire.values, b.wire.present(e.Data))
	}
	if err != nil {
		b.note("an event of a Moleculer node was not handled", e.Event, err)
	}
}
