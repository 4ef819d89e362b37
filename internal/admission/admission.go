// Package admission bounds how many requests of others a process works on at once, and decides which of those that wait go next and
// which are refused.
//
// # The limit
//
// The right number is the smallest that keeps the processors busy: more does not answer more requests, it only makes each slower,
// until none is answered in time. For handlers that compute it is the number of processors; for handlers that wait, for a
// database say, it is as many as come. A [Control] finds it without being told: while a goroutine that is ready to run has to wait for
// a processor, it tries a smaller limit, and keeps it where as many requests are finished as before, else it goes back. While
// requests wait and processors are free, or half of the handlers that run wait for something, it raises the limit at once. So it
// follows throughput, as the gradient of Vegas does (Brakmo, O'Malley, Peterson, SIGCOMM 1994; Netflix's concurrency-limits), but needs
// no latency of an idle service to compare with, which services with fast and slow actions do not have.
//
// # The queue
//
// What does not run waits, by class and within a class in the order of arrival; links take turns. A request waits only if it can begin
// within a quarter of its time, by the number of those before it and the rate at which requests are finished; else it is refused at
// once, which costs little, and it can be tried elsewhere. The rate is known only after a queue has been there for a while without
// a moment in which it was empty: a burst waits, as far as its deadlines allow, and few requests on a busy machine are no rate. No request waits for longer than nine of ten others may: else those with much time would keep the
// queue as long as they may wait, and those with little would be refused behind them. So those that wait can be served, and need not be
// served newest first, as where queues are long (Maurer, "Fail at Scale", ACM Queue 2015).
package admission

import (
	"math"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// perProcessor times the number of processors is the first limit, and lowestPerProcessor times that is the lowest: few enough to
	// take turns within some milliseconds, and enough where what keeps the processors busy is not these requests.
	perProcessor, lowestPerProcessor = 16, 4
	// longestWait bounds the time for which a request may wait, whatever its deadline: a second was too little for callers with
	// ten, whose calls were refused behind a burst that a busy machine had served in two. shortestWait is as low as the bound gets for the
	// sake of others: the time between two reads of the connections, see readEvery, so that the processors stay busy.
	longestWait, shortestWait = 5 * time.Second, readEvery
	// hurried is the share of the requests whose deadlines bound the wait of all, and adapts is how far one request moves that bound.
	hurried, adapts = 0.1, 0.1
	// readEvery is the time after which the network is looked at, see network, and readPause the sleep where that cannot be had.
	readEvery = 4 * time.Millisecond
	readPause = 20 * time.Microsecond
)

// A Ticket stands for something that waits to run: the requests of a link, or one over HTTP. It belongs to its user, who asks with it again
// when it was granted.
type Ticket struct {
	// Granted is called when its turn has come, on any goroutine. It must not block.
	Granted func()

	class      Class
	queued     bool
	prev, next *Ticket
}

// Control is the admission of one node. All methods may be called from any number of goroutines at once. The zero value is not
// usable, and nil admits everything.
type Control struct {
	processors int64
	epoch      time.Time
	lag        func() time.Duration // simulations have their own,
	ready      func() int64         // and of this,
	read       func(begins bool)    // and of this: it has the network looked at
	network    network

	limit   atomic.Int64
	running atomic.Int64
	waiting atomic.Int64 // tickets

	came    atomic.Int64  // requests, and of these
	begun   atomic.Int64  // those that wait no more,
	late    atomic.Int64  // with those that were refused then
	gaveUp  atomic.Int64  // those that waited for too long, or until their callers had gone
	rate    atomic.Uint64 // the bits of a float64: requests begun in a second while others wait; 0 where that is not known
	drained atomic.Bool   // there was a moment in this window in which none waited
	crowded atomic.Bool   // requests wait, and no processor is free
	bound   atomic.Int64  // in nanoseconds: all but a tenth of the requests may wait for longer

	lagging atomic.Bool  // goroutines that are ready to run wait for long
	yielded atomic.Int64 // when that was last measured, in the control's time

	pausing  atomic.Int64 // goroutines that have the network looked at
	paused   atomic.Int64 // when, in the control's time
	watching atomic.Bool  // the timer is set

	entrants sync.Pool // of *entrant

	mu     sync.Mutex
	queues [Classes]queue
	closed bool
	search search
}

