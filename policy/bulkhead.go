package policy

import (
	"cmp"
	"container/list"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/signal"
)

// Bulkhead lets at most MaxCalls calls of an action run at once, so that a slow action cannot take all that the
// process has. Further calls wait in a queue, first come first served; when the queue is full, or a call has waited for
// MaxWait, it is answered with BulkheadFull (code ResourceExhausted, retryable) and the signal
// "bulkhead.rejected" is sent. A caller that stops waiting leaves the queue.
//
// Given to a handler of events or a consumer of a channel, it bounds the events that this handler handles at once, in the same way: the emitter waits for its turn.
// An event without one is lost to this handler, which the log says; a message of a channel comes again.
//
// A call counts until its handler returned. Put [Timeout] outside, before it in the list: inside, a handler that
// outlives its time limit would no longer count while it still runs.
type Bulkhead struct {
	// MaxCalls bounds the calls that run at once: at least 1. It has no default.
	MaxCalls int
	// MaxQueue bounds the calls that wait. Default: 0, no call waits.
	MaxQueue int
	// MaxWait bounds how long a call waits for its turn. Default: 1 s.
	MaxWait time.Duration
}

// Middleware makes the middleware.
func (c Bulkhead) Middleware() sabir.Middleware {
	s := settings{name: "Bulkhead"}
	s.want(c.MaxCalls >= 1 && c.MaxCalls < waiting, "MaxCalls is %d: want at least 1 call at once", c.MaxCalls)
	s.want(c.MaxQueue >= 0, "MaxQueue is %d: want 0 or more", c.MaxQueue)
	s.want(c.MaxWait >= 0, "MaxWait is %v: want a positive time", c.MaxWait)
	c.MaxWait = cmp.Or(c.MaxWait, time.Second)
	m := s.middleware(func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		b := &compartment{Bulkhead: &c, what: "a call of " + a.Name, node: a.Node, rejected: func() { a.Signal(signal.BulkheadRejected) }}
		return func(ctx context.Context, r *sabir.Request) error {
			if !b.enterFree() {
				if err := b.enter(ctx); err != nil {
					return err
				}
			}
			defer b.leave()
			return next(ctx, r)
		}
	})
	m.Subscription = s.subscription(func(sub *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
		b := &compartment{Bulkhead: &c, what: "an event for " + sub.Pattern + " in " + sub.Service, rejected: func() {}}
		return func(ctx context.Context, e *sabir.Event) error {
			if !b.enterFree() {
				if err := b.enter(ctx); err != nil {
					return err
				}
			}
			defer b.leave()
			return next(ctx, e)
		}
	})
	return m
}

// compartment is the bulkhead of one action or one handler of events. While no call waits, entering and leaving take one atomic operation each. While a
// call waits, the flag waiting is set and everything goes through the mutex, so that no call overtakes the queue.
type compartment struct {
	*Bulkhead
	what     string // is kept out, for errors
	node     string
	rejected func()       // sends the signal
	running  atomic.Int32 // calls that run, plus the flag waiting
	mu       sync.Mutex
	waiters  list.List // of *waiter
}

// waiting is the flag in compartment.running. It changes only under mu.
const waiting = 1 << 30

// waiter is a call in the queue.
type waiter struct{ turn chan struct{} } // closed when it is its turn

// enterFree takes a place if one is free and no call waits.
func (b *compartment) enterFree() bool {
	for {
		n := b.running.Load()
		if int(n) >= b.MaxCalls { // so with the flag too
			return false
		}
		if b.running.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave gives the place to the first in the queue, or back.
func (b *compartment) leave() {
	for {
		n := b.running.Load()
		if n >= waiting {
			break
		}
		if b.running.CompareAndSwap(n, n-1) {
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	first := b.waiters.Front()
	if first == nil { // the last one left the queue meanwhile, and took the flag down
		b.running.Add(-1)
		return
	}
	b.remove(first)
	close(first.Value.(*waiter).turn)
}

// remove takes a waiter out of the queue. It runs under mu.
func (b *compartment) remove(e *list.Element) {
	b.waiters.Remove(e)
	if b.waiters.Len() == 0 {
		b.running.Add(-waiting)
	}
}

// enter waits for a place.
func (b *compartment) enter(ctx context.Context) error {
	e, err := b.join()
	if e == nil {
		return err
	}
	w := e.Value.(*waiter)
	timer := time.NewTimer(b.MaxWait)
	defer timer.Stop()
	select {
	case <-w.turn:
		return b.stillWanted(ctx)
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = b.full(fmt.Sprintf("waited %v for its turn", b.MaxWait))
	}
	b.mu.Lock()
	select {
	case <-w.turn: // it came at the last moment
		b.mu.Unlock()
		return b.stillWanted(ctx)
	default:
		b.remove(e)
	}
	b.mu.Unlock()
	if ctx.Err() == nil {
		b.rejected()
	}
	return err
}

// stillWanted gives the place back if the caller has gone while its turn came.
func (b *compartment) stillWanted(ctx context.Context) error {
	err := ctx.Err()
	if err != nil {
		b.leave()
	}
	return err
}

// join queues up. It returns nil and nil when a place was free after all.
func (b *compartment) join() (*list.Element, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.waiters.Len() == 0 {
		if b.enterFree() {
			return nil, nil
		}
		if b.MaxQueue == 0 {
			break
		}
		// The flag goes up only while all places are taken, so that a call inside will see it when leaving.
		if n := b.running.Load(); int(n) >= b.MaxCalls && b.running.CompareAndSwap(n, n|waiting) {
			return b.waiters.PushBack(&waiter{make(chan struct{})}), nil
		}
	}
	if b.waiters.Len() >= b.MaxQueue {
		b.rejected()
		return nil, b.full(fmt.Sprintf("found %d calls running and %d waiting", b.MaxCalls, b.waiters.Len()))
	}
	return b.waiters.PushBack(&waiter{make(chan struct{})}), nil
}

func (b *compartment) full(why string) error {
	return &sabir.Error{Code: sabir.CodeResourceExhausted, Name: errname.BulkheadFull, Retryable: true, Node: b.node,
		Message: b.what + " " + why + "; the bulkhead is full"}
}
