package actor

import (
	"sync"
	"sync/atomic"
	"time"
)

// crew is the workers of a system and the processes that are ready for them. As many workers drain processes as the system
// has processors. One whose callback blocks or takes long does not count as long as it does, and another takes its place.
type crew struct {
	system *System
	size   int // workers that drain at once
	limit  int // workers there may be

	stepping *stepping // without workers, see Stepped; nil elsewhere

	mu       sync.Mutex
	first    *slot // ready, in the order in which they became so
	last     *slot
	idle     []*worker
	working  []*worker // that drain, or are held up in a callback
	active   int       // of working, without those that are held up
	stopped  bool
	watching bool
	gone     sync.WaitGroup
}

// worker drains one process after another.
type worker struct {
	crew *crew
	self Process
	next atomic.Pointer[slot] // the process that this worker made ready last: it runs it next, on the same processor
	beat atomic.Uint32        // counts letters
	seen uint32               // beat, when the watch looked last
	turn atomic.Uint32        // counts processes
	last uint32               // turn, when the watch looked last
	over atomic.Bool          // the process has had its turn
	wake chan *slot           // of room 1; nil ends the worker

	held atomic.Bool // does not count as active; changed under crew.mu
	at   int         // in crew.working
}

func (c *crew) start(s *System, size int) {
	c.system, c.size, c.limit = s, size, size+maxHeldUp
}

// maxHeldUp is how many callbacks may block at once. Where more do, processes wait until one returns.
const maxHeldUp = 10_000

// add makes a process ready. by is the worker that did it; nil for anybody else.
func (c *crew) add(s *slot, by *worker) {
	if by != nil {
		// Usually the callback ends soon, and then the same processor runs what it woke with warm caches and nobody is to be
		// woken. If it does not, watch hands it to another.
		if s = by.next.Swap(s); s == nil {
			return
		}
	}
	c.mu.Lock()
	c.append(s)
	c.wakeOne()
}

// append appends a process to the list. It runs under mu.
func (c *crew) append(s *slot) {
	s.next = nil
	if c.last == nil {
		c.first = s
	} else {
		c.last.next = s
	}
	c.last = s
}

// addAll makes a chain of processes ready.
func (c *crew) addAll(first, last *slot) {
	c.mu.Lock()
	last.next = nil
	if c.last == nil {
		c.first = first
	} else {
		c.last.next = first
	}
	c.last = last
	c.wakeOne()
}

// promote gives what by would run next to another worker, if there is one that has nothing to do.
func (c *crew) promote(by *worker, s *slot) {
	if by.next.CompareAndSwap(s, nil) {
		c.mu.Lock()
		c.append(s)
		c.wakeOne()
	}
}

// wakeOne unlocks mu, and gives the first process that is ready to a worker that has nothing to do, if there is one.
func (c *crew) wakeOne() {
	if c.first == nil || c.active >= c.size {
		c.mu.Unlock()
		return
	}
	var w *worker
	if n := len(c.idle); n > 0 {
		w = c.idle[n-1]
		c.idle = c.idle[:n-1]
	} else if len(c.working) < c.limit {
		w = &worker{crew: c, wake: make(chan *slot, 1)}
		w.self.system, w.self.worker = c.system, w
		w.self.box.owner = &w.self
		c.gone.Go(w.run)
	} else {
		c.mu.Unlock()
		return
	}
	s := c.take()
	w.at = len(c.working)
	c.working = append(c.working, w)
	c.active++
	if !c.watching {
		c.watching = true
		c.gone.Go(c.watch) // before the process runs: at its end stop may be waiting
	}
	c.mu.Unlock()
	w.wake <- s
}

// take takes the first that is ready; nil for none. It runs under mu.
func (c *crew) take() *slot {
	s := c.first
	if s != nil {
		if c.first = s.next; c.first == nil {
			c.last = nil
		}
		s.next = nil
	}
	return s
}

func (w *worker) run() {
	for s := range w.wake {
		for turns := 0; s != nil; turns++ {
			w.drain(s)
			s = w.find(turns)
		}
	}
}

// find is the process to drain next: what this worker has just woken, or the first in the list. Where there is none, or
// enough others work, the worker rests.
func (w *worker) find(turns int) *slot {
	if turns%fairness != 0 && !w.held.Load() {
		if s := w.next.Swap(nil); s != nil {
			return s
		}
	}
	c := w.crew
	c.mu.Lock()
	c.takeNext(w)
	if w.held.Load() {
		w.held.Store(false)
		c.active++
	}
	if c.active <= c.size {
		if s := c.take(); s != nil {
			c.wakeOne() // for what else is ready
			return s
		}
	}
	c.active--
	last := len(c.working) - 1
	c.working[w.at] = c.working[last]
	c.working[w.at].at = w.at
	c.working[last] = nil
	c.working = c.working[:last]
	if c.stopped || len(c.idle) >= c.size+spareWorkers {
		close(w.wake)
	} else {
		c.idle = append(c.idle, w)
	}
	c.mu.Unlock()
	return nil
}

const (
	fairness     = 16 // every so many processes a worker takes one from the list, though it has woken another
	spareWorkers = 64 // that rest until they are needed again
)

// takeNext puts what w would run next into the list. It runs under mu.
func (c *crew) takeNext(w *worker) {
	if s := w.next.Swap(nil); s != nil {
		c.append(s)
	}
}

// leave says that the callback which w runs is going to wait: another worker takes its place.
func (c *crew) leave(w *worker) {
	c.mu.Lock()
	c.takeNext(w)
	c.hold(w)
	c.wakeOne()
}

// hold takes w out of those that count. It runs under mu.
func (c *crew) hold(w *worker) {
	if !w.held.Load() {
		w.held.Store(true)
		c.active--
	}
}

// enter says that the waiting is over. For a moment one more than size may work.
func (c *crew) enter(w *worker) {
	c.mu.Lock()
	if w.held.Load() {
		w.held.Store(false)
		c.active++
	}
	c.mu.Unlock()
}

// watchEvery is how often the watch looks: for so long, and twice that at most, a callback may hold up what it sent and woke.
const (
	watchEvery = time.Millisecond
	watchRests = 50 // looks without work, before the watch ends
)

// watch sees to it that what workers have sent goes out, and looks after those that stay with one process: what they have
// woken goes to others, and where others are ready it is their turn. Who stays in one callback does not count then. It runs
// as long as there is work.
func (c *crew) watch() {
	for resting := 0; ; resting++ {
		time.Sleep(watchEvery)
		c.mu.Lock()
		if len(c.working) > 0 {
			resting = 0
		} else if c.stopped || resting == watchRests {
			c.watching = false
			c.mu.Unlock()
			return
		}
		for _, w := range c.working {
			if w.self.box.held.Load() {
				c.gone.Go(w.self.box.flushFor) // which waits where the link to another node is full
			}
			turn, beat := w.turn.Load(), w.beat.Load()
			if turn == w.last {
				c.takeNext(w)
				w.over.Store(c.first != nil)
			}
			if beat == w.seen && c.first != nil {
				c.hold(w)
			}
			w.last, w.seen = turn, beat
		}
		c.wakeOne()
	}
}

// stop lets the workers end as soon as nothing is ready, and waits for them.
func (c *crew) stop() {
	c.dismiss()
	c.gone.Wait()
}

// dismiss is stop without the waiting.
func (c *crew) dismiss() {
	c.mu.Lock()
	c.stopped = true
	for _, w := range c.idle {
		close(w.wake)
	}
	c.idle = nil
	c.mu.Unlock()
}
