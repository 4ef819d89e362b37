package actor

import "context"

// lifetime is the context of a process: it ends with it.
type lifetime struct {
	context.Context
	cancel context.CancelCauseFunc
}

// Context ends when the process does, for work that its callbacks start and calls that they make. Where a call is handled
// whose caller gave a context, it carries that one's values too, such as its trace, and ends with it, or when the handler
// has returned; but not then where the call is answered later. It may be used by any goroutine.
func (p *Process) Context() context.Context {
	p.slot.mu.Lock()
	m := p.slot.rarely()
	if m.context == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		if p.slot.signals.Load()&sigKilled != 0 {
			cancel(ErrKilled) // Kill came before, and found none to end
		}
		m.context = &lifetime{ctx, cancel}
	}
	own := m.context
	p.slot.mu.Unlock()
	if p.current != nil {
		if c, ok := p.current.body.(asked); ok && c.context() != nil {
			if p.called == nil {
				p.called, p.release = inCall(c.context(), own)
			}
			return p.called
		}
	}
	return own
}

// inCall is the caller's context, which ends with the process too. Both may live for long, so release must be called if at
// all possible.
func inCall(ctx context.Context, own *lifetime) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(own, func() { cancel(context.Cause(own)) })
	context.AfterFunc(ctx, func() { stop() })
	return ctx, func() { cancel(context.Canceled) }
}
