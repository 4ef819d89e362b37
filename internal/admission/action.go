package admission

import (
	"sync"
	"sync/atomic"
	"time"
)

// Action bounds how many requests of one action run at once, where they wait for something that the node does not see: connections to a
// database, another service, a lock. It bounds nothing until half of the requests come to their ends too late, for each of them then
// waits behind others that nobody waits for any more. By Little's law so many can be in time as are finished in a second, times
// the time that they have; half of that is the limit. It grows again while requests are in time, fast where it is far from
// the limit that was too high, and slowly near it.
//
// All methods may be called from any number of goroutines at once. The zero value is ready for use.
type Action struct {
	running atomic.Int64
	limit   atomic.Int64 // 0 for none

	mu          sync.Mutex
	since       time.Time
	ended, late int
	timeouts    time.Duration // of all that have ended in this window
	most        int64         // that have run at once
	tooHigh     int64         // the last limit that was
	idleWindows int
}

const (
	// unlooked is the number that may run without their ends being looked at.
	unlooked = 8
	// A window lasts as long as half of the requests' time, within these bounds, and has so many requests.
	shortestWindow, longestWindow = 100 * time.Millisecond, time.Second
	windowRequests                = 10
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
	if a.ended == 0 && now.Sub(a.since) > longestWindow {
		a.since = now
	}
	a.ended++
	a.timeouts += timeout
	a.most = max(a.most, running)
	if tooLate {
		a.late++
	}
	lasted := now.Sub(a.since)
	if a.ended < windowRequests || lasted < min(max(a.timeouts/time.Duration(2*a.ended), shortestWindow), longestWindow) {
		return
	}
	a.limit.Store(a.next(lasted))
	a.since, a.ended, a.late, a.timeouts, a.most = now, 0, 0, 0, 0
}

// next is the limit after a window. It runs under mu.
func (a *Action) next(lasted time.Duration) int64 {
	limit := a.limit.Load()
	switch {
	case 2*a.late >= a.ended:
		a.tooHigh, a.idleWindows = a.most, 0
		inTime := float64(a.ended) / lasted.Seconds() * (a.timeouts / time.Duration(a.ended)).Seconds()
		return max(1, min(int64(inTime/2), a.most*3/4))
	case limit == 0:
		return 0
	case 20*a.late >= a.ended:
		a.idleWindows = 0
		return max(1, limit-limit/16)
	case 2*a.most <= limit:
		if a.idleWindows++; a.idleWindows >= forgetAfter {
			return 0
		}
		return limit
	case a.most < limit:
		a.idleWindows = 0
		return limit
	}
	a.idleWindows = 0
	if 2*limit < a.tooHigh || limit > a.tooHigh {
		return limit + max(1, limit/4)
	}
	return limit + max(1, limit/32)
}
