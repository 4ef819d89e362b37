package sabir

import (
	"context"
	"sync"
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
	worker   *worker
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
	t := &timedCall{limit: deadlineContext{Context: ctx, deadline: time.Now().Add(limit)}}
	t.call = callContext{Context: &t.limit, step: c.step, parent: c.parent, level: c.level, guard: c.guard}
	defer t.limit.end()
	if c.step.inline {
		return next(&t.call, r)
	}
	t.call.guard = &t.watch
	t.watch.call, t.watch.deadline = &t.call, t.limit.deadline
	return t.watch.run(r, next, limit, ctx.Done())
}

// guarded runs next for a caller whose own context has the deadline.
func (r *Request) guarded(c *callContext, deadline time.Time, next Handler) error {
	c.guard = &guard{call: c, deadline: deadline}
	return c.guard.run(r, next, 0, c.Done())
}

// run hands a fork of r to a worker and waits. A limit of 0 leaves the time to canceled.
func (g *guard) run(r *Request, next Handler, limit time.Duration, canceled <-chan struct{}) error {
	s := g.call.step
	if s.abandoned.Load() >= maxAbandoned {
		return &Error{Code: ResourceExhausted, Name: nameAbandoned, Node: s.node.id, Retryable: true,
			Message: itoa(maxAbandoned) + " handlers of " + s.name + " are still running past their deadlines"}
	}
	w := s.node.workers.take()
	g.worker, g.fork, g.next = w, r.typed.fork(), next
	if limit > 0 {
		w.arm(g, limit)
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
	timerStopped := limit == 0 || w.timer.Stop()
	if g.state.Load() == guardAnswered {
		r.typed.adopt(g.fork)
		s.node.workers.put(w, timerStopped)
	}
	return err
}

// abandon answers the caller with err unless it has its answer.
func (g *guard) abandon(err error) {
	if g.state.CompareAndSwap(guardRunning, guardAbandoned) {
		g.call.step.abandoned.Add(1)
		g.worker.done <- err
	}
}

// work runs on the worker and tells whether the worker can be used again.
func (g *guard) work() (again bool) {
	returned := false
	defer func() {
		if !returned { // the handler ended the goroutine (runtime.Goexit), so this worker is lost
			g.abandon(&Error{Code: Internal, Name: namePanic, Node: g.call.step.node.id, Message: g.call.step.name + " ended its goroutine"})
			g.call.step.abandoned.Add(-1)
		}
	}()
	err := g.fork.attempt(g.call, g.next)
	returned = true
	if g.state.CompareAndSwap(guardRunning, guardAnswered) {
		g.worker.done <- err
		return true
	}
	g.call.step.abandoned.Add(-1)
	return false
}

// worker is a goroutine that runs guarded calls one after the other.
type worker struct {
	wake  chan *guard
	done  chan error // of room 1, written once per call: never blocks
	timer *time.Timer
	timed *guard // whose limit the timer is set to
	next  *worker
}

func (w *worker) arm(g *guard, limit time.Duration) {
	w.timed = g
	if w.timer == nil {
		w.timer = time.AfterFunc(limit, w.expire)
		return
	}
	w.timer.Reset(limit)
}

func (w *worker) expire() {
	g := w.timed
	g.abandon(g.call.step.gaveUp(context.DeadlineExceeded))
}

// loop ends when the worker is closed or its call was abandoned: such a worker's timer and channel may be in any state.
func (w *worker) loop() {
	for g := range w.wake {
		if !g.work() {
			return
		}
	}
}

// workers is the idle ones of a node, last in first out.
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

func (p *workers) put(w *worker, reusable bool) {
	p.mu.Lock()
	keep := reusable && !p.closed && p.count < maxIdleWorkers
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

// deadlineContext is a context with a deadline that costs no timer until somebody asks for Done.
type deadlineContext struct {
	context.Context // the parent
	deadline        time.Time
	mu              sync.Mutex
	timed           context.Context // a standard one, made when Done is first asked for
	cancel          context.CancelFunc
	ended           bool
}

func (d *deadlineContext) Deadline() (time.Time, bool) {
	if outer, ok := d.Context.Deadline(); ok && outer.Before(d.deadline) {
		return outer, true
	}
	return d.deadline, true
}

func (d *deadlineContext) Done() <-chan struct{} { return d.standard().Done() }

func (d *deadlineContext) Err() error {
	d.mu.Lock()
	timed, ended := d.timed, d.ended
	d.mu.Unlock()
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
	d.mu.Lock()
	timed := d.timed
	d.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}

func (d *deadlineContext) standard() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed, d.cancel = context.WithDeadline(d.Context, d.deadline)
		if d.ended {
			d.cancel()
		}
	}
	return d.timed
}

// end releases what the context holds; whoever still uses it finds it cancelled.
func (d *deadlineContext) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.cancel != nil {
		d.cancel()
	}
}
