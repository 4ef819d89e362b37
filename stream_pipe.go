package sabir

import (
	"context"
	"io"
	"sync/atomic"
)

// pipe joins the two ends of a stream within a process.
type pipe struct {
	handler *streamHandler
	ctx     context.Context
	cancel  context.CancelFunc
	up      streamQueue   // caller to handler
	upDone  chan struct{} // closed when the caller has sent its last
	down    streamQueue   // handler to caller
	ended   chan struct{} // closed when the handler has returned
	err     error         // what it returned; read after ended
	slow    atomic.Bool   // it was ended by tooSlow
}

// gone is the error of an end whose context has ended.
func (p *pipe) gone() error {
	n := p.handler.op.node
	switch {
	case p.slow.Load():
		return n.streamTooSlow(p.handler.action.Name)
	case n.ended.Err() != nil:
		return &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: n.id, Message: "the stream of " + p.handler.action.Name + " ended: node " + n.id + " has stopped"}
	}
	return p.handler.op.contextError(p.ctx.Err())
}

func (p *pipe) handlerRecv(to any) error {
	if !p.up.take(to, p.ctx.Done(), p.upDone) {
		if p.ctx.Err() != nil {
			return p.gone()
		}
		if !p.up.takeWaiting(to) { // sent before the end
			return io.EOF
		}
	}
	return p.handler.check(to)
}

func (p *pipe) handlerSend(from any) error {
	if p.ctx.Err() != nil || !p.down.put(from, p.ctx.Done(), nil) {
		return p.gone()
	}
	return nil
}

func (p *pipe) callerRecv(to any) error {
	if p.down.takeWaiting(to) || p.down.take(to, p.ctx.Done(), p.ended) {
		return nil
	}
	select {
	case <-p.ended: // also where the context has ended for that: its reason counts
	default:
		return p.gone()
	}
	if p.down.takeWaiting(to) { // sent before the end
		return nil
	}
	p.down.close()
	if p.err != nil {
		return p.err
	}
	return io.EOF
}

func (p *pipe) callerSend(from any) error {
	select {
	case <-p.upDone: // the caller's mistake, also where the handler has ended since
		return &Error{Code: CodeFailedPrecondition, Name: nameStreamEnded, Message: "Send after CloseSend on a stream of " + p.handler.action.Name}
	default:
	}
	select {
	case <-p.ended:
		return io.EOF
	default:
	}
	if p.up.put(from, p.ctx.Done(), p.ended) {
		return nil
	}
	select {
	case <-p.ended: // the end is why
		return io.EOF
	default:
		return p.gone()
	}
}

// abandon ends the stream for the caller and drops what it has sent. A handler that ignores the end of its context would
// otherwise keep those values for as long as it runs.
func (p *pipe) abandon() {
	p.cancel()
	p.up.drop()
	p.down.close()
}

// tooSlow ends the stream, since its receiver takes nothing while the node has too much that waits.
func (p *pipe) tooSlow() {
	p.slow.Store(true)
	p.abandon()
	p.down.drop()
}