// New makes the control of a node.
func New() *Control {
	c := &Control{processors: int64(runtime.GOMAXPROCS(0)), epoch: time.Now(), lag: lag, ready: runnable}
	c.limit.Store(c.firstLimit())
	c.bound.Store(int64(longestWait))
	c.read = c.network.look
	c.entrants.New = newEntrant
	return c
}

func (c *Control) firstLimit() int64 { return perProcessor * c.processors }

func (c *Control) lowestLimit() int64 { return lowestPerProcessor * c.processors }

func (c *Control) now() int64 { return int64(time.Since(c.epoch)) }

// Close ends the control: it grants all that waits, and admits all that asks.
func (c *Control) Close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	if c.search.timer != nil {
		c.search.timer.Stop()
	}
	c.mu.Unlock()
	c.limit.Store(math.MaxInt64)
	c.grant()
	c.network.close()
}

// Ask takes a place to run and reports whether there was one. Where there was none the ticket waits, and Granted is called with the
// place taken. A ticket that waits already only moves to the better class.
func (c *Control) Ask(t *Ticket, class Class) bool {
	if c == nil {
		return true
	}
	if c.waiting.Load() == 0 && c.take() {
		if c.running.Load() > 2*c.processors {
			c.watch()
		}
		return true
	}
	c.mu.Lock()
	switch {
	case !t.queued:
		c.enqueue(t, class)
		c.waiting.Add(1) // before grant looks for a place: who gives one back after that sees it
	case class < t.class:
		c.dequeue(t)
		c.enqueue(t, class)
	}
	c.look(shortestTick)
	c.mu.Unlock()
	c.grant()
	return false
}

// Withdraw takes a ticket out of the queue. It is false where it was granted, or is about to be.
func (c *Control) Withdraw(t *Ticket) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !t.queued {
		return false
	}
	c.dequeue(t)
	c.waiting.Add(-1)
	return true
}

// Done gives a place back.
func (c *Control) Done() {
	if c == nil {
		return
	}
	c.running.Add(-1)
	if c.waiting.Load() > 0 {
		c.grant()
	}
}

// Came counts requests of a link, and Begun one that has begun, or was refused.
func (c *Control) Came(requests int64) {
	if c != nil && c.came.Add(requests)-c.begun.Load() > requests {
		c.watch()
	}
}

// Begun is for a request that came, and waits no more.
func (c *Control) Begun() {
	if c != nil && c.begun.Add(1) >= c.came.Load() && !c.drained.Load() {
		c.drained.Store(true)
	}
}

// Late is for a request that has begun, and is not served, since it has waited for too long.
func (c *Control) Late() {
	if c != nil {
		c.late.Add(1)
		c.gaveUp.Add(1)
	}
}

// Queued is the number of requests that wait.
func (c *Control) Queued() int64 {
	if c == nil {
		return 0
	}
	return max(0, c.came.Load()-c.begun.Load())
}

// served is the number of requests that were served. Those that run do not count: with a higher limit more begin at once, and that says
// nothing of how many are finished.
func (c *Control) served() int64 { return c.begun.Load() - c.late.Load() - c.running.Load() }

// longest is the time for which a request that may take timeout, 0 for any time, may wait.
func (c *Control) longest(timeout time.Duration) time.Duration {
	return min(ownLongest(timeout), time.Duration(c.bound.Load()))
}

// ownLongest is longest for the sake of the request alone.
func ownLongest(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return longestWait
	}
	return min(longestWait, timeout/4)
}

