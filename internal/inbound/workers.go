package inbound

import "sync"

// maxIdle bounds the goroutines that are kept for later calls (2 to 16 KiB each).
const maxIdle = 512

// workers are goroutines that serve calls one after the other, last in first out: their stacks are grown and in the processor's caches. A new
// goroutine for each call grows its stack anew, which took more time than the call.
type workers struct {
	mu    sync.Mutex
	first *worker // of the idle
	count int
	ended bool // none is kept
}

type worker struct {
	tasks chan func()
	next  *worker // among the idle
}

// run has a worker do a task.
func (p *workers) run(task func()) {
	p.mu.Lock()
	w := p.first
	if w != nil {
		p.first = w.next
		p.count--
	}
	p.mu.Unlock()
	if w == nil {
		w = &worker{tasks: make(chan func(), 1)}
		go p.work(w)
	}
	w.tasks <- task
}

func (p *workers) work(w *worker) {
	for task := range w.tasks {
		task()
		if !p.park(w) {
			return
		}
	}
}

// park makes the worker idle and reports whether it is kept.
func (p *workers) park(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.count >= maxIdle {
		return false
	}
	w.next, p.first = p.first, w
	p.count++
	return true
}

// end ends those that are idle, and from now on each when its task is done.
func (p *workers) end() {
	p.mu.Lock()
	first := p.first
	p.first, p.count, p.ended = nil, 0, true
	p.mu.Unlock()
	for w := first; w != nil; {
		next := w.next
		close(w.tasks)
		w = next
	}
}
