package sabir

import (
	"context"
	"io"
)

// pipe joins the two ends of a stream within a process.
type pipe[In, Out any] struct {
	handler *streamHandler[In, Out]
	ctx     context.Context
	cancel  context.CancelFunc
	up      chan In       // caller to handler
	upDone  chan struct{} // closed when the caller has sent its last
	down    chan Out      // handler to caller
	ended   chan struct{} // closed when the handler has returned
	err     error         // what it returned; read after ended
}

func (p *pipe[In, Out]) handlerRecv() (in In, err error) {
	select {
	case in = <-p.up:
	case <-p.ctx.Done():
		return in, p.handler.op.contextError(p.ctx.Err())
	case <-p.upDone:
		select {
		case in = <-p.up: // sent before the end
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
	if err := p.ctx.Err(); err != nil {
		return p.handler.op.contextError(err)
	}
	select {
	case p.down <- out:
		return nil
	case <-p.ctx.Done():
		return p.handler.op.contextError(p.ctx.Err())
	}
}

func (p *pipe[In, Out]) callerRecv() (out Out, err error) {
	select {
	case out = <-p.down:
		return out, nil
	default:
	}
	select {
	case out = <-p.down:
		return out, nil
	case <-p.ended:
		select {
		case out = <-p.down: // sent before the end
			return out, nil
		default:
		}
		if p.err != nil {
			return out, p.err
		}
		return out, io.EOF
	case <-p.ctx.Done():
		select {
		case <-p.ended: // the end is why: its reason counts
			return p.callerRecv()
		default:
			return out, p.handler.op.contextError(p.ctx.Err())
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
	select {
	case p.up <- in:
		return nil
	case <-p.ended:
		return io.EOF
	case <-p.ctx.Done():
		select {
		case <-p.ended: // the end is why
			return io.EOF
		default:
			return p.handler.op.contextError(p.ctx.Err())
		}
	}
}

// abandon ends the stream for the caller and drops what it has sent. A handler that ignores the end of its context would
// otherwise keep those values for as long as it runs.
func (p *pipe[In, Out]) abandon() {
	p.cancel()
	for {
		select {
		case <-p.up:
		default:
			return
		}
	}
}
