package sabir

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// worker is a goroutine that runs guarded calls one after the other.
//
// Its timer is not stopped after each call and set for the next, which would cost more than all else here. It is left to
// go off, and then set again if the call that is watched by then has time left: about once per limit, not per call.
type worker struct {
	wake    chan *guard
	done    chan error // of room 1, written once per call: never blocks
	next    *worker
	watched atomic.Pointer[guard] // the call under way; nil for none, or none that the timer is for
	rings   atomic.Int64          // when the timer goes off, in time since the node's epoch; 0 when it is not set
	setting sync.Mutex            // held to set the timer and rings
	timer   *time.Timer
}

// watch sees to it that the timer goes off at the end of g or before.
func (w *worker) watch(g *guard, end time.Duration) {
	w.watched.Store(g) // before rings is read; ring does these two the other way round, so one sees the other
	if rings := w.rings.Load(); rings == 0 || rings > int64(end) {
		w.setting.Lock()
		w.set(g, end)
		w.setting.Unlock()
	}
}

// set sets the timer. It runs under setting.
func (w *worker) set(g *guard, end time.Duration) {
	left := max(time.Until(g.deadline), 1)
	w.rings.Store(int64(end))
	if w.timer == nil {
		w.timer = time.AfterFunc(left, w.ring)
	} else {
		w.timer.Reset(left)
	}
}

// ring lets the caller go whose time is over, or waits on.
func (w *worker) ring() {
	w.setting.Lock()
	w.rings.Store(0)
	g := w.watched.Load()
	over := g != nil && time.Until(g.deadline) <= 0
	if g != nil && !over {
		w.set(g, g.deadline.Sub(g.call.step.node.epoch))
	}
	w.setting.Unlock()
	if over {
		g.abandon(g.call.step.gaveUp(context.DeadlineExceeded))
	}
}

// loop ends when the worker is closed or its call was abandoned.
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
