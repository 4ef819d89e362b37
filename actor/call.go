package actor

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// Call asks a process and waits for its answer:
//
//	total, err := actor.Call[int](ctx, system, pid, Total{})
//
// It waits until ctx ends, or for CallTimeout where ctx has no deadline; the process may still handle the call after that,
// and what it answers is lost. While a process waits in a call it handles nothing else, and others are not held up. The
// error is the handler's own, or
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
	if s.crew.stepping != nil {
		s.stepCall(ctx, p, pid, messagesOf[In]().k.name, func() bool { return w.waits(turn) }, func(err error) { w.failed(turn, err) })
	}
	return w.wait(ctx, s, p, turn)
}

// call is a letter that somebody waits for the answer of.
type call[In any] struct {
	head    letter
	of      *messages[In]
	in      In
	request Request
	ctx     context.Context // the caller's; nil for one without anything
}

func (m *messages[In]) call(in In, r Request) *call[In] {
	c, ok := m.calls.Get().(*call[In])
	if !ok {
		c = &call[In]{of: m}
		c.head.body, c.head.lane, c.head.count, c.head.call = c, PriorityNormal, 1, true
	}
	c.in, c.request = in, r
	return c
}

func (c *call[In]) letter() *letter          { return &c.head }
func (c *call[In]) kind() *kind              { return &c.of.k }
func (c *call[In]) value(int) any            { return c.in }
func (c *call[In]) asks() Request            { return c.request }
func (c *call[In]) context() context.Context { return c.ctx }

func (c *call[In]) free() {
	var zero In
	c.in, c.request, c.ctx = zero, Request{}, nil
	h := &c.head
	h.next, h.from, h.at, h.count, h.lane, h.away = nil, PID{}, 0, 1, PriorityNormal, false
	c.of.calls.Put(c)
}

// asked is a *call[In].
type asked interface {
	asks() Request
	context() context.Context
}

// Request is a call that is to be answered later. It may be kept, copied and used by any goroutine.
type Request struct {
	to   answered
	turn uint64
}

// Zero tells whether there is nothing to answer.
func (r Request) Zero() bool { return r.to == nil }

// answered is who waits for an answer: a *waiter[Out], or somebody on another node.
type answered interface {
	failed(turn uint64, err error)
	// answered gets an answer whose type is not the one waited for, or not known to be.
	answered(turn uint64, out any)
}

// Request is the call that is being handled, to be answered later: keep it and return ErrLater. It is the zero Request
// where no call is handled.
func (p *Process) Request() Request {
	if p.current != nil {
		if c, ok := p.current.body.(asked); ok {
			return c.asks()
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

// ReplyError answers a call with an error.
func ReplyError(from Sender, r Request, err error) {
	if p := from.process(); p != nil {
		p.box.flushHeld()
	}
	r.fail(err)
}

// answerLater notes a call that was not answered yet: its caller is told when the process ends before it is. That it was
// answered is found out only where the notes would take more room.
func (p *Process) answerLater(r Request) {
	p.release = nil
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	m := p.slot.rarely()
	if len(m.later) == cap(m.later) {
		m.later = slices.DeleteFunc(m.later, func(r Request) bool { return !r.waits() })
		m.later = slices.Grow(m.later, len(m.later)+4)
	}
	m.later = append(m.later, r)
}

func (c *awayCall) waits(uint64) bool { return !c.answer.Load() }

// waits tells whether nobody has answered yet, as far as that is known here.
func (r Request) waits() bool {
	w, ok := r.to.(interface{ waits(turn uint64) bool })
	return ok && w.waits(r.turn)
}

func answer[Out any](p *Process, r Request, out Out) {
	if w, ok := r.to.(*waiter[Out]); ok {
		if w.claim(r.turn) {
			w.value = out
			w.done <- struct{}{}
		}
		return
	}
	if c, ok := r.to.(*awayCall); ok {
		answerAway(c, p, out)
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

// waiter is a call of this system that waits for an answer of type Out. It is used again and again; turn tells the calls
// apart, so that a late answer is never taken for another's.
type waiter[Out any] struct {
	turn  atomic.Uint64 // odd: somebody waits
	done  chan struct{}
	value Out
	err   error
	limit deadline
	pool  *sync.Pool
	away  atomic.Pointer[awaited] // of the call that went to another node last
}

// newWaiter takes a waiter of the system, not of the program: a channel that was made in a bubble of testing/synctest must
// not be used outside.
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
		p.leave()
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
		p.enter()
	}
	if !limited {
		s.deadlines.remove(&w.limit)
	}
	if a := w.away.Swap(nil); a != nil {
		a.giveUp()
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
