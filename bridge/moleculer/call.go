package moleculer

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/requestid"
)

// pendingCalls are the calls that were sent to Moleculer nodes, by id.
type pendingCalls struct {
	mu      sync.Mutex
	waiting map[string]*pendingCall
	byNode  map[string]int
}

type pendingCall struct {
	id, node, action string
	answered         chan *response
	failed           chan error
	stream           *chunks // of answers; nil for a call
}

// fail ends the call.
func (c *pendingCall) fail(err error) {
	if c.stream != nil {
		c.stream.fail(err)
		return
	}
	c.failed <- err
}

func (p *pendingCalls) add(c *pendingCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[c.id] = c
	if p.byNode == nil {
		p.byNode = make(map[string]int)
	}
	p.byNode[c.node]++
}

// take removes a call, which then belongs to the one who asked; nil where it is not there any more.
func (p *pendingCalls) take(id, node string) *pendingCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.waiting[id]
	if c == nil || c.node != node {
		return nil
	}
	delete(p.waiting, id)
	if p.byNode[node]--; p.byNode[node] == 0 {
		delete(p.byNode, node)
	}
	return c
}

// find is take for a call that stays.
func (p *pendingCalls) find(id, node string) *pendingCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.waiting[id]; c != nil && c.node == node {
		return c
	}
	return nil
}

// of reports whether calls to the node are in flight.
func (p *pendingCalls) of(node string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byNode[node] > 0
}

func (p *pendingCalls) failOf(node, why string) {
	p.fail(func(c *pendingCall) bool { return c.node == node }, func(c *pendingCall) error { return lost(c.action, c.node, why) })
}

func (p *pendingCalls) failAll(with func(*pendingCall) error) {
	p.fail(func(*pendingCall) bool { return true }, with)
}

func (p *pendingCalls) fail(which func(*pendingCall) bool, with func(*pendingCall) error) {
	p.mu.Lock()
	var list []*pendingCall
	for _, c := range p.waiting {
		if which(c) {
			list = append(list, c)
		}
	}
	p.mu.Unlock()
	for _, c := range list {
		if p.take(c.id, c.node) != nil {
			c.fail(with(c))
		}
	}
}

// Send implements sabir.ForeignNode: it makes a call, or describes an action of the node.
func (p *peer) Send(ctx context.Context, r *sabir.Request) error {
	b := p.bridge
	action := r.Action().Name
	if action == describing {
		return p.describe(r)
	}
	if full, short := p.offers.Load().full[action]; short {
		action = full
	}
	if b.down.Load() || p.ctx.Err() != nil {
		return unreachable(action, p.id)
	}
	if err := ctx.Err(); err != nil {
		return sabir.AsError(err)
	}
	c := &pendingCall{id: requestid.New(), node: p.id, action: action, answered: make(chan *response, 1), failed: make(chan error, 1)}
	sent := sabir.InfoFromContext(ctx).Metadata
	held := buffers.Get().(*[]byte)
	w := writing{as: b.wire, out: b.appendHead((*held)[:0], p.version)}
	w.out = append(p.appendCall(ctx, w.out, c.id, action), `,"stream":false`...)
	w.out = p.appendOrigin(ctx, w.out, c.id, sent, "")
	if err := w.payload("params", func(dst []byte) ([]byte, error) { return r.AppendInput(b.wire.values, dst) }); err != nil {
		return err
	}
	b.calls.add(c)
	err := b.request(p, c, &w)
	putBuffer(held, w.out)
	if err != nil {
		b.calls.take(c.id, c.node)
		return err
	}
	select {
	case answer := <-c.answered:
		return p.finish(ctx, r, sent, answer)
	case err := <-c.failed:
		return err
	case <-ctx.Done():
		b.calls.take(c.id, c.node)
		return sabir.AsError(ctx.Err())
	}
}

// appendCall appends which action is called, and the time that is left.
func (p *peer) appendCall(ctx context.Context, out []byte, id, action string) []byte {
	out = appendText(append(out, `,"id":`...), id)
	out = append(appendText(append(out, `,"action":`...), action), `,"timeout":`...)
	if deadline, ok := ctx.Deadline(); ok {
		return strconv.AppendInt(out, max(time.Until(deadline).Milliseconds(), 1), 10)
	}
	return append(out, "null"...)
}

