package admission

import (
	"sync"
	"sync/atomic"
	"time"
)

// Action bounds how many requests of one action run at once, where they wait for something that the node does not see: connections to a
// database, another service, a lock. By Little's law so many can be in time as are finished in a second, times the time that they
// have. Half of that becomes the limit once more run, in two windows, or half of the requests come to their ends too late: each of them
// waits behind others that nobody waits for any more. The limit grows again while requests are in time, fast where it is far
// from the one that was too high, and slowly near it.
//
// The time that they have is that of the most hurried tenth: with the mean of all, callers with a second would keep so many waiting that
// those with 20 ms were late behind them. A caller with less time than the action takes where nothing waits does not count, as no limit
// could help it, and the limit never goes below what keeps the rate: as many as are finished in that time.
//
// All methods may be called from any number of goroutines at once. The zero value is ready for use.
type Action struct {
	running    atomic.Int64
	limit      atomic.Int64 // 0 for none
	unexamined atomic.Int64 // requests of this window that ended without being looked at

	mu          sync.Mutex
	since       time.Time     // the window's beginning
	last        time.Time     // the last end
	goesOn      time.Time     // requests that began before that do not count
	interval    time.Duration // between two ends
	ended, late int
	most        int64         // that have run at once
	hurry       time.Duration // nine of ten requests have more time than that
	fastest     time.Duration // a request takes, where it waits for no other
	piling      bool          // at the end of the last window more ran than can be in time
	changed     time.Time     // when the limit was set
	tooHigh     int64         // the last limit that was
	calm        int           // windows in which half of the limit was enough
}

const (
	// unlooked is the number that may run without their ends being looked at.
	unlooked = 8
	// A window lasts so long, or until so many requests have ended.
	actionWindow, windowRequests = 100 * time.Millisecond, 10
	// The limit grows at most once in half of the requests' time, as its effect shows only then; or after this.
	longestEffect = time.Second
	// forgetAfter is the number of windows with half of the limit in use after which there is none.
	forgetAfter = 10
	// slower is how much slower the fastest request may be in each window than in the one before.
	slower = 1.01
)

// Begin takes a place for a request, and is false where there is none. begun is for End.
func (a *Action) Begin() (begun time.Time, ok bool) {
	running, limit := a.running.Add(1), a.limit.Load()
	switch {
	case limit > 0 && running > limit:
		a.running.Add(-1)
		return begun, false
	case limit == 0 && running <= unlooked:
		return begun, true
	}
	return time.Now(), true
}

// End gives back the place of a request that began then and had a timeout, 0 for none. late is asked where it matters.
func (a *Action) End(begun time.Time, timeout time.Duration, late func() bool) {
	running := a.running.Add(-1) + 1
	switch {
	case timeout <= 0:
		return
	case begun.IsZero():
		a.unexamined.Add(1)
		return
	}
	tooLate := late()
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	stoodStill := a.stoodStill(begun, now)
	if took := now.Sub(begun); took < a.fastest || a.fastest == 0 {
		a.fastest = took
	}
	if stoodStill {
		return
	}
	a.ended++
	a.most = max(a.most, running)
	if timeout > a.fastest {
		a.hurry = toQuantile(a.hurry, timeout)
		if tooLate {
			a.late++
		}
	}
	lasted := now.Sub(a.since)
	if a.ended < windowRequests || lasted < actionWindow {
		return
	}
	a.interval = lasted / time.Duration(a.ended)
	before := a.limit.Load()
	if limit := a.next(now, lasted, running-1); limit != before {
		a.changed = now
		a.limit.Store(limit)
	}
	a.since, a.ended, a.late, a.most = now, 0, 0, 0
	a.fastest = time.Duration(float64(a.fastest) * slower)
}

// stoodStill reports whether the request that ends now says nothing of how many may run: for far longer than usual none has ended, or it
// began before that time was over. Nothing was asked for, or the process was stopped, or what all wait for was: with 7 s of SIGSTOP in
// a window ten requests were "1.4 in a second", all of them late, and the limit became 1. It runs under mu.
func (a *Action) stoodStill(begun, now time.Time) bool {
	gap := now.Sub(a.last)
	if gap > max(stoodStill, 10*a.interval) {
		a.unexamined.Store(0)
		a.since, a.ended, a.late, a.most, a.piling, a.hurry, a.fastest = now, 0, 0, 0, false, 0, 0
		a.goesOn, a.interval = now, min(gap, time.Minute) // as it may be usual
	}
	a.last = now
	return begun.Before(a.goesOn)
}

// toQuantile moves an estimate towards the time that nine of ten requests exceed: with a request that has less it goes down as far as
// it goes up with nine that have more.
func toQuantile(estimate, own time.Duration) time.Duration {
	switch {
	case estimate == 0:
		return own
	case own < estimate:
		return max(own, time.Duration(float64(estimate)*(1-(1-hurried)*adapts)))
	}
	return min(own, time.Duration(float64(estimate)*(1+hurried*adapts)))
}

// next is the limit after a window. It runs under mu.
func (a *Action) next(now time.Time, lasted time.Duration, running int64) int64 {
	limit, rate := a.limit.Load(), float64(int64(a.ended)+a.unexamined.Swap(0))/lasted.Seconds()
	lowest := max(1, int64(rate*a.fastest.Seconds()))
	inTime := rate * a.hurry.Seconds() // so many of those that run now
	piled := a.piling
	a.piling = float64(running) > 1.2*inTime
	switch {
	case 2*a.late >= a.ended || piled && a.piling:
		a.tooHigh, a.calm = a.most, 0
		return max(lowest, min(int64(inTime/2), a.most*3/4))
	case limit == 0:
		return 0
	case 20*a.late >= a.ended:
		a.calm = 0
		return max(lowest, limit-limit/16)
	case 2*a.most <= limit:
		if a.calm++; a.calm >= forgetAfter {
			return 0
		}
		return limit
	}
	a.calm = 0
	switch {
	case a.most < limit || float64(limit) > 0.7*inTime || now.Sub(a.changed) < min(a.hurry/2, longestEffect):
		return limit
	case 2*limit < a.tooHigh || limit > a.tooHigh:
		return limit + max(1, limit/4)
	}
	return limit + max(1, limit/32)
}
