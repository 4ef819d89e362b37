package actor

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir"
)

// Call asks a process and waits for its answer:
//
//	total, err := actor.Call[int](ctx, system, pid, Total{})
//
// Where the state of the process is known, Ask has both types checked by the compiler.
//
// It waits until ctx ends, or for 5 s where ctx has no deadline. The process does not handle a call that it has not begun by
// then; the answer to one that it has is lost. While a process waits in a call it handles nothing else, and others are not held up; one
// that calls itself gets ErrCallTimeout at once. The error is the handler's own, or
//
//   - ErrNoProcess when the process is not there or ended before it answered, ErrNoConnection when its node is not reached
//     or was lost;
//   - ErrMailboxFull, ErrNotHandled, ErrCallTimeout, or that of ctx.
func Call[Out, In any, A Address](ctx context.Context, from Sender, to A, in In) (Out, error) {
	s, p := from.in(), from.process()
	var zero Out
	pid, err := resolve(s, to)
	if err != nil {
		return zero, err
	}
	if p != nil && p.pid == pid {
		return zero, fmt.Errorf("%w: %s calls itself, and handles nothing while it waits", ErrCallTimeout, pid)
	}
	w, turn := newWaiter[Out](s)
	c := messagesOf[In]().call(in, Request{to: w, turn: turn})
	if ctx != context.Background() {
		c.ctx = ctx
	}
	if p != nil {
		c.head.from = p.pid
		p.box.flush()
	}
	if err := s.push(pid, &c.head, p); err != nil {
		w.failed(turn, err)
	}
	if s.scheduler.stepping != nil {
		s.scheduler.stepping.call(ctx, p, pid, messagesOf[In]().k.name, func() bool { return w.waits(turn) }, func(err error) { w.failed(turn, err) })
	}
	out, err := w.wait(ctx, s, p, turn)
	if err != nil && err == ctx.Err() {
		err = fmt.Errorf("actor: call of %s: %w", pid, err)
	}
	return out, err
}

// call is the body of an envelope with a call: In goes to the process, the reply to request.
type call[In any] struct {
	head    envelope
	of      *messages[In]
	in      In
	request Request
	ctx     context.Context // the caller's; nil for context.Background
}

func (m *messages[In]) call(in In, r Request) *call[In] {
	c, ok := m.calls.Get().(*call[In])
	if !ok {
		c = &call[In]{of: m}
		c.head.body, c.head.priority, c.head.count, c.head.call = c, PriorityNormal, 1, true
	}
	c.in, c.request = in, r
	return c
}

func (c *call[In]) envelope() *envelope      { return &c.head }
func (c *call[In]) kind() *kind              { return &c.of.k }
func (c *call[In]) value(int) any            { return c.in }
func (c *call[In]) values() int              { return 1 }
func (c *call[In]) pointer(int) any          { return &c.in }
func (c *call[In]) replyTo() Request         { return c.request }
func (c *call[In]) context() context.Context { return c.ctx }

func (m *messages[In]) emptyCall(r Request, ctx context.Context) outgoing {
	var none In
	c := m.call(none, r)
	c.ctx = ctx
	return c
}

func (c *call[In]) free() {
	var zero In
	c.in, c.request, c.ctx = zero, Request{}, nil
	h := &c.head
	h.release()
	h.next, h.from, h.at, h.count, h.priority, h.remote = nil, PID{}, 0, 1, PriorityNormal, false
	c.of.calls.Put(c)
}

// callBody is implemented by *call[In] for every In.
type callBody interface {
	replyTo() Request
	context() context.Context
}

// Request is a call that will be answered later. You may keep, copy and use it in any goroutine.
type Request struct {
	to   replyTarget
	turn uint64
}

// Zero reports whether there is nothing to answer.
func (r Request) Zero() bool { return r.to == nil }

// replyTarget receives the reply to a call: a *waiter[Out] of this system, a *remoteCall of another node.
type replyTarget interface {
	failed(turn uint64, err error)
	// answered completes the call with a value whose type is not known to be the one waited for.
	answered(turn uint64, out any)
	// waits reports whether the call is still open, as far as this node knows.
	waits(turn uint64) bool
}

// Request is the call that is being handled, to be answered later: keep it and return ErrNoReply. It is the zero Request
// where no call is handled.
func (p *Process) Request() Request {
	if p.current != nil {
		if c, ok := p.current.body.(callBody); ok {
			return c.replyTo()
		}
	}
	return Request{}
}

// Reply answers a call. Only the first answer counts, and only if the caller still waits; a caller that does not is
// nothing to worry about.
func Reply[Out any](from Sender, r Request, out Out) {
	p := from.process()
	if p != nil {
		p.box.flushHeld()
	}
	answer(p, r, out)
}

// Fail answers the call with an error. As with Reply, only the first answer counts.
func (r Request) Fail(from Sender, err error) {
	if p := from.process(); p != nil {
		p.box.flushHeld()
	}
	r.fail(err)
}

