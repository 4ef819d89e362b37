package sabir

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// guard answers a caller at its deadline although the handler still runs. A Go function cannot be stopped from outside, so a
// call with a deadline runs on a worker goroutine, which is used again for other calls, while its caller waits for whichever
// comes first: the output, the deadline, the caller's cancellation, or the failure of a goroutine that the call started with
// Go. A handler that runs on after that is abandoned: it has a fork of the request, so its late output touches nothing of
// the caller's.
//
// Calls nested in a guarded one run on its worker: one change of goroutines per request, not per call.
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

// maxAbandoned bounds, for each action, the handlers that still run after their callers were answered. While there are so
// many, further calls with a deadline fail at once instead of adding to them.
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
	n := c.op.node
	end := time.Since(n.epoch) + limit // half the price of time.Now
	t := &timedCall{limit: deadlineContext{Context: ctx, deadline: n.epoch.Add(end)}}
	t.call = callContext{Context: &t.limit, op: c.op, parent: c.parent, level: c.level, guard: c.guard, releasedAt: c.releasedAt}
	defer t.limit.end()
	if c.op.inline {
		return next(&t.call, r)
	}
	t.call.guard, t.call.releasedAt = &t.watch, &t.watch.deadline
	t.watch.call, t.watch.deadline = &t.call, t.limit.deadline
	return t.watch.run(r, next, end, ctx.Done())
}

// guarded runs next for a caller whose own context has the deadline.
func (r *Request) guarded(c *callContext, deadline time.Time, next Handler) error {
	c.guard = &guard{call: c, deadline: deadline}
	c.releasedAt = &c.guard.deadline
	return c.guard.run(r, next, 0, c.Done())
}

// guardedUntil is guarded for a context that ends at the deadline or with canceled, whichever comes first. It needs no timer of its own for
// each call.
func (r *Request) guardedUntil(c *callContext, deadline time.Time, canceled <-chan struct{}, next Handler) error {
	c.guard = &guard{call: c, deadline: deadline}
	c.releasedAt = &c.guard.deadline
	return c.guard.run(r, next, deadline.Sub(c.op.node.epoch), canceled)
}

