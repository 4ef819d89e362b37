package outlier

import (
	"sync/atomic"
	"time"
)

// Outcome is how a call of a node ended.
type Outcome uint8

// The outcomes. Those that the callers brought upon themselves are successes: the node works.
const (
	Success  Outcome = iota
	Failure          // the node did not do its work: unavailable, a lost link, a deadline that passed
	Overload         // the node has too much to do: a failure, but none that is made worse by its number in a row
	Neither          // it shows nothing: the caller gave up, or the action had just gone from the node
)

// The states of a record.
const (
	in     int32 = iota // calls go there
	out                 // none goes there
	trial               // its time is over: one call may try it
	trying              // that call is under way
)

// Record counts the outcomes of the calls of one action on one node. Its methods may be called by many goroutines at once, and on nil,
// which counts nothing.
type Record struct {
	Node  string
	group *Group
	state atomic.Int32
	every atomic.Uint32 // of so many calls one is measured, by their number in the last second

	_        [64]byte // what follows is written by every call
	calls    atomic.Uint32
	failures atomic.Uint32          // of these
	run      atomic.Int32           // of failures up to now
	timing   atomic.Pointer[timing] // nil before the first call that was measured

	// Guarded by the group's mu.
	last      counts // of the second before the last look
	recent    counts // fading
	slowLooks int
	slowFrom  time.Duration // where it was left out for being slow: from when on an answer is
	reason    Reason
	count     int // times that it was left out, less those that it has been well for since
	since     time.Time
	until     time.Time
	back      time.Time
	timer     *time.Timer
}

// timing is how long calls took.
type timing struct {
	fresh  [buckets]atomic.Uint32 // of the last second
	fading histogram              // guarded by the group's mu
}

// counts is calls and those of them that failed.
type counts struct{ calls, failures float64 }

// Takes reports whether calls may go to the node: as any, or for a trial, which [Record.Claim] begins.
func (r *Record) Takes() bool {
	if r == nil {
		return true
	}
	state := r.state.Load()
	return state == in || state == trial
}

// OnTrial reports whether a call must claim the trial before it goes to the node.
func (r *Record) OnTrial() bool { return r != nil && r.state.Load() == trial }

// Claim begins the trial of a node, and reports whether it did: only one call at a time may. That call ends with [Record.EndTrial].
func (r *Record) Claim() bool {
	if !r.state.CompareAndSwap(trial, trying) {
		return false
	}
	r.group.changed(nil)
	return true
}

// Begin begins a call. What it returns goes to End: the time, for a call that is to be measured, as all are of which there are few, and
// one of sixteen of those of which there are many. n is the caller's count of its calls, which costs less than one of all callers.
func (r *Record) Begin(n uint32) (start int64) {
	if r == nil {
		return 0
	}
	if every := r.every.Load(); every <= 1 || n%every == 0 {
		return clock()
	}
	return 0
}

const (
	fewCalls   = 200 // in a second
	measuredOf = 16
)

// End ends a call.
func (r *Record) End(start int64, o Outcome) {
	switch {
	case r == nil:
		return
	case o == Success:
		r.calls.Add(1)
		if r.run.Load() != 0 {
			r.run.Store(0)
		}
	case o != Neither:
		r.calls.Add(1)
		r.failures.Add(1)
		if o == Failure && r.run.Add(1) >= int32(r.group.settings.Failures) {
			r.group.failing(r)
		}
		return
	}
	if start != 0 { // one that was given up took so long at least
		r.took(clock() - start)
	}
}

func (r *Record) took(nanoseconds int64) {
	t := r.timing.Load()
	if t == nil {
		r.timing.CompareAndSwap(nil, &timing{})
		t = r.timing.Load()
	}
	t.fresh[bucketOf(nanoseconds)].Add(1)
}

// EndTrial ends the call of a trial.
func (r *Record) EndTrial(o Outcome, took time.Duration) { r.group.tried(r, o, took) }

// offer lets a call try the node.
func (r *Record) offer() {
	if r.state.CompareAndSwap(out, trial) {
		r.group.changed(nil)
	}
}

// turn moves the counts of the last second on. It runs under the group's mu.
func (r *Record) turn() {
	if r.calls.Load() == 0 && r.recent.calls < 0.5 { // it has not been called for long
		r.last, r.recent = counts{}, counts{}
		return
	}
	if r.calls.Load() > fewCalls {
		r.every.Store(measuredOf)
	} else {
		r.every.Store(1)
	}
	r.last = counts{float64(r.calls.Swap(0)), float64(r.failures.Swap(0))}
	r.recent.calls = r.recent.calls*fade + r.last.calls
	r.recent.failures = r.recent.failures*fade + r.last.failures
	if t := r.timing.Load(); t != nil {
		for i := range t.fresh {
			t.fading[i] *= fade
			if t.fresh[i].Load() != 0 {
				t.fading[i] += float32(t.fresh[i].Swap(0))
			}
		}
	}
}

// forget begins anew. It runs under the group's mu.
func (r *Record) forget() {
	r.calls.Store(0)
	r.failures.Store(0)
	r.run.Store(0)
	r.timing.Store(nil)
	r.last, r.recent, r.slowLooks = counts{}, counts{}, 0
}

func (r *Record) stopTimer() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

var epoch = time.Now().Add(-time.Hour) // so that the clock is never 0, which is "not measured"

// clock is nanoseconds of the monotonic clock.
func clock() int64 { return int64(time.Since(epoch)) }
