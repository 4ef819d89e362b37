package admission

import (
	"math"
	"time"
)

const (
	// congested is the time that a goroutine waits for a processor above which a smaller limit is tried, and idle the one below which
	// a processor counts as free.
	congested, idle = 500 * time.Microsecond, 100 * time.Microsecond
	// shortestTick and longestTick are the intervals between two looks.
	shortestTick, longestTick = time.Millisecond, 64 * time.Millisecond
	// calm is the time without a queue after which what was found is forgotten.
	calm = 200 * time.Millisecond
	// A rate is measured over windowCount requests, or as many as run twice over, since those that wait for the same thing finish together;
	// for windowMin at least and windowMax at most.
	windowCount, windowMin, windowMax = 32, 20 * time.Millisecond, 250 * time.Millisecond
	// asMany is the share of the rate before that a smaller limit has to reach to be kept, and more that of a limit twice as large.
	asMany, more = 0.8, 1.3
	// forgets is the share of the best rate so far that is left of it after each window.
	forgets = 0.95
	// stoodStill is the time between two looks above which the process must have been stopped, or the machine: what was finished meanwhile
	// says nothing of what it can do. With 7 s of SIGSTOP in a window 16 requests were "2 in a second", and calls were refused by that.
	stoodStill = 2 * windowMax
	// firstHold and longestHold are the times after a limit that was given up before the next one in that direction is tried.
	firstHold, longestHold = 500 * time.Millisecond, 8 * time.Second
)

// search finds the limit. Control.mu guards it.
type search struct {
	timer *time.Timer
	tick  time.Duration // until the next look; 0 while there is none
	last  int64         // the time of the last look

	since          int64   // the window's beginning
	served, gaveUp int64   // requests, at that time
	looks, crowded int     // in this window, and those that found no processor free
	full           int     // looks that found requests waiting for a place
	fullAt         int64   // the last look that found requests waiting, for a place or for a processor
	rate, best     float64 // of the last window, and of those before
	turn           turn
	try            try
	down, up       direction
	careful        bool // a quarter was too little: half is tried
	proportional   bool // the last try showed that so many times more at once finish about so many times more
}

// turn measures the rate that requests are refused by, over windows in which others waited, until all that run at its beginning may have
// been finished: of quick and slow ones that run together the first to finish say nothing of when the other places become free. One of eight
// in a window looked like four in a second, and had those refused that 60 s were enough for.
type turn struct {
	since  int64 // 0 where none waited
	served int64 // requests, at that time
}

// try is a limit that is tried.
type try struct {
	before   int64   // the limit to go back to; 0 where none is tried
	rate     float64 // that it has to reach
	settling bool    // more run than it allows, or it was only just set
	held     *direction
}

// direction is when the next smaller, or larger, limit may be tried.
type direction struct {
	after int64
	hold  time.Duration
}

func (d *direction) wait(now int64) {
	d.hold = min(max(2*d.hold, firstHold), longestHold)
	d.after = now + int64(d.hold)
}

// look sets the timer for a look within tick. It runs under mu.
func (c *Control) look(tick time.Duration) {
	s := &c.search
	if c.closed || s.tick > 0 && s.tick <= tick {
		return
	}
	if !c.watching.Load() {
		c.watching.Store(true)
		s.fullAt = c.now()
		s.last = s.fullAt
		c.beginWindow(s.fullAt)
	}
	s.tick = tick
	if s.timer == nil {
		s.timer = time.AfterFunc(tick, c.looked)
	} else {
		s.timer.Reset(tick)
	}
}

// looked runs on a timer while requests wait, or more run than there are processors.
func (c *Control) looked() {
	pausing := c.pausing.Load() > 0
	delay := c.lag()
	now := c.now()
	pausing = pausing || c.pausing.Load() > 0
	defer c.grant()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	s := &c.search
	if now-s.last > int64(stoodStill) {
		s.turn = turn{}
		c.beginWindow(now)
	}
	s.last = now
	waiting, running := c.waiting.Load(), c.running.Load()
	s.looks++
	if delay >= congested {
		s.crowded++
	}
	queued := c.Queued()
	if queued > 0 {
		s.fullAt = now
	}
	if waiting > 0 { // for a place; requests that wait for a processor only say nothing of what this node could do
		s.full++
	}
	over := now-s.fullAt > int64(calm)
	if over {
		c.rate.Store(0)
		c.bound.Store(int64(longestWait))
	}
	c.crowded.Store(!over && (delay >= congested || c.crowded.Load() && queued > 0))
	switch {
	case waiting > 0 && running >= c.limit.Load() && !pausing && (delay < idle || c.idleHandlers(running)):
		c.raise(now)
	case now-s.since >= int64(windowMin) && c.served()-s.served >= max(windowCount, 2*running) || now-s.since >= int64(windowMax):
		c.endWindow(now, running)
	}
	tick := shortestTick
	if queued == 0 && delay < congested {
		tick = min(2*s.tick, longestTick)
	}
	s.tick = 0
	if over && running <= 2*c.processors {
		c.watching.Store(false)
		c.crowded.Store(false)
		c.network.rest()
		c.limit.Store(max(c.limit.Load(), c.firstLimit()))
		s.best, s.turn, s.try, s.down, s.up, s.careful = 0, turn{}, try{}, direction{}, direction{}, false
		return
	}
	c.look(tick)
}

