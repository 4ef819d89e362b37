package sabir

import (
	"context"
	"io"
	"sync/atomic"
)

// pipe joins the two ends of a stream within a process.
type pipe[In, Out any] struct {
	handler *streamHandler[In, Out]
	ctx     context.Context
	cancel  context.CancelFunc
	up      streamQueue[In]  // caller to handler
	upDone  chan struct{}    // closed when the caller has sent its last
	down    streamQueue[Out] // handler to caller
	ended   chan struct{}    // closed when the handler has returned
	err     error            // what it returned; read after ended
	slow    atomic.Bool      // it was ended by tooSlow
}

// gone is the error of an end whose context has ended.
func (p *pipe[In, Out]) gone() error {
	n := p.handler.op.node
	switch {
	case p.slow.Load():
		return n.streamTooSlow(p.handler.action.Name)
	case n.ended.Err() != nil:
		return &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: n.id, Message: "the stream of " + p.handler.action.Name + " ended: node " + n.id + " has stopped"}
	}
	return p.handler.op.contextError(p.ctx.Err())
}

func (p *pipe[In, Out]) handlerRecv() (in In, err error) {
	select {
	case v := <-p.up.values:
		in = p.up.took(v)
	case <-p.ctx.Done():
		return in, p.gone()
	case <-p.upDone:
		select {
		case v := <-p.up.values: // sent before the end
			in = p.up.took(v)
		default:
			return in, io.EOF
		}
	}
	if p.handler.plan == nil {
		return in, nil
	}
	if err := checkRules(p.handler.plan, p.handler.action, &in); err != nil {
		return in, err
	}
	return in, nil
}

func (p *pipe[In, Out]) handlerSend(out Out) error {
	if p.ctx.Err() != nil {
		return p.gone()
	}
	if !p.down.put(out, p.ctx.Done(), nil) {
		return p.gone()
	}
	return nil
}

func (p *pipe[In, Out]) callerRecv() (out Out, err error) {
	select {
	case v := <-p.down.values:
		return p.down.took(v), nil
	default:
	}
	select {
	case v := <-p.down.values:
		return p.down.took(v), nil
	case <-p.ended:
		select {
		case v := <-p.down.values: // sent before the end
			return p.down.took(v), nil
		default:
		}
		p.down.window.Close()
		if p.err != nil {
			return out, p.err
		}
		return out, io.EOF
	case <-p.ctx.Done():
		select {
		case <-p.ended: // the end is why: its reason counts
			return p.callerRecv()
		default:
			return out, p.gone()
		}
	}
}

func (p *pipe[In, Out]) callerSend(in In) error {
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
	if p.up.put(in, p.ctx.Done(), p.ended) {
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
func (p *pipe[In, Out]) abandon() {
	p.cancel()
	p.up.drop()
	p.down.window.Close()
}

// tooSlow ends the stream, since its receiver takes nothing while the node has too much that waits.
func (p *pipe[In, Out]) tooSlow() {
	p.slow.Store(true)
	p.abandon()
	p.down.drop()
}
