package dubbo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/requestid"
)

// consume serves a consumer until its connection ends.
func (b *bridge) consume(c *connection, t table) {
	ctx, gone := context.WithCancel(b.ctx) // nobody waits for answers once the connection has ended
	defer gone()
	defer c.endStreams()
	defer c.Close()
	for {
		f, err := c.next()
		switch {
		case err == nil:
			b.takeRequest(ctx, c, t, f)
			continue
		case errors.Is(err, errNoMemory):
			c.refuse(&f, statusExhausted, err.Error())
			continue
		case errors.Is(err, errTooLarge): // what follows cannot be told from the body
			c.refuse(&f, statusBadRequest, err.Error())
		}
		if !isEnd(err) && b.ctx.Err() == nil {
			b.drops.Note(b.node.Log(), "the connection of a Dubbo consumer was closed", "from", c.RemoteAddr(), "error", err)
		}
		return
	}
}

// refuse answers a request with a status and a text.
func (c *connection) refuse(f *frame, status byte, text string) {
	if !f.is(flagTwoWay) || !f.is(flagRequest) {
		return
	}
	out, err := appendTexts(appendHeader(nil, 0, status, f.id), text)
	if err == nil {
		c.send(setLength(out))
	}
}

// takeRequest has a request served on a goroutine of its own.
func (b *bridge) takeRequest(ctx context.Context, c *connection, t table, f frame) {
	done := func() { b.bodies.free(len(f.body)) }
	switch {
	case f.is(flagEvent):
		done() // an answer to a heartbeat
	case !f.is(flagRequest):
		if answered := c.callbacks.take(f.id); answered != nil {
			answered <- f
			return
		}
		done() // an answer to nothing
	case f.flags&maskFormat != formatHessian:
		done()
		c.refuse(&f, statusFormat, fmt.Sprintf("the serialization %d is not spoken: set serialization=hessian2", f.flags&maskFormat))
	case !b.open.Load():
		done()
		c.refuse(&f, statusInactive, "the node "+b.node.ID()+" is stopping")
	case !b.serving.Begin():
		done()
		c.refuse(&f, statusExhausted, "the node serves as many calls of Dubbo consumers as it takes")
	default:
		b.serving.Go(func() {
			defer done()
			b.serveRequest(ctx, c, t, &f)
		})
	}
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

func putBuffer(held *[]byte, used []byte) {
	if cap(used) <= keepBody {
		*held = used[:0]
		buffers.Put(held)
	}
}

// serveRequest makes the call and answers it.
func (b *bridge) serveRequest(ctx context.Context, c *connection, t table, f *frame) {
	inv, err := readInvocation(f.body)
	if err != nil {
		c.refuse(f, statusBadRequest, "the request cannot be read: "+err.Error())
		return
	}
	m, ofMetadata := t.find(inv.path, inv.version, inv.attachment("group")), b.isMetadataCall(inv)
	if ofMetadata {
		m = new(mapping) // of which nothing is needed
	}
	if m == nil {
		c.refuse(f, statusNoService, fmt.Sprintf("Not found exported service: %s with the version %q and the group %q on the node %s", inv.path, inv.version, inv.attachment("group"), b.node.ID()))
		return
	}
	held := buffers.Get().(*[]byte)
	out := appendHeader((*held)[:0], 0, statusOK, f.id)
	answer := new(attachments)
	switch {
	case ofMetadata:
		out, err = b.appendMetadata(inv, out)
	case inv.method == echoMethod && len(inv.types) == 1:
		out = append(appendKind(out, replyValue, inv.answersAttachments), inv.arguments...)
	case m.callbackOf(inv) != nil:
		out = append(appendKind(out, replyValue, inv.answersAttachments), 'N')
		err = b.openCallback(c, m, m.callbackOf(inv), inv)
	default:
		out, err = b.call(ctx, m, inv, answer, appendKind(out, replyValue, inv.answersAttachments))
	}
	if status, text := statusOf(err); status != 0 {
		c.refuse(f, status, text)
		putBuffer(held, out)
		return
	}
	switch {
	case err != nil:
		out = appendException(out[:headerSize], m, inv, err)
	case string(out[headerSize+1:]) == "N": // Java has a kind of its own for null, and Dubbo for Go breaks the connection where a value is null
		out = appendKind(out[:headerSize], replyNull, inv.answersAttachments)
	}
	if inv.answersAttachments {
		out = appendAttachments(out, answer.with(protocolVersion))
	}
	switch {
	case len(out) > headerSize+maxBody:
		c.refuse(f, statusFormat, fmt.Sprintf("the answer of %s has %d bytes: %d is the limit of the protocol dubbo", inv.method, len(out)-headerSize, maxBody))
	case f.is(flagTwoWay):
		c.send(setLength(out))
	}
	putBuffer(held, out)
}

// call makes the call and appends the value of the answer.
func (b *bridge) call(ctx context.Context, m *mapping, inv *invocation, answer *attachments, dst []byte) ([]byte, error) {
	action := b.actionOf(m, inv.method, inv.types)
	if action == nil {
		return dst, notFound(m, inv, b)
	}
	in, err := inv.inbound(ctx, answer)
	if err != nil {
		return dst, err
	}
	inv.declared = m.declares(inv.method, len(inv.types))
	return action.Serve(in, inv, dst, inv.arguments)
}

// actionOf is the action that is a method of the interface; nil for none.
func (b *bridge) actionOf(m *mapping, method string, types []string) *sabir.Action {
	name := m.service + "." + method
	if m.methods != nil {
		one := m.method(method, types)
		if one == nil {
			return nil
		}
		name = one.action
	}
	return b.served(m, name)
}

// served is an action that consumers may call; nil for none.
func (b *bridge) served(m *mapping, name string) *sabir.Action {
	action := b.node.Action(name)
	if action == nil || !action.Public() || action.Node != b.node.ID() || action.Service != m.service {
		return nil
	}
	return action
}

// inbound describes the call for the node.
func (inv *invocation) inbound(ctx context.Context, answer gateway.Answer) (gateway.Inbound, error) {
	metadata, err := inv.metadata()
	// Consumers have timers of their own, so nobody needs to be answered at the limit while the handler still runs.
	return gateway.Inbound{Context: ctx, Metadata: metadata, Limit: inv.timeout(), Watched: true, Answer: answer, RequestID: requestid.New()}, err
}

func notFound(m *mapping, inv *invocation, b *bridge) error {
	return sabir.NewError(sabir.ErrActionNotFound.Code, sabir.ErrActionNotFound.Name, fmt.Sprintf("%s has no method %s%s on the node %s", m.name, inv.method, inv.types, b.node.ID()))
}

// maxTimeout bounds the timeout of a request, in milliseconds: a day. More would not fit into a time.Duration.
const maxTimeout = 24 * 60 * 60 * 1000

// timeout is the time that the caller waits; 0 for one that did not say it.
func (inv *invocation) timeout() time.Duration {
	var ms int64
	switch v := inv.attachments["timeout"].(type) {
	case string:
		ms, _ = strconv.ParseInt(v, 10, 64)
	case int32:
		ms = int64(v)
	case int64:
		ms = v
	}
	return time.Duration(min(max(ms, 0), maxTimeout)) * time.Millisecond
}

// appendException appends the exception that an error is for Java.
func appendException(dst []byte, m *mapping, inv *invocation, err error) []byte {
	x := exceptionOf(m, err)
	if inv.generic {
		x = genericException(x)
	}
	before := appendKind(dst, replyException, inv.answersAttachments)
	out, failed := hessian.Codec.Append(before, x)
	if failed != nil { // a field of an exception that the handler made
		out, _ = hessian.Codec.Append(before, &hessian.Exception{Class: runtimeException, Message: "the exception " + x.Class + " cannot be written"})
	}
	return out
}