// run hands a fork of r to a worker and waits. end is in time since the node's epoch; with 0 the deadline is that of the
// context, which ends canceled.
func (g *guard) run(r *Request, next Handler, end time.Duration, canceled <-chan struct{}) error {
	s := g.call.op
	if s.abandoned.Load() >= maxAbandoned {
		return &Error{Code: CodeResourceExhausted, Name: nameTooManyAbandoned, Node: s.node.id, Retryable: true,
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
			g.abandon(s.contextError(g.call.Err()))
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
	g.call.op.countAbandoned() // first, since the worker uncounts it as soon as it sees that the caller was answered
	if g.state.CompareAndSwap(guardRunning, guardAbandoned) {
		g.worker.done <- err
		return
	}
	g.call.op.uncountAbandoned() // the answer came meanwhile
}

// work runs on the worker, and reports whether the worker can be used again.
func (g *guard) work() (again bool) {
	// Under load a worker may get its turn when the caller has gone, or its time is over: there is nobody to work for.
	if err := g.call.Err(); err != nil {
		g.abandon(g.call.op.contextError(err))
	}
	if g.state.Load() != guardRunning {
		g.call.op.uncountAbandoned()
		return false
	}
	returned := false
	defer func() {
		if !returned { // the handler ended the goroutine (runtime.Goexit), so this worker is lost
			g.abandon(g.call.op.node.panicked(g.call, g.call.op.name, nil))
			g.call.op.uncountAbandoned()
		}
	}()
	err := g.fork.attempt(g.call, g.next)
	returned = true
	if g.state.CompareAndSwap(guardRunning, guardAnswered) {
		g.worker.done <- err
		return true
	}
	g.call.op.uncountAbandoned()
	return false
}

// worker is a goroutine that runs guarded calls, one after the other.
//
// Its timer is not stopped after each call and set for the next, which would cost more than all else here. It fires, and is
// then set again if the call that is watched by then has time left: about once per limit, not per call.
type worker struct {
	wake      chan *guard
	done      chan error // has a buffer of 1, written once per call: never blocks
	next      *worker
	watched   atomic.Pointer[guard] // the call under way; nil for none, or none that the timer is for
	firesAt   atomic.Int64          // when the timer goes off, in time since the node's epoch; 0 when it is not set
	timerLock sync.Mutex            // held to set the timer and firesAt
	timer     *time.Timer
}

// watch makes sure that the timer fires at the end of g or before.
func (w *worker) watch(g *guard, end time.Duration) {
	w.watched.Store(g) // before firesAt is read; timerFired does these two in the other order, so one of the two sees the other
	if rings := w.firesAt.Load(); rings == 0 || rings > int64(end) {
		w.timerLock.Lock()
		w.set(g, end)
		w.timerLock.Unlock()
	}
}

// set sets the timer. The caller holds timerLock.
func (w *worker) set(g *guard, end time.Duration) {
	left := max(time.Until(g.deadline), 1)
	w.firesAt.Store(int64(end))
	if w.timer == nil {
		w.timer = time.AfterFunc(left, w.timerFired)
	} else {
		w.timer.Reset(left)
	}
}

// timerFired answers the caller of the watched call if its time is over, else sets the timer again.
func (w *worker) timerFired() {
	w.timerLock.Lock()
	w.firesAt.Store(0)
	g := w.watched.Load()
	over := g != nil && time.Until(g.deadline) <= 0
	if g != nil && !over {
		w.set(g, g.deadline.Sub(g.call.op.node.epoch))
	}
	w.timerLock.Unlock()
	if over {
		g.abandon(g.call.op.contextError(context.DeadlineExceeded))
	}
}

// loop ends when the worker is closed, or when its call was abandoned.
func (w *worker) loop() {
	for g := range w.wake {
		if !g.work() {
			return
		}
	}
}

// workers holds the idle workers of a node, last in, first out.
type workers struct {
	mu     sync.Mutex
	idle   *worker
	count  int
	closed bool
}

// maxIdleWorkers bounds the goroutines kept for later calls (2 to 8 KiB each).
const maxIdleWorkers = 1024

func (p *workers) take() *worker {
	p.mu.Lock()
	w := p.idle
	if w != nil {
		p.idle = w.next
		p.count--
	}
	p.mu.Unlock()
	if w == nil {
		w = &worker{wake: make(chan *guard), done: make(chan error, 1)}
		go w.loop()
	}
	return w
}

func (p *workers) put(w *worker) {
	p.mu.Lock()
	keep := !p.closed && p.count < maxIdleWorkers
	if keep {
		w.next, p.idle = p.idle, w
		p.count++
	}
	p.mu.Unlock()
	if !keep {
		close(w.wake)
	}
}

// close ends the idle workers; busy ones end after their call.
func (p *workers) close() {
	p.mu.Lock()
	w := p.idle
	p.idle, p.count, p.closed = nil, 0, true
	p.mu.Unlock()
	for w != nil {
		next := w.next
		close(w.wake)
		w = next
	}
}

// deadlineContext is a context with a deadline that sets no timer until Done is called.
type deadlineContext struct {
	context.Context // the parent
	deadline        time.Time
	making          sync.Mutex
	timed           atomic.Pointer[timedContext] // made when Done is first asked for
	ended           atomic.Bool
}

// timedContext is a standard context and what ends it.
type timedContext struct {
	context.Context
	cancel context.CancelFunc
}

func (d *deadlineContext) Deadline() (time.Time, bool) {
	if outer, ok := d.Context.Deadline(); ok && outer.Before(d.deadline) {
		return outer, true
	}
	return d.deadline, true
}

func (d *deadlineContext) Done() <-chan struct{} { return d.standard().Done() }

func (d *deadlineContext) Err() error {
	ended := d.ended.Load()
	timed := d.timed.Load()
	switch {
	case timed != nil:
		return timed.Err()
	case d.Context.Err() != nil:
		return d.Context.Err()
	case !time.Now().Before(d.deadline):
		return context.DeadlineExceeded
	case ended:
		return context.Canceled
	}
	return nil
}

// Value answers from the standard context once there is one, so that contexts derived from this one attach to it without
// a goroutine.
func (d *deadlineContext) Value(key any) any {
	if timed := d.timed.Load(); timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}

// standard makes the standard context of Done, once.
func (d *deadlineContext) standard() context.Context {
	if timed := d.timed.Load(); timed != nil {
		return timed
	}
	d.making.Lock()
	defer d.making.Unlock()
	if timed := d.timed.Load(); timed != nil {
		return timed
	}
	timed := &timedContext{}
	timed.Context, timed.cancel = context.WithDeadline(d.Context, d.deadline)
	d.timed.Store(timed)
	if d.ended.Load() { // end reads these two the other way round, so one of the two releases it
		d.release(timed)
	}
	return timed
}

// end releases the resources of the context. Code that still uses the context finds it ended.
func (d *deadlineContext) end() {
	d.ended.Store(true)
	if timed := d.timed.Load(); timed != nil {
		d.release(timed)
	}
}

// release cancels a context whose deadline is yet to come. One whose deadline has passed ends by itself about now, and is
// left to report why: a handler that outlives its caller must see that it was the deadline.
func (d *deadlineContext) release(timed *timedContext) {
	if time.Now().Before(d.deadline) {
		timed.cancel()
	}
}