// idleHandlers reports whether half of the handlers that run wait for something, so that they hold places and use no processor. Each
// of the others runs or is ready to, so there are at least that many more handlers than such goroutines. What keeps the processors busy then
// is not the handlers: on a busy machine those that waited once held all places, and quick calls were refused behind them.
func (c *Control) idleHandlers(running int64) bool {
	return 2*(running-c.ready()-c.processors) >= running
}

// raise follows a look that found requests waiting and a processor free, or handlers that use none: those that run must be waiting for
// something else.
func (c *Control) raise(now int64) {
	s := &c.search
	if s.try.held == &s.down {
		c.giveUp(now)
		return
	}
	s.try, s.turn = try{}, turn{}
	c.rate.Store(0) // it was that of fewer at once: requests were refused by the 218 in a second of 4, where 20 and more ran
	limit := c.limit.Load()
	c.limit.Store(limit + max(1, limit/4))
	c.beginWindow(now)
}

func (c *Control) beginWindow(now int64) {
	s := &c.search
	s.since, s.served, s.gaveUp, s.looks, s.crowded, s.full = now, c.served(), c.gaveUp.Load(), 0, 0, 0
	c.drained.Store(c.Queued() == 0)
}

// endWindow judges the limit that is tried. While processors are crowded it tries a smaller one, and where that does not help a
// larger one: others than these requests may be what crowds them.
func (c *Control) endWindow(now, running int64) {
	s := &c.search
	s.rate = float64(c.served()-s.served) / time.Duration(now-s.since).Seconds()
	crowded, waiting := 2*s.crowded >= s.looks, c.waiting.Load() > 0
	c.measure(now, running)
	c.beginWindow(now)
	s.best = max(s.rate, s.best*forgets)
	if s.try.settling {
		s.try.settling = running > c.limit.Load()
		return
	}
	limit := c.limit.Load()
	if s.try.before > 0 {
		s.proportional = c.isProportional(limit)
	}
	if s.try.before > 0 && s.rate < s.try.rate {
		c.giveUp(now)
		return
	}
	if s.try.held == &s.up {
		s.down.wait(now) // more at once finish more, so fewer would finish fewer
	}
	s.try = try{}
	if !crowded {
		return
	}
	smaller := max(c.lowestLimit(), min(limit, running)/4)
	if s.careful {
		smaller = max(c.lowestLimit(), min(limit, running)/2)
	}
	switch {
	case waiting && s.rate*more*more < s.best: // a smaller limit was kept that should not have been
		c.limit.Store(2 * limit)
	case smaller < limit && now >= s.down.after:
		s.try = try{before: limit, rate: asMany * s.best, settling: true, held: &s.down}
		c.limit.Store(smaller)
	case waiting && now >= s.up.after:
		larger := 2 * limit
		if s.proportional {
			larger *= 2
		}
		s.try = try{before: limit, rate: more * s.rate, settling: true, held: &s.up}
		c.limit.Store(larger)
	}
}

// measure sets the rate that requests are refused by, at the end of a window.
func (c *Control) measure(now, running int64) {
	s, rate := &c.search, math.Float64frombits(c.rate.Load())
	gaveUp := c.gaveUp.Load() > s.gaveUp
	waited := gaveUp || 2*s.full >= s.looks
	switch {
	case waited && rate > 0 && s.rate > rate:
		rate = s.rate
	case !waited || c.drained.Load() && !gaveUp: // none waited for a moment: all that came was served, and the rate is that of what came
		s.turn = turn{}
		return
	case s.turn.since == 0:
		s.turn = turn{s.since, s.served}
		fallthrough
	default:
		if c.served()-s.turn.served < running && now-s.turn.since < int64(longestWait) {
			return
		}
		rate = float64(c.served()-s.turn.served) / time.Duration(now-s.turn.since).Seconds()
	}
	s.turn = turn{now, c.served()}
	c.rate.Store(math.Float64bits(rate))
}

// isProportional reports whether the rates with the limit that is tried and with the one before are as far apart as the limits, so that
// the handlers must be waiting for something. What is known of the one before is the rate that is wanted of the other.
func (c *Control) isProportional(limit int64) bool {
	t := &c.search.try
	if t.held == &c.search.down {
		return c.search.rate < 2*t.rate/asMany*float64(limit)/float64(t.before)
	}
	return c.search.rate > 0.7*t.rate/more*float64(limit)/float64(t.before)
}

// giveUp goes back to the limit before the one that was tried.
func (c *Control) giveUp(now int64) {
	s := &c.search
	if s.try.held == &s.up || s.careful || s.proportional {
		s.try.held.wait(now)
	}
	s.careful = s.careful || s.try.held == &s.down
	if rate := math.Float64frombits(c.rate.Load()); s.try.held == &s.down && rate > 0 { // it may be that of the smaller limit
		c.rate.Store(math.Float64bits(max(rate, s.try.rate/asMany)))
	}
	c.limit.Store(s.try.before)
	s.try, s.turn = try{}, turn{}
	c.beginWindow(now)
}