// request sends a packet of a call.
func (b *bridge) request(p *peer, c *pendingCall, w *writing) error {
	packet, err := w.packet()
	if err != nil {
		return err
	}
	if limit := b.broker.MaxMessage(); len(packet) > limit {
		return tooLarge("the call of "+c.action, len(packet), limit)
	}
	// The broker reports a probe that nobody listens to: then the process of the node has ended.
	if b.broker.Probe(b.prefix+"REQ."+p.id, packet) != nil {
		return unreachable(c.action, p.id)
	}
	return nil
}

// unreachable is the error of a call that was not sent, and so goes to another node.
func unreachable(action, node string) *sabir.Error {
	return sabir.Errorf(sabir.ErrServiceUnavailable.Code, sabir.ErrServiceUnavailable.Name, "%s cannot be called on %s: the broker or the node cannot be reached", action, node).AsRetryable()
}

// finish reads the answer of a call.
func (p *peer) finish(ctx context.Context, r *sabir.Request, sent map[string]string, answer *response) error {
	mergeBack(ctx, sent, answer.Meta)
	if !answer.Success {
		return errorFrom(answer.Error, p.name)
	}
	return r.DecodeOutput(p.bridge.wire.values, p.bridge.wire.present(answer.Data))
}

// appendOrigin appends what a request or an event has of the call that it is made in, and the member of a stream.
func (p *peer) appendOrigin(ctx context.Context, out []byte, id string, metadata map[string]string, member string) []byte {
	info := sabir.InfoFromContext(ctx)
	out = appendMeta(append(out, `,"meta":`...), metadata)
	if p.version == "5" {
		out = appendHeaders(append(out, `,"headers":`...), ctx)
	}
	if member != "" {
		out = addMember(out, member)
	}
	out = strconv.AppendInt(append(out, `,"level":`...), int64(max(info.Depth, 1)), 10)
	trace, span := traceOf(metadata["traceparent"])
	if span == "" {
		out = append(out, `,"tracing":null`...)
	} else {
		out = append(out, `,"tracing":true`...)
	}
	out = appendTextOrNull(append(out, `,"parentID":`...), span)
	request := info.RequestID
	if request == "" {
		request = trace
	}
	if request == "" {
		request = id
	}
	out = appendText(append(out, `,"requestID":`...), request)
	return appendTextOrNull(append(out, `,"caller":`...), info.CalledBy)
}

// traceOf are the ids of the trace, as a UUID, and of the span in a traceparent that is sampled; "" for none.
func traceOf(parent string) (trace, span string) {
	if len(parent) != len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01") || parent[53:] != "01" {
		return "", ""
	}
	t := parent[3:35]
	return t[:8] + "-" + t[8:12] + "-" + t[12:16] + "-" + t[16:20] + "-" + t[20:], parent[36:52]
}

func (b *bridge) takeResponse(data []byte) {
	answer := new(response)
	if !b.read("RES", data, answer) {
		return
	}
	b.noticed(answer.Sender)
	if b.takeStreamed(answer) {
		return
	}
	if c := b.calls.take(answer.ID, answer.Sender); c != nil {
		c.answered <- answer
	}
}

// Emit implements sabir.ForeignNode: it sends an event. Moleculer's nodes do not answer events.
func (p *peer) Emit(ctx context.Context, group string, r *sabir.Request) error {
	b, name := p.bridge, r.Action().Name
	if name[0] == '$' {
		return nil // the runtime's own events are for its own nodes, as Moleculer's are
	}
	if b.down.Load() || p.ctx.Err() != nil {
		return unreachable(name, p.id)
	}
	id := requestid.New()
	held := buffers.Get().(*[]byte)
	groups := []string{group}
	if group == "" {
		groups = p.groups(name)
	}
	w := writing{as: b.wire, out: appendText(append(b.appendHead((*held)[:0], p.version), `,"id":`...), id)}
	w.out = appendText(append(w.out, `,"event":`...), name)
	w.out, _ = json.Codec.Append(append(w.out, `,"groups":`...), groups)
	w.out = strconv.AppendBool(append(w.out, `,"broadcast":`...), group == "")
	w.out = p.appendOrigin(ctx, append(w.out, `,"needAck":null`...), id, sabir.InfoFromContext(ctx).Metadata, "")
	if err := w.payload("data", func(dst []byte) ([]byte, error) { return r.AppendInput(b.wire.values, dst) }); err != nil {
		return err
	}
	packet, err := w.packet()
	if err != nil {
		return err
	}
	if limit := b.broker.MaxMessage(); len(packet) > limit {
		return tooLarge("the event "+name, len(packet), limit)
	}
	err = b.broker.Publish(b.prefix+"EVENT."+p.id, packet)
	putBuffer(held, w.out)
	if err != nil {
		return unreachable(name, p.id)
	}
	return nil
}
