// Package outlier finds, among the nodes that offer one action, those that answer worse than the others, and leaves them out for a
// while:
//
//	g := outlier.New(settings, changed)
//	g.Follow(records)
//	start := record.Begin(n)
//	… // the call
//	record.End(start, outlier.Failure)
//
// What makes a node sick are failures one after the other, as in Finagle's failure accrual and linkerd; a share of failures that is
// higher than that of the others, as in Envoy's success rate; and answers that are slower than those of the others. Two things
// differ from Envoy. Nothing counts by itself: a node is sick only by comparison, so that an outage or an overload of all of
// them leaves out none, or one for a moment. And Envoy compares with mean and deviation over at least five hosts, where most
// clusters here have three: so each node is compared with all others together, by a test of two shares.
//
// A node that was left out comes back by a trial, as in Finagle: when its time is over, one call goes there, and its outcome decides.
//
// A call costs an addition and, one in sixteen where there are many, two looks at the clock. What compares runs at failures and once a second.
package outlier

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Reason is why a node is left out.
type Reason string

// The reasons.
const (
	Failing Reason = "failures one after the other"
	Worse   Reason = "more failures than the others"
	Slow    Reason = "slower than the others"
)

// Change is news of a node: it is left out, or it is back.
type Change struct {
	Node   string
	Reason Reason        // "" for one that is back
	For    time.Duration // that it is left out at least
	Count  int           // how often it was lately
}

// Group is the nodes that offer one action. Its methods may be called by many goroutines at once.
type Group struct {
	settings Settings
	changed  func(*Change) // nil for a change that only routing needs

	mu      sync.Mutex
	records []*Record
}

// New makes a group. changed is called after each change of what [Record.Takes] returns: it must not block, nor call the group. It gets nil where the change is of no interest to people.
func New(s Settings, changed func(*Change)) *Group {
	return &Group{settings: s.Defaults(), changed: changed}
}

// NewRecord makes the record of a node that [Group.Follow] is to be given.
func (g *Group) NewRecord(node string) *Record { return &Record{Node: node, group: g} }

// Follow sets the nodes of the group: what is known of others is forgotten.
func (g *Group) Follow(records []*Record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.records {
		if !slices.Contains(records, r) && r.state.Load() != in {
			g.comeBack(r) // it has gone: whoever counts those that are left out counts it no more
		}
	}
	g.records = records
	for g.out() > g.mostOut() {
		g.comeBack(g.longestOut())
	}
}

// mostOut is the number of nodes that may be left out: the share of all, and never all of them.
func (g *Group) mostOut() int {
	return max(0, min(int(g.settings.MaxShare*float64(len(g.records))), len(g.records)-1))
}

func (g *Group) out() (count int) {
	for _, r := range g.records {
		if r.state.Load() != in {
			count++
		}
	}
	return count
}

func (g *Group) longestOut() (longest *Record) {
	for _, r := range g.records {
		if r.state.Load() != in && (longest == nil || r.since.Before(longest.since)) {
			longest = r
		}
	}
	return longest
}

// luck is the chance of a run of failures, were the node like the others, below which it is taken for sick.
const luck = 1e-6

// failing looks at a node after failures one after the other.
func (g *Group) failing(r *Record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	run := float64(r.run.Load())
	if run < float64(g.settings.Failures) || r.state.Load() != in {
		return
	}
	if calls, failures := g.othersNow(r); calls > 0 {
		// The failures that all nodes have by chance come in runs as well. One call that went well counts as half a failure.
		if share := (failures + 0.5) / (calls + 1); run < math.Log(luck)/math.Log(min(share, 0.999)) {
			return
		}
	}
	g.leaveOut(r, Failing, 0)
}

// othersNow counts the calls of the other nodes in the last one to two seconds.
func (g *Group) othersNow(r *Record) (calls, failures float64) {
	for _, other := range g.records {
		if other != r {
			calls += other.last.calls + float64(other.calls.Load())
			failures += other.last.failures + float64(other.failures.Load())
		}
	}
	return calls, failures
}

// Bounds of the comparisons.
const (
	fewestCalls  = 20  // of a node, and of the others, for a comparison of their failures
	fewestTimes  = 10  // measured, for a comparison of their times
	slowLooks    = 3   // one after the other at which a node must be slow
	significance = 3.0 // deviations by which two shares differ
	fade         = 0.8 // what a second leaves of a count: those of about five seconds count
)

