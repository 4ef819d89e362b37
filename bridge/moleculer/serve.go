package moleculer

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
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

// maxTimeout bounds the timeout of a request, in milliseconds: a day. More would not fit into a time.Duration.
const maxTimeout = 24 * 60 * 60 * 1000

func (b *bridge) takeRequest(data []byte) {
	var r request
	if !b.read("REQ", data, &r) || r.ID == "" || len(r.ID) > maxID {
		return
	}
	if b.noticed(r.Sender) == nil {
		b.discover(r.Sender, r.Version) // a request may be here before the INFO of its node
	}
	if r.Seq != nil && *r.Seq != 0 {
		b.uploads.put(&r, b.wire)
		return
	}
	if !b.serving.Begin() {
		b.refuse(&r, sabir.NewError(sabir.ErrTooManyCalls.Code, sabir.ErrTooManyCalls.Name, "the node serves as many calls of Moleculer nodes as it takes").AsRetryable())
		return
	}
	var upload *chunks
	if r.Stream {
		if upload = b.uploads.open(&r, &b.waiting); upload == nil { // it is open already
			b.serving.End()
			return
		}
	}
	b.serving.Go(func() {
		now := b.exposed.Load()
		if action := now.actions[r.Action]; upload != nil || action != nil && action.Stream {
			b.serveStream(&r, action, now.inputs[r.Action], upload)
		} else {
			b.serve(&r)
		}
	})
}

// refuse answers a request with an error.
func (b *bridge) refuse(r *request, err error) {
	b.fail(&writing{as: b.wire, out: b.appendAnswer(nil, r, "")}, r, err, nil)
}

// maxText bounds the text of an error that is sent without its data, in bytes.
const maxText = 4 << 10

// fail ends an answer with an error, and sends it. One that is larger than the broker takes goes without its data and meta: its caller would wait
// for an answer that does not come.
func (b *bridge) fail(w *writing, r *request, err error, a *Meta) {
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

// serve makes the call and answers it.
func (b *bridge) serve(r *request) {
	var a Meta
	b.answer(r, &a, func(dst []byte) ([]byte, error) { return b.call(r, &a, dst) })
}

// answer answers a request with the data that a function appends, or with its error.
func (b *bridge) answer(r *request, a *Meta, data func(dst []byte) ([]byte, error)) {
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
func (b *bridge) call(r *request, a *Meta, dst []byte) ([]byte, error) {
	if own := nodeActions[r.Action]; own != nil {
		return b.wire.values.Append(dst, own(b))
	}
	now := b.exposed.Load()
	action := now.actions[r.Action]
	if action == nil {
		return dst, notFound(r.Action, b)
	}
	in, err := b.inbound(r.Sender, &r.origin, a)
	if err != nil {
		return dst, err
	}
	if r.Timeout != nil && *r.Timeout > 0 {
		in.Limit = time.Duration(min(*r.Timeout, maxTimeout) * float64(time.Millisecond))
	}
	return action.Serve(in, now.inputs[r.Action], dst, b.wire.present(r.Params))
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

// inbound describes a request or an event as one from outside.
func (b *bridge) inbound(sender string, o *origin, a *Meta) (gateway.Inbound, error) {
	in := gateway.Inbound{From: sender, RequestID: o.RequestID, Level: max(o.Level-1, 0), CalledBy: o.Caller[:min(len(o.Caller), 255)]}
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
	in.Context = b.ctx
	if p := b.peers.get(sender); p != nil {
		in.Context = p.ctx // nobody waits for the answer once the node has gone
	}
	if a != nil {
		in.Context, in.Answer = context.WithValue(in.Context, metaKey{}, a), headers{a}
	}
	if len(o.Headers) > 2 {
		in.Context = context.WithValue(in.Context, headersKey{}, o.Headers)
	}
	return in, nil
}

// traceParent is the caller's span as a traceparent, where it traces the call. Its ids are UUIDs: the request's is that of the trace, and the
// first half of the call's that of the span, as Moleculer's exporters have them.
func traceParent(o *origin) string {
	if string(o.Tracing) != "true" {
		return ""
	}
	trace, span := strings.ReplaceAll(o.RequestID, "-", ""), strings.ReplaceAll(o.ParentID, "-", "")
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
	dst = appendText(append(b.appendHead(dst, r.Version), `,"id":`...), r.ID)
	if r.Version == "5" {
		dst = append(append(append(dst, `,"headers":{`...), header...), '}')
	}
	return dst
}

// appendFailure appends the rest of a response that is an error, but for the last brace.
func appendFailure(dst []byte, w *wireError, a *Meta) []byte {
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
	if e.Groups != nil {
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
	in, err := b.inbound(e.Sender, &e.origin, nil)
	if err == nil {
		in.Context = context.WithoutCancel(in.Context) // nobody waits for an event
		in.Groups = e.Groups
		err = b.node.ReceiveEvent(in, e.Event, groups, e.Broadcast, b.wire.values, b.wire.present(e.Data))
	}
	if err != nil {
		b.note("an event of a Moleculer node was not handled", e.Event, err)
	}
}
