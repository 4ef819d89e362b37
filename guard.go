package sabir

import (
	"context"
	"sync/atomic"
	"time"
)

// guard lets a caller go at its deadline although the handler still runs. A Go function cannot be stopped from outside,
// so a call with a deadline runs on a worker goroutine, reused from call to call, while its caller waits for whichever
// comes first: the answer, the deadline, the caller's own cancellation, or the failure of a goroutine that the call
// started with Go. A handler that outlives its caller is abandoned: it works on a fork of the request, so its late
// answer touches nothing.
//
// Calls nested in a guarded one run on its worker: one hand-over per request, not per call.
type guard struct {
	call     *callContext
	deadline time.Time
	state    atomic.Int32
	worker   *worker // nil until it has one
	fork     *Request
	next     Handler
}

const (
	guardRunning   int32 = iota
	guardAnswered        // the worker's answer was first; the worker is free again
	guardAbandoned       // something else was first; the worker is still busy
)

// maxAbandoned bounds, for each action, the handlers that still run after their callers were let go. While so many are
// stuck, further calls with a deadline fail at once instead of adding to them.
const maxAbandoned = 1000

// timedCall is the context and the guard of a call with a time limit, in one allocation.
type timedCall struct {
	call  callContext
	limit deadlineContext
	watch guard
}

// Within runs next with a time limit: its context ends at the limit, and the caller is answered at the limit even if
// next does not return. Policies use it; a user of calls sets a deadline on the context instead. Actions declared
// Inline promise not to block, so for them only the context ends.
func (r *Request) Within(ctx context.Context, limit time.Duration, next Handler) error {
	c := callOf(ctx)
	n := c.step.node
	end := time.Since(n.epoch) + limit // half the price of time.Now
	t := &timedCall{limit: deadlineContext{Context: ctx, deadline: n.epoch.Add(end)}}
	t.call = callContext{Context: &t.limit, step: c.step, parent: c.parent, level: c.level, guard: c.guard, until: c.until}
	defer t.limit.end()
	if c.step.inline {
		return next(&t.call, r)
	}
	t.call.guard, t.call.until = &t.watch, &t.watch.deadline
	t.watch.call, t.watch.deadline = &t.call, t.limit.deadline
	return t.watch.run(r, next, end, ctx.Done())
}

// guarded runs next for a caller whose own context has the deadline.
func (r *Request) guarded(c *callContext, deadline time.Time, next Handler) error {
	c.guard = &guard{call: c, deadline: deadline}
	c.until = &c.guard.deadline
	return c.guard.run(r, next, 0, c.Done())
}

// run hands a fork of r to a worker and waits. The end is in time since the node's epoch; 0 leaves the time to canceled.
func (g *guard) run(r *Request, next Handler, end time.Duration, canceled <-chan struct{}) error {
	s := g.call.step
	if s.abandoned.Load() >= maxAbandoned {
		return &Error{Code: ResourceExhausted, Name: nameAbandoned, Node: s.node.id, Retryable: true,
			Message: itoa(maxAbandoned) + " handlers of " + s.name + " are still running past their deadlines"}
	}
	w := s.node.workers.take()
	g.worker, g.fork, g.next = w, r.typed.fork(), next
	if end > 0 {
		w.watch(g, end)
	}
	w.wake <- g
	var err error
	if canceled == nil {
		err = <-w.done
	} else {
		select {
		case err = <-w.done:
		case <-canceled:
			g.abandon(s.gaveUp(g.call.Err()))
			err = <-w.done // the answer may have come between the two
		}
	}
	if g.state.Load() == guardAnswered {
		r.typed.adopt(g.fork)
		if end > 0 {
			w.watched.Store(nil)
		}
		s.node.workers.put(w)
	}
	return err
}

// abandon answers the caller with err unless it has its answer.
func (g *guard) abandon(err error) {
	if g.state.Load() != guardRunning {
		return
	}
	g.call.step.leaveBehind() // first, since the worker takes it back as soon as it sees that the caller was let go
	if g.state.CompareAndSwap(guardRunning, guardAbandoned) {
		g.worker.done <- err
		return
	}
	g.call.step.catchUp() // the answer came meanwhile
}

// work runs on the worker and tells whether the worker can be used again.
func (g *guard) work() (again bool) {
	returned := false
	defer func() {
		if !returned { // the handler ended the goroutine (runtime.Goexit), so this worker is lost
			g.abandon(&Error{Code: Internal, Name: namePanic, Node: g.call.step.node.id, Message: g.call.step.name + " ended its goroutine"})
			g.call.step.catchUp()
		}
	}()
	err := g.fork.attempt(g.call, g.next)
	returned = true
	if g.state.CompareAndSwap(guardRunning, guardAnswered) {
		g.worker.done <- err
		return true
	}
	g.call.step.catchUp()
	return false
}
