package actor

import (
	"sync"
	"sync/atomic"
	"time"
)

// scheduler runs the ready processes of a system on a few workers, about as many as there are processors. A worker whose
// callback blocks or takes long is not counted in active, and another worker takes its place.
//
// Lock order: an entry's mu is never taken while scheduler.mu is held. Code that wakes an entry unlocks it first and then calls
// add.
type scheduler struct {
	system *System
	size   int // workers that may drain at once, without those that are blocked
	limit  int // bound of all workers, with those that are blocked

	stepping *stepping // without workers, see Stepped; nil elsewhere

	mu       sync.Mutex
	first    *entry // ready, in the order in which they became so
	last     *entry
	idle     []*worker
	working  []*worker // workers that drain a process or are blocked in a callback
	active   int       // length of working, without the blocked ones
	stopped  bool
	watching bool
	gone     sync.WaitGroup
}

// worker drains one process after another on a goroutine of its own. The fields without an atomic type belong to that
// goroutine, except where scheduler.mu guards them.
type worker struct {
	scheduler *scheduler
	self      Process
	next      atomic.Pointer[entry] // the process that this worker made ready last: it runs it next, on the same processor
	beat      atomic.Uint32         // counts envelopes
	seen      uint32                // beat, when the watchdog looked last
	glanced   uint32                // beat, at its last glance
	turn      atomic.Uint32         // counts processes
	last      uint32                // turn, when the watchdog looked last
	over      atomic.Bool           // set by the watchdog: the process has used up its turn
	wake      chan *entry           // has one place; nil ends the worker

	mine  queue // queue that was taken from the process being drained. It is a field, not a variable of drain, because a callback may end the goroutine and endAfterExit then needs it
	ended bool  // the goroutine has returned in the regular way; see goOn

	blocked atomic.Bool // does not count as active; changed under scheduler.mu
	at      int         // in scheduler.working
}

func (c *scheduler) start(s *System, size int) {
	c.system, c.size, c.limit = s, size, size+maxBlocked
}

// maxBlocked bounds how many callbacks may block at once. Beyond it, ready processes wait until a callback returns.
const maxBlocked = 10_000

// add schedules a process that has just become ready. by is the worker whose callback woke it; nil for any other goroutine.
func (c *scheduler) add(s *entry, by *worker) {
	if by != nil {
		// Usually the callback ends soon, and then the same processor runs what it woke with warm caches and no worker has to be
		// woken. If it does not, watch hands it to another.
		if s = by.next.Swap(s); s == nil {
			return
		}
	}
	c.mu.Lock()
	c.append(s)
	c.wakeOne()
}

// append puts a process at the end of the list. Call it with mu held.
func (c *scheduler) append(s *entry) {
	s.next = nil
	if c.last == nil {
		c.first = s
	} else {
		c.last.next = s
	}
	c.last = s
}

