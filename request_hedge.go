package sabir

import (
	"context"
	"sync"
	"time"
)

// Hedge runs next, and where that has not ended after a while, runs it a second time beside it, with a copy of the request that goes to
// another node: for policy.Hedge, and middlewares like it. The first answer is the call's, and the context of the other attempt ends.
// An error of the first attempt is the call's unless the copy answers, which is waited for; an error of the copy is nobody's.
//
// When the time is over, allow is asked whether there may be a copy; it runs on another goroutine. There is none where the call
// names its node, and where no other node offers the action. again prepares the context of the copy.
func (r *Request) Hedge(ctx context.Context, after time.Duration, allow func() bool, again func(context.Context) context.Context, next Handler) error {
	a, remote := r.action.endpoint.(*remoteAction)
	if !remote || r.options.node != "" {
		return next(ctx, r)
	}
	if offers := a.providers.Load(); offers == nil || len(offers.nodes) < 2 {
		return next(ctx, r)
	}
	made := r.typed.(roundTripper).made()
	if made.tried == nil {
		made.tried = &triedNodes{}
	}
	made.shared = true
	h := &hedge{fork: r.typed.fork(), next: next, ended: make(chan struct{})}
	copied := h.fork.typed.(roundTripper).made()
	copied.strict, copied.counted = true, true
	ctx, h.cancelFirst = context.WithCancel(ctx)
	defer h.cancelFirst()
	timer := time.AfterFunc(after, func() { h.second(ctx, allow, again) })
	defer timer.Stop() // where next panics
	err := next(ctx, r)
	if timer.Stop() { // the usual end: there was no copy, and will be none
		r.typed.drop(h.fork)
		return err
	}
	if err == nil {
		h.mu.Lock()
		h.over = true // the copy, whose context ends now, gives its fork up
		h.mu.Unlock()
		return nil
	}
	<-h.ended
	if h.answered {
		r.typed.adopt(h.fork)
		return nil
	}
	return err
}

// hedge is a call with a copy beside it.
type hedge struct {
	fork        *Request
	next        Handler
	cancelFirst context.CancelFunc
	ended       chan struct{} // closed when the copy has ended, or will not begin
	answered    bool          // by the copy; read after ended

	mu   sync.Mutex
	over bool // the first attempt has answered
}

// second runs the copy. ctx is that of the first attempt, and ends when either has answered.
func (h *hedge) second(ctx context.Context, allow func() bool, again func(context.Context) context.Context) {
	defer close(h.ended)
	if ctx.Err() != nil || !h.allowed(allow) {
		return
	}
	err := h.fork.attempt(again(ctx), h.next)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.over:
		h.fork.typed.drop(h.fork)
	case err == nil:
		h.answered = true
		h.cancelFirst()
	}
}

// allowed asks allow. One that panics allows nothing, and is logged.
func (h *hedge) allowed(allow func() bool) (ok bool) {
	ask := func(context.Context) error {
		ok = allow()
		return nil
	}
	if h.fork.action.node.isolated("the copy of a call of "+h.fork.action.Name, background, ask) != nil {
		return false
	}
	return ok
}
