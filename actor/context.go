package actor

import "context"

// lifetime is the context of a process, which ends with it.
type lifetime struct {
	context.Context
	cancel context.CancelCauseFunc
}

// Context returns a context that ends when the process does, for work that its callbacks start and calls that they make. While
// a call is handled whose caller gave a context, it also carries that one's values, such as its trace, and ends with it or when
// the handler has returned; if the call is answered later, it does not end then. That of a process whose Init still runs ends when its
// system stops. You may use it in any goroutine.
func (p *Process) Context() context.Context {
	p.entry.mu.Lock()
	m := p.entry.ensureRare()
	if m.context == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		if p.entry.signals.Load()&sigKilled != 0 {
			cancel(ErrKilled) // Kill came before, and found none to end
		} else if p.entry.phase == initializing && !p.system.running() {
			cancel(ErrShutdown) // as Stop does with those that it finds
		}
		m.context = &lifetime{ctx, cancel}
	}
	own := m.context
	p.entry.mu.Unlock()
	if p.current != nil {
		if c, ok := p.current.body.(callBody); ok && c.context() != nil {
			if p.called == nil {
				p.called, p.release = inCall(c.context(), own)
			}
			return p.called
		}
	}
	return own
}

// inCall derives a context from the caller's that also ends with the process. Both may exist for long, so call release when
// possible.
func inCall(ctx context.Context, own *lifetime) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(own, func() { cancel(context.Cause(own)) })
	context.AfterFunc(ctx, func() { stop() })
	return ctx, func() { cancel(context.Canceled) }
}