// addAll schedules a list of processes that have become ready, linked by entry.next.
func (c *scheduler) addAll(first, last *entry) {
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

// promote hands the process that by would run next to an idle worker, if there is one.
func (c *scheduler) promote(by *worker, s *entry) {
	if by.next.CompareAndSwap(s, nil) {
		c.mu.Lock()
		c.append(s)
		c.wakeOne()
	}
}

// wakeOne unlocks mu. Before, it takes the first ready process and gives it to an idle or a new worker, as long as size and
// limit allow.
func (c *scheduler) wakeOne() {
	if c.first == nil || c.active >= c.size {
		c.mu.Unlock()
		return
	}
	var w *worker
	if n := len(c.idle); n > 0 {
		w = c.idle[n-1]
		c.idle = c.idle[:n-1]
	} else if len(c.working) < c.limit {
		w = &worker{scheduler: c, wake: make(chan *entry, 1)}
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
		c.gone.Go(c.watchdog) // before the process runs: at its end stop may be waiting
	}
	c.mu.Unlock()
	w.wake <- s
}

// take removes and returns the first ready process, or nil. Call it with mu held.
func (c *scheduler) take() *entry {
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
	defer w.goOn()
	for s := range w.wake {
		w.drainAll(s)
	}
	w.ended = true
}

func (w *worker) drainAll(s *entry) {
	for turns := 0; s != nil; turns++ {
		w.drain(s)
		s = w.find(turns)
	}
}

// goOn runs when the worker's goroutine ends. If a callback ended the goroutine (runtime.Goexit), the process ends as if it had
// panicked and the worker continues on a new goroutine.
func (w *worker) goOn() {
	if w.ended {
		return
	}
	w.scheduler.gone.Go(func() {
		defer w.goOn()
		w.self.endAfterExit(&w.mine)
		w.drainAll(w.find(0))
		for s := range w.wake {
			w.drainAll(s)
		}
		w.ended = true
	})
}

// find returns the process to drain next: the one that this worker woke last, or the first of the list. If there is none, or
// enough workers are active, the worker goes idle and find returns nil.
func (w *worker) find(turns int) *entry {
	if turns%fairness != 0 && !w.blocked.Load() {
		if s := w.next.Swap(nil); s != nil {
			return s
		}
	}
	c := w.scheduler
	c.mu.Lock()
	c.takeNext(w)
	if w.blocked.Load() {
		w.blocked.Store(false)
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
	fairness     = 16 // of so many processes a worker takes one from the list, although it has woken another itself
	spareWorkers = 64 // idle workers that are kept
)

// takeNext moves the process that w would run next to the list, where other workers find it. Call it with mu held.
func (c *scheduler) takeNext(w *worker) {
	if s := w.next.Swap(nil); s != nil {
		c.append(s)
	}
}

// beginBlocking announces that w's callback is about to wait. Another worker takes its place until endBlocking.
func (c *scheduler) beginBlocking(w *worker) {
	c.mu.Lock()
	c.takeNext(w)
	c.markBlocked(w)
	c.wakeOne()
}

// markBlocked stops counting w as active. Call it with mu held.
func (c *scheduler) markBlocked(w *worker) {
	if !w.blocked.Load() {
		w.blocked.Store(true)
		c.active--
	}
}

// endBlocking counts w as active again. For a moment, one worker more than size may be active.
func (c *scheduler) endBlocking(w *worker) {
	c.mu.Lock()
	if w.blocked.Load() {
		w.blocked.Store(false)
		c.active++
	}
	c.mu.Unlock()
}

// The watchdog looks every watchEvery. A callback that does not return can hold up what it has sent, and what it has woken, for
// that long and at most twice as long. Where one did, the watchdog also glances every glanceEvery, for glanceLooks looks after the last that
// did: so what such callbacks send is late once, and a system without them is not woken more often.
const (
	watchEvery  = time.Millisecond
	watchRests  = 50 // idle rounds after which the watchdog ends
	glanceEvery = 100 * time.Microsecond
	glanceLooks = 50
)

// watchdog keeps one long callback from holding up others. It flushes what workers have sent, hands what they have woken to
// other workers, and ends the turn of a process if others are ready. A worker that stays in one callback no longer counts as
// active. The watchdog ends when there has been no work for a while.
func (c *scheduler) watchdog() {
	var clock ticks // runs while it glances
	defer func() { clock.stop() }()
	for resting, glancing := 0, 0; ; resting++ {
		late := false
		if glancing > 0 {
			late = c.glance(clock)
			if glancing--; glancing == 0 {
				clock.stop()
			}
		} else {
			time.Sleep(watchEvery)
		}
		c.mu.Lock()
		if len(c.working) > 0 {
			resting = 0
		} else if c.stopped || resting == watchRests {
			c.watching = false
			c.mu.Unlock()
			return
		}
		for _, w := range c.working {
			turn, beat := w.turn.Load(), w.beat.Load()
			late = late || beat == w.seen && w.holdsUp()
			w.flush()
			if turn == w.last {
				c.takeNext(w)
				w.over.Store(c.first != nil)
			}
			if beat == w.seen && c.first != nil {
				c.markBlocked(w)
			}
			w.last, w.seen = turn, beat
		}
		c.wakeOne()
		if late {
			if glancing == 0 {
				clock = startTicks(glanceEvery)
			}
			glancing = glanceLooks
		}
	}
}

// glance looks every glanceEvery, for watchEvery, after workers that stay in one callback and nothing else. It reports whether one of
// them held something up.
func (c *scheduler) glance(clock ticks) (late bool) {
	for range watchEvery / glanceEvery {
		clock.wait()
		c.mu.Lock()
		for _, w := range c.working {
			beat := w.beat.Load()
			if beat == w.glanced && w.holdsUp() {
				late = true
				w.flush()
				c.takeNext(w)
			}
			w.glanced = beat
		}
		c.wakeOne()
	}
	return late
}

// holdsUp reports whether something waits for the end of w's callback.
func (w *worker) holdsUp() bool { return w.self.box.held.Load() || w.next.Load() != nil }

// flush pushes what w's callback has sent and holds back.
func (w *worker) flush() {
	if w.self.box.held.Load() {
		w.scheduler.gone.Go(w.self.box.flushFor) // which waits where the link to another node is full
	}
}

// stop lets the workers end as soon as nothing is ready, and waits for them.
func (c *scheduler) stop() {
	c.dismiss()
	c.gone.Wait()
}

// dismiss is stop without waiting.
func (c *scheduler) dismiss() {
	c.mu.Lock()
	c.stopped = true
	for _, w := range c.idle {
		close(w.wake)
	}
	c.idle = nil
	c.mu.Unlock()
}
