package membership

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Candidate is a node as a balancer sees it: one for each peer node, shared by all actions that it offers. Make it with
// [NewCandidate]; all methods may be called by many goroutines at once.
type Candidate struct {
	ID    string
	Place Place

	hash   uint64 // of the ID
	*count        // shared with the candidates that At makes
}

// count has the numbers that every call writes, apart from what every pick reads.
type count struct {
	timed    atomic.Bool
	_        [64]byte // which is read by calls that are not timed, too
	inFlight atomic.Int64
	load     atomic.Int64
	latency  latency
}

// NewCandidate makes the candidate of a node.
func NewCandidate(id string, at Place) *Candidate {
	return &Candidate{ID: id, Place: at, hash: xxhash.Sum64String(id), count: &count{}}
}

// At is the candidate of the same node at another place: it goes on with the counts of c. It is another one, so that who keeps candidates sees
// the change.
func (c *Candidate) At(p Place) *Candidate {
	return &Candidate{ID: c.ID, Place: p, hash: c.hash, count: c.count}
}

// Begin counts a call to this node. Give what it returns to End. The clock is read only when a balancer wants latencies,
// as PeakEWMA does.
func (c *Candidate) Begin() (start int64) {
	c.inFlight.Add(1)
	if c.timed.Load() {
		return clock()
	}
	return 0
}

// End is the end of a call. failed means that the node did not do its work, such as a lost link, an overload or a timeout;
// an error that the action means is not a failure.
func (c *Candidate) End(start int64, failed bool) {
	c.inFlight.Add(-1)
	if start != 0 {
		c.latency.observe(clock(), start, failed)
	}
}

// InFlight is the number of calls from this node to that one have begun and not ended.
func (c *Candidate) InFlight() int { return int(c.inFlight.Load()) }

// SetLoad sets the load that the node reported in its last heartbeat: calls in flight there, from all its callers.
func (c *Candidate) SetLoad(calls int) { c.load.Store(int64(calls)) }

// Load returns the value of the last SetLoad; 0 before.
func (c *Candidate) Load() int { return int(c.load.Load()) }

// Latency is the decaying peak of how long calls took, as [PeakEWMA] sees it now; 0 while no balancer wanted it measured.
func (c *Candidate) Latency() time.Duration {
	if !c.timed.Load() {
		return 0
	}
	return time.Duration(c.latency.at(clock()))
}

// latency is an average of latencies that rises at once and falls slowly: a peak-sensitive, exponentially weighted moving
// average whose weights go by time and not by count, as in Finagle's peak EWMA
// (https://github.com/twitter/finagle, com.twitter.finagle.loadbalancer.p2c, PeakEwma).
type latency struct {
	cost atomic.Uint64 // float64 bits, ns
	when atomic.Int64  // of cost, by the clock
}

const (
	// decay is the age at which a call weighs 1/e. Finagle's default: a node that was slow gets its full share back within
	// about half a minute.
	decay = 10 * time.Second
	// failureCost is the latency a failure counts as at least, so that a node that fails fast does not look fast.
	failureCost = float64(time.Second)
)

// observe takes in a call that ended now. Two observations at one moment may each miss the other's share of the decay; the
// peak is never missed.
func (l *latency) observe(now, start int64, failed bool) {
	took := float64(max(now-start, 1))
	if failed {
		took = max(took, failureCost)
	}
	since := now - l.when.Swap(now)
	weight := 0.0
	for {
		bits := l.cost.Load()
		cost := math.Float64frombits(bits)
		next := took
		if took < cost {
			if weight == 0 {
				weight = math.Exp(-float64(max(since, 0)) / float64(decay))
			}
			next = cost*weight + took*(1-weight)
		}
		if l.cost.CompareAndSwap(bits, math.Float64bits(next)) {
			return
		}
	}
}

// at is the average decayed to a moment, so that a node that is no longer called gets another chance.
func (l *latency) at(now int64) float64 {
	cost := math.Float64frombits(l.cost.Load())
	since := now - l.when.Load()
	if cost == 0 || since <= int64(decay)/64 { // less than 2 % decay: not worth the exponential
		return cost
	}
	return cost * math.Exp(-float64(since)/float64(decay))
}

var epoch = time.Now().Add(-time.Hour) // so that the clock is never 0, which is "not timed"

// clock is nanoseconds of the monotonic clock.
func clock() int64 { return int64(time.Since(epoch)) }
