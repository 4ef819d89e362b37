package wire

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/workers"
)

// jobs is the queue of one link's requests that wait to be served. They are at most Limits.Calls.
//
// Workers take them one after the other. At most one worker at a time is asked for: it has not looked at the queue yet. A worker
// that takes a job while more are queued asks for another, unless one is asked for. So handlers that do not
// block run one after the other on some workers, and a handler that blocks delays no other: the next worker takes the
// next job, and asks for another. Each has a place of the node's admission while it works; where there is none, the link's ticket waits
// for one.
//
// Answers share writes where that is safe. The invariant: bytes never stay unwritten while all goroutines that could write
// them are inside handlers. An answer is left in the outgoing buffer only while a worker is waking, because the first thing
// that worker does is to write what is there. TestAnswersAreWrittenWhileAllHandlersBlock fails if this is broken.
type jobs struct {
	link   *Link
	ticket admission.Ticket
	queued atomic.Int32
	waking atomic.Bool // a worker was started, and has not looked at the queue yet; it clears this before it writes

	mu     sync.Mutex
	asked  bool            // for a worker: it is waking, or the ticket waits
	class  admission.Class // for which it was asked
	queues [admission.Classes]jobQueue
}

// jobQueue is the jobs of one class.
type jobQueue struct {
	first, last *Inbound
	count       int32
}

func (j *jobs) init(l *Link) {
	j.link = l
	j.ticket.Granted = j.wake
}

// wake starts the worker that was asked for.
func (j *jobs) wake() {
	j.waking.Store(true)
	idle.Run(j)
}

// put queues a list of jobs.
func (j *jobs) put(first *Inbound) {
	best := admission.Class(admission.Classes)
	j.mu.Lock()
	n := int32(0)
	for in := first; in != nil; n++ {
		next := in.next
		in.next = nil
		j.queues[in.class].put(in)
		best = min(best, in.class)
		in = next
	}
	j.queued.Add(n)
	j.link.config.Admission.Came(int64(n))
	j.ask(best)
}

func (q *jobQueue) put(in *Inbound) {
	if q.last == nil {
		q.first = in
	} else {
		q.last.next = in
	}
	q.last = in
	q.count++
}

// ask asks for a worker unless one is waking. It unlocks mu.
func (j *jobs) ask(class admission.Class) {
	call := !j.asked || class < j.class && !j.waking.Load()
	if call {
		j.asked, j.class = true, class
	}
	j.mu.Unlock()
	if call && j.link.config.Admission.Ask(&j.ticket, class) {
		j.wake()
	}
}

// take takes the next job, nil where there is none, and asks for another worker where there are more. It is the first of a worker
// that was asked for.
func (j *jobs) take(first bool) *Inbound {
	j.mu.Lock()
	if first {
		j.asked = false
	}
	class := j.best()
	if class == admission.Classes {
		j.mu.Unlock()
		return nil
	}
	q := &j.queues[class]
	in := q.first
	q.first, in.next = in.next, nil
	if q.first == nil {
		q.last = nil
	}
	q.count--
	j.link.config.Admission.Begun()
	if j.queued.Add(-1) > 0 && !j.asked {
		j.ask(j.best())
	} else {
		j.mu.Unlock()
	}
	return in
}

// best is the best class of which there is a job, [admission.Classes] where there is none. It runs under mu.
func (j *jobs) best() admission.Class {
	for class := range j.queues {
		if j.queues[class].first != nil {
			return admission.Class(class)
		}
	}
	return admission.Classes
}

// full reports whether one more job of a class would wait for too long, behind all that wait. The link's jobs of worse classes do not
// count, as they are served later; and a link of which none waits gets its turn between the others.
func (j *jobs) full(class admission.Class, timeout time.Duration, others int32) bool {
	a := j.link.config.Admission
	if class == admission.Critical || a.Fits(timeout, -int64(others)) || others+j.queued.Load() == 0 {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	worse := int32(0)
	for _, q := range j.queues[class+1:] {
		worse += q.count
	}
	return !a.Fits(timeout, int64(worse-others))
}

// othersWillWrite reports whether an answer that was appended can be left for a waking worker to write. If nothing is queued,
// this worker has nothing else to do and writes it at once.
func (j *jobs) othersWillWrite() bool { return j.queued.Load() > 0 && j.waking.Load() }

// turn is the time after which a worker leaves its place to another link that waits for one.
const turn = time.Millisecond

// slowJob is the time of a job above which the time is looked at after each. That takes as long as a tenth of the fastest.
const slowJob = 20 * time.Microsecond

// Run serves queued jobs until there are none, or it is another link's turn. It writes first: see the invariant of jobs.
func (j *jobs) Run() {
	a := j.link.config.Admission
	defer a.Done() // deferred for targets that end their goroutine
	j.waking.Store(false)
	j.link.flush()
	a.Yield()
	if a.Crowded() {
		a.Pause()
	}
	in := j.take(true)
	begun, served, slow, unwritten := j.link.now(), 0, false, false
	for {
		if in != nil && in.refusedLate() {
			unwritten, in = true, j.take(false)
			continue
		}
		if in == nil || unwritten {
			j.link.flush()
			unwritten = false
		}
		if in == nil {
			// What came during the write has asked for a worker, but this one is already here.
			if in = j.take(false); in == nil {
				return
			}
			continue
		}
		in.serve()
		if served++; j.queued.Load() > 0 && (slow || served%8 == 0) {
			now := j.link.now()
			slow = now-begun > int64(served)*int64(slowJob)
			if now-begun >= int64(turn) && j.leaves() {
				return
			}
			if slow || now-begun >= 4*int64(turn) { // quick jobs are done soon, and a pause takes as long as many of them
				a.Pause()
			}
		}
		in = j.take(false)
	}
}

// leaves reports whether others wait for the worker's place. What is queued here then waits for the next.
func (j *jobs) leaves() bool {
	j.mu.Lock()
	_, _, waiting := j.link.config.Admission.Load()
	if j.asked {
		waiting-- // this link's
	}
	if waiting <= 0 {
		j.mu.Unlock()
		return false
	}
	if class := j.best(); class != admission.Classes && !j.asked {
		j.ask(class)
	} else {
		j.mu.Unlock()
	}
	j.link.flush()
	return true
}

// idleWorkers are the goroutines of this process that serve the jobs of one link after the other. They end when no link is left.
type idleWorkers struct {
	workers.Pool[*jobs]
	mu    sync.Mutex
	links int
}

var idle idleWorkers

func (p *idleWorkers) join() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links++; p.links == 1 {
		p.Resume()
	}
}

func (p *idleWorkers) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links--; p.links == 0 {
		p.End()
	}
}