// answerLater registers a call that has not been answered yet, so that it fails if the process ends before. Answered calls are
// removed only when the list would have to grow.
func (p *Process) answerLater(r Request) {
	p.release = nil
	p.entry.mu.Lock()
	defer p.entry.mu.Unlock()
	m := p.entry.ensureRare()
	if len(m.later) == cap(m.later) {
		m.later = slices.DeleteFunc(m.later, func(r Request) bool { return !r.waits() })
		m.later = slices.Grow(m.later, len(m.later)+4)
	}
	m.later = append(m.later, r)
}

func (c *remoteCall) waits(uint64) bool { return !c.answer.Load() }

// waits reports whether the call is still open, as far as this node knows.
func (r Request) waits() bool { return r.to != nil && r.to.waits(r.turn) }

// callEnded reports whether nobody waits any more for the answer of the call in an envelope. Where its time is over before its caller
// has noticed, it fails here.
func callEnded(l *envelope) bool {
	c := l.body.(callBody)
	r := c.replyTo()
	if r.to != nil && !r.waits() {
		return true
	}
	if ctx := c.context(); ctx != nil && ctx.Err() != nil {
		r.fail(ctx.Err())
		return true
	}
	return false
}

func answer[Out any](p *Process, r Request, out Out) {
	if w, ok := r.to.(*waiter[Out]); ok {
		if w.claim(r.turn) {
			w.value = out
			w.done <- struct{}{}
		}
		return
	}
	if c, ok := r.to.(*remoteCall); ok {
		replyRemote(c, p, out)
		return
	}
	if r.to != nil {
		r.to.answered(r.turn, out)
	}
}

func (r Request) fail(err error) {
	if r.to != nil {
		r.to.failed(r.turn, err)
	}
}

// waiter is a caller of this system that waits for an answer of type Out. It is used for many calls: turn distinguishes them, so
// that a late answer is never taken for that of another call.
type waiter[Out any] struct {
	turn   atomic.Uint64 // odd while a caller waits
	done   chan struct{}
	value  Out
	err    error
	limit  deadline
	pool   *sync.Pool
	remote atomic.Pointer[pendingReply] // set while the call is at another node
}

// newWaiter takes a waiter from a pool of the system. The pool is not global, because a channel made in a testing/synctest
// bubble must not be used outside it.
func newWaiter[Out any](s *System) (*waiter[Out], uint64) {
	var pool *sync.Pool
	t := reflect.TypeFor[Out]()
	if known, ok := s.waiters.Load(t); ok {
		pool = known.(*sync.Pool)
	} else {
		known, _ := s.waiters.LoadOrStore(t, &sync.Pool{})
		pool = known.(*sync.Pool)
	}
	w, ok := pool.Get().(*waiter[Out])
	if !ok {
		w = &waiter[Out]{pool: pool, done: make(chan struct{}, 1)}
		w.limit.of = w
	}
	return w, w.turn.Add(1)
}

func (w *waiter[Out]) waits(turn uint64) bool { return w.turn.Load() == turn }

func (w *waiter[Out]) claim(turn uint64) bool { return w.turn.CompareAndSwap(turn, turn+1) }

// wait waits for the answer and gives the waiter back.
func (w *waiter[Out]) wait(ctx context.Context, s *System, p *Process, turn uint64) (Out, error) {
	_, limited := ctx.Deadline()
	if !limited {
		s.deadlines.add(&w.limit, turn)
	}
	if p != nil {
		p.beginBlocking()
	}
	if ended := ctx.Done(); ended == nil {
		<-w.done
	} else {
		select {
		case <-w.done:
		case <-ended:
			w.failed(turn, ctx.Err()) // unless it was answered just now
			<-w.done
		}
	}
	if p != nil {
		p.endBlocking()
	}
	if !limited {
		s.deadlines.remove(&w.limit)
	}
	if a := w.remote.Swap(nil); a != nil {
		a.cancel()
	}
	out, err := w.value, w.err
	var zero Out
	w.value, w.err = zero, nil
	w.pool.Put(w)
	return out, err
}

func (w *waiter[Out]) failed(turn uint64, err error) {
	if w.claim(turn) {
		w.err = err
		w.done <- struct{}{}
	}
}

func (w *waiter[Out]) answered(turn uint64, out any) {
	if value, ok := out.(Out); ok {
		if w.claim(turn) {
			w.value = value
			w.done <- struct{}{}
		}
		return
	}
	w.failed(turn, fmt.Errorf("%w: the process answers with %T, not with %s", ErrNotHandled, out, reflect.TypeFor[Out]()))
}

func (w *waiter[Out]) expired(turn uint64) { w.failed(turn, ErrCallTimeout) }

// ServeAction gives a service an action that a process answers. The call's context goes along, with its deadline, metadata,
// request id and trace, and the process's errors are the caller's:
//
//	orders := sabir.NewService("orders")
//	actor.ServeAction[Place, Receipt](orders, "place", system, actor.Name{Name: "orders"})
//
// A process calls services by its node, with its own context: sabir.Call[User](p.Context(), p.Node(), "users.get", id).
// Calls of an action wait for the process one after another; where several processes should share them, let the address be
// that of a pool.
func ServeAction[In, Out any, A Address](service *sabir.Service, name string, s *System, to A, options ...sabir.ActionOption) {
	sabir.Handle(service, name, func(ctx context.Context, in In) (Out, error) {
		return Call[Out](ctx, s, to, in)
	}, options...)
}
