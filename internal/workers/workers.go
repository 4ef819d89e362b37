// Package workers keeps goroutines for tasks that come one after the other:
//
//	var pool workers.Pool[task] // of a type with a method Run
//	pool.Run(one)
//	pool.End()
//
// A new goroutine for each task grows its stack anew, which may take longer than the task.
package workers

import "sync"

// Task has the work that a goroutine of a [Pool] does.
type Task interface{ Run() }

// Most bounds the idle goroutines that a [Pool] keeps, 2 to 16 KiB each.
const Most = 1024

// Pool runs tasks on goroutines that it keeps, last in first out: their stacks are grown and in the processor's caches. The zero value is ready
// to use, and its methods may be used by many goroutines at once. A task must not panic; one that ends its goroutine (runtime.Goexit) ends
// that one alone.
type Pool[T Task] struct {
	mu    sync.Mutex
	first *worker[T] // of the idle
	count int
	ends  int  // how often End was called
	ended bool // none is kept
}

type worker[T Task] struct {
	tasks chan T
	ends  int        // of the pool, when it began
	next  *worker[T] // among the idle
}

// Run has a goroutine run the task, and does not wait for it. There is always one: a task that waits holds up no other.
func (p *Pool[T]) Run(task T) {
	p.mu.Lock()
	w, ends := p.first, p.ends
	if w != nil {
		p.first = w.next
		p.count--
	}
	p.mu.Unlock()
	if w == nil {
		w = &worker[T]{tasks: make(chan T, 1), ends: ends}
		go p.work(w)
	}
	w.tasks <- task
}

func (p *Pool[T]) work(w *worker[T]) {
	for task := range w.tasks {
		task.Run()
		if !p.park(w) {
			return
		}
	}
}

// park makes the worker idle and reports whether it is kept.
func (p *Pool[T]) park(w *worker[T]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || w.ends != p.ends || p.count >= Most {
		return false
	}
	w.next, p.first = p.first, w
	p.count++
	return true
}

// Idle is the number of goroutines that wait for tasks.
func (p *Pool[T]) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// End ends the goroutines that are idle, and from now on each when its task is done. Tasks may still be run.
func (p *Pool[T]) End() {
	p.mu.Lock()
	first := p.first
	p.first, p.count, p.ended = nil, 0, true
	p.ends++
	p.mu.Unlock()
	for w := first; w != nil; {
		next := w.next
		close(w.tasks)
		w = next
	}
}

// Resume has goroutines kept again after End, but for those that have run since before it: a test in a bubble of testing/synctest must not get one of the
// test before.
func (p *Pool[T]) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = false
}