// Fits reports whether a request that may take timeout, 0 for any time, begins soon enough behind all that wait but so many.
func (c *Control) Fits(timeout time.Duration, but int64) bool {
	if c == nil {
		return true
	}
	bits := c.rate.Load()
	if bits == 0 {
		return true
	}
	c.adapt(ownLongest(timeout))
	return float64(c.came.Load()-c.begun.Load()-but) <= math.Float64frombits(bits)*c.longest(timeout).Seconds()
}

// TooMuch says why a request that does not fit is refused, in words for an error: how many wait, and how fast they begin.
func (c *Control) TooMuch() string {
	b := strconv.AppendInt([]byte("has too much to do: "), c.Queued(), 10)
	b = append(b, " calls wait, of which "...)
	b = strconv.AppendFloat(b, math.Float64frombits(c.rate.Load()), 'f', 0, 64)
	b = append(b, " begin in a second"...)
	return string(b)
}

// adapt moves the bound towards the quantile of the requests' own bounds: it goes down with one of ten as far as it goes up with the
// others. An update that gets lost among others does no harm.
func (c *Control) adapt(own time.Duration) {
	bound := float64(c.bound.Load())
	if own < time.Duration(bound) {
		bound *= 1 - (1-hurried)*adapts
	} else {
		bound *= 1 + hurried*adapts
	}
	c.bound.Store(int64(min(max(bound, float64(shortestWait)), float64(longestWait))))
}

// Crowded reports whether requests wait because no processor is free.
func (c *Control) Crowded() bool { return c != nil && (c.crowded.Load() || c.lagging.Load()) }

// Yield is for a goroutine that begins to serve. It lets those that are ready to run go first where they wait for long: they may be about to
// read requests, which are not seen to wait before that. Otherwise each connection's request would be served
// as soon as it is read, with many of others unread, until none is answered in time.
func (c *Control) Yield() {
	if c == nil {
		return
	}
	now, last := c.now(), c.yielded.Load()
	if !c.lagging.Load() && (now-last < int64(readEvery) || !c.yielded.CompareAndSwap(last, now)) {
		return
	}
	lagging := c.lag() >= congested
	if lagging != c.lagging.Load() {
		c.lagging.Store(lagging)
	}
	if lagging {
		c.watch()
	}
}

// Pause has the network looked at if that was not done for long, so that requests, pings and cancellations are read although all
// processors are busy. It is for goroutines between two requests, while others wait.
func (c *Control) Pause() {
	if c == nil {
		return
	}
	now, last := c.now(), c.paused.Load()
	due := now-last >= int64(readEvery) && c.paused.CompareAndSwap(last, now)
	if !due && c.pausing.Load() == 0 { // all of them pause together, else the processor would go to the next
		return
	}
	if !due {
		c.read(false)
		return
	}
	if c.Queued() > 0 {
		c.crowded.Store(true)
	}
	c.watch() // which also ends what a look needs, once it is calm
	c.pausing.Add(1)
	c.read(true)
	c.pausing.Add(-1)
}

// Load is how many places are taken, and how many tickets wait.
func (c *Control) Load() (running, limit, waiting int64) {
	if c == nil {
		return 0, 0, 0
	}
	return c.running.Load(), c.limit.Load(), c.waiting.Load()
}

// watch has the limit looked at.
func (c *Control) watch() {
	if c.watching.Load() {
		return
	}
	c.mu.Lock()
	c.look(shortestTick)
	c.mu.Unlock()
}

func (c *Control) take() bool {
	for {
		running := c.running.Load()
		if running >= c.limit.Load() {
			return false
		}
		if c.running.CompareAndSwap(running, running+1) {
			return true
		}
	}
}

// grant gives the places that are free to those that wait.
func (c *Control) grant() {
	for {
		c.mu.Lock()
		t := c.front()
		if t == nil || !c.take() {
			c.mu.Unlock()
			return
		}
		c.dequeue(t)
		c.waiting.Add(-1)
		c.mu.Unlock()
		t.Granted()
	}
}
