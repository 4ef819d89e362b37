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
// All methods may be called from any number of goroutines at once. The zero value is ready for use.
type Action struct {
	running atomic.Int64
	limit   atomic.Int64 // 0 for none

	mu          sync.Mutex
	since       time.Time // the window's beginning
	ended, late int
	timeouts    time.Duration // of all that have ended in this window
	most        int64         // that have run at once
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
)

// Begin takes a place for a request. It is false where there is none.
func (a *Action) Begin() bool {
	running := a.running.Add(1)
	if limit := a.limit.Load(); limit > 0 && running > limit {
		a.running.Add(-1)
		return false
	}
	return true
}

// End gives back the place of a request that had a timeout, 0 for none. late is asked where it matters.
func (a *Action) End(timeout time.Duration, late func() bool) {
	running := a.running.Add(-1) + 1
	if timeout <= 0 || running <= unlooked && a.limit.Load() == 0 {
		return
	}
	tooLate := late()
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended == 0 && now.Sub(a.since) > 10*actionWindow {
		a.since, a.piling = now, false // nothing has ended for long: what comes is another load
	}
	a.ended++
	a.timeouts += timeout
	a.most = max(a.most, running)
	if tooLate {
		a.late++
	}
	lasted := now.Sub(a.since)
	if a.ended < windowRequests || lasted < actionWindow {
		return
	}
	before := a.limit.Load()
	if limit := a.next(now, lasted, running-1); limit != before {
		a.changed = now
		a.limit.Store(limit)
	}
	a.since, a.ended, a.late, a.timeouts, a.most = now, 0, 0, 0, 0
}

// next is the limit after a window. It runs under mu.
func (a *Action) next(now time.Time, lasted time.Duration, running int64) int64 {
	limit, timeout := a.limit.Load(), a.timeouts/time.Duration(a.ended)
	inTime := float64(a.ended) / lasted.Seconds() * timeout.Seconds() // so many of those that run now
	piled := a.piling
	a.piling = float64(running) > 1.2*inTime
	switch {
	case 2*a.late >= a.ended || piled && a.piling:
		a.tooHigh, a.calm = a.most, 0
		return max(1, min(int64(inTime/2), a.most*3/4))
	case limit == 0:
		return 0
	case 20*a.late >= a.ended:
		a.calm = 0
		return max(1, limit-limit/16)
	case 2*a.most <= limit:
		if a.calm++; a.calm >= forgetAfter {
			return 0
		}
		return limit
	}
	a.calm = 0
	switch {
	case a.most < limit || float64(limit) > 0.7*inTime || now.Sub(a.changed) < min(timeout/2, longestEffect):
		return limit
	case 2*limit < a.tooHigh || limit > a.tooHigh:
		return limit + max(1, limit/4)
	}
	return limit + max(1, limit/32)
}