// Look compares the nodes. It is to be called once a second.
func (g *Group) Look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	idle := true
	for _, r := range g.records {
		r.turn()
		idle = idle && r.recent.calls < 1
	}
	if idle || g.settings.Off || len(g.records) < 2 {
		return
	}
	for _, r := range g.records {
		if r.state.Load() != in {
			continue
		}
		others, times := g.othersRecent(r)
		if g.worse(r.recent, others) {
			g.leaveOut(r, Worse, 0)
			continue
		}
		limit, slow := g.slow(r.timing.Load(), &times)
		if !slow {
			r.slowLooks = 0
			continue
		}
		if r.slowLooks++; r.slowLooks >= slowLooks {
			g.leaveOut(r, Slow, limit)
		}
	}
}

func (g *Group) othersRecent(r *Record) (sum counts, times histogram) {
	for _, other := range g.records {
		if other != r && other.state.Load() == in {
			sum.calls += other.recent.calls
			sum.failures += other.recent.failures
			if t := other.timing.Load(); t != nil {
				times.add(&t.fading)
			}
		}
	}
	return sum, times
}

// worse compares two shares of failures: the gap must be wide, and no chance.
func (g *Group) worse(one, others counts) bool {
	if one.calls < fewestCalls || others.calls < fewestCalls {
		return false
	}
	gap := one.failures/one.calls - others.failures/others.calls
	all := (one.failures + others.failures) / (one.calls + others.calls)
	deviation := math.Sqrt(all * (1 - all) * (1/one.calls + 1/others.calls))
	return gap >= g.settings.Gap && gap > significance*deviation
}

// slow compares two medians. limit is the time from which on an answer is slow.
func (g *Group) slow(one *timing, others *histogram) (limit time.Duration, slow bool) {
	if g.settings.SlowFactor < 0 || one == nil || one.fading.sum() < fewestTimes || others.sum() < fewestTimes {
		return 0, false
	}
	usual := others.median()
	limit = max(time.Duration(g.settings.SlowFactor*float64(usual)), usual+g.settings.SlowBy)
	return limit, one.fading.median() > limit
}

// leaveOut leaves a node out for a time that grows with each time, if not too many are. It runs under mu, as all that follows.
func (g *Group) leaveOut(r *Record, why Reason, slow time.Duration) {
	if g.out() >= g.mostOut() {
		return
	}
	if !r.back.IsZero() { // each time as long as the first one that it was well takes one off
		r.count = max(0, r.count-int(time.Since(r.back)/g.settings.Base))
	}
	r.slowFrom = slow
	g.begin(r, why)
}

// begin begins a time out.
func (g *Group) begin(r *Record, why Reason) {
	r.count++
	r.since, r.reason = time.Now(), why
	length := min(time.Duration(r.count)*g.settings.Base, g.settings.Max)
	r.until = r.since.Add(length)
	r.state.Store(out)
	r.stopTimer()
	r.timer = time.AfterFunc(length, r.offer)
	g.changed(&Change{Node: r.Node, Reason: why, For: length, Count: r.count})
}

// comeBack ends the time out of a node.
func (g *Group) comeBack(r *Record) {
	r.stopTimer()
	r.forget()
	r.back = time.Now()
	r.state.Store(in)
	g.changed(&Change{Node: r.Node, Count: r.count})
}

// tried takes the outcome of a trial.
func (g *Group) tried(r *Record, o Outcome, took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.state.Load() != trying {
		return
	}
	slow := r.slowFrom > 0 && took > r.slowFrom
	switch {
	case o == Neither && !slow:
		r.state.Store(trial)
		g.changed(nil)
	case o == Success && !slow:
		g.comeBack(r)
	default:
		if calls, failures := g.othersNow(r); !slow && calls > 0 && failures > calls/2 {
			g.comeBack(r) // it is like the others
			return
		}
		g.begin(r, r.reason)
	}
}

// Status is a node that is left out, for listings.
type Status struct {
	Node   string
	Reason Reason
	Since  time.Time
	Until  time.Time // when a call tries it
	Count  int       // how often it was left out lately
}

// Out lists the nodes that are left out.
func (g *Group) Out() (list []Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.records {
		if r.state.Load() != in {
			list = append(list, Status{Node: r.Node, Reason: r.reason, Since: r.since, Until: r.until, Count: r.count})
		}
	}
	return list
}
