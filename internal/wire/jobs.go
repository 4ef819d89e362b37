package wire

import (
	"sync"
	"sync/atomic"
)

// jobs is the queue of one link's requests that wait to be served. They are at most Limits.Calls.
//
// Workers take them one after the other. At most one worker at a time is waking: it was started and has not looked at the
// queue yet. A worker that takes a job while more are queued starts another, unless one is waking. So handlers that do not
// block run one after the other on some workers, and a handler that blocks delays no other: the waking worker takes the
// next job, and starts another worker.
//
// Answers share writes where that is safe. The invariant: bytes never stay unwritten while all goroutines that could write
// them are inside handlers. An answer is left in the outgoing buffer only while a worker is waking, because the first thing
// that worker does is to write what is there. TestAnswersAreWrittenWhileAllHandlersBlock fails if this is broken.
type jobs struct {
	link   *Link
	queued atomic.Int32
	waking atomic.Bool // set under mu; cleared by the waking worker before it writes

	mu          sync.Mutex
	first, last *Inbound
}

// put queues a list of n jobs.
func (j *jobs) put(first, last *Inbound, n int32) {
	j.mu.Lock()
	if j.last == nil {
		j.first = first
	} else {
		j.last.next = first
	}
	j.last = last
	j.queued.Add(n)
	call := j.shouldCall()
	j.mu.Unlock()
	if call {
		idle.call(j.link)
	}
}

// take takes the next job, nil where there is none, and calls another worker where there are more.
func (j *jobs) take() *Inbound {
	j.mu.Lock()
	in := j.first
	if in == nil {
		j.mu.Unlock()
		return nil
	}
	j.first, in.next = in.next, nil
	if j.first == nil {
		j.last = nil
	}
	j.queued.Add(-1)
	call := j.first != nil && j.shouldCall()
	j.mu.Unlock()
	if call {
		idle.call(j.link)
	}
	return in
}

// shouldCall reports whether the caller must start a worker, which counts as waking from then on. It runs under mu.
func (j *jobs) shouldCall() bool {
	if j.waking.Load() {
		return false
	}
	j.waking.Store(true)
	return true
}

// othersWillWrite reports whether an answer that was appended can be left for a waking worker to write. If nothing is queued,
// this worker has nothing else to do and writes it at once.
func (j *jobs) othersWillWrite() bool { return j.queued.Load() > 0 && j.waking.Load() }

// work serves queued jobs until there are none. It writes first: see the invariant of jobs.
func (j *jobs) work() {
	j.waking.Store(false)
	j.link.flush()
	for {
		in := j.take()
		if in == nil {
			j.link.flush()
			// What came during the write has called a worker, but this one is already here.
			if in = j.take(); in == nil {
				return
			}
		}
		in.serve()
	}
}

// worker is a goroutine that serves the jobs of one link after the other.
type worker struct {
	called chan *Link
	next   *worker // among the idle
}

// maxIdle bounds the goroutines kept for later (2 to 8 KiB each).
const maxIdle = 1024

// idleWorkers is the workers of this process that have nothing to do, last in first out: their stacks are grown and in the
// processor's caches. They end when no link is left.
type idleWorkers struct {
	mu    sync.Mutex
	first *worker
	count int
	links int
}

var idle idleWorkers

func (p *idleWorkers) join() {
	p.mu.Lock()
	p.links++
	p.mu.Unlock()
}

func (p *idleWorkers) leave() {
	p.mu.Lock()
	p.links--
	var ending *worker
	if p.links == 0 {
		ending, p.first, p.count = p.first, nil, 0
	}
	p.mu.Unlock()
	for ending != nil {
		next := ending.next
		close(ending.called)
		ending = next
	}
}

// call has a worker work for the link.
func (p *idleWorkers) call(l *Link) {
	p.mu.Lock()
	w := p.first
	if w != nil {
		p.first = w.next
		p.count--
	}
	p.mu.Unlock()
	if w == nil {
		w = &worker{called: make(chan *Link, 1)}
		go w.run()
	}
	w.called <- l
}

// park makes the worker idle and reports whether it is kept.
func (p *idleWorkers) park(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links == 0 || p.count >= maxIdle {
		return false
	}
	w.next, p.first = p.first, w
	p.count++
	return true
}

func (w *worker) run() {
	for l := range w.called {
		l.jobs.work()
		if !idle.park(w) {
			return
		}
	}
}
