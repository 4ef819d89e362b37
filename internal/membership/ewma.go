package membership

// PeakEWMA picks the better of two random candidates by expected latency: the decaying peak of how long calls took times
// the calls in flight and this one. A node that becomes slow is avoided from its first slow answer, and tried again as the
// memory fades, with a time constant of 10 s. A candidate that was never measured is taken before one that was, but only
// by one call at a time until its first answer.
//
// The method is Finagle's (PeakEwma in https://github.com/twitter/finagle).
func PeakEWMA() Balancer { return peakEWMA{} }

type peakEWMA struct{}

func (peakEWMA) Pick(among []*Candidate, _ string) *Candidate {
	if len(among) == 1 {
		return among[0].measured()
	}
	i, j := twoOf(len(among))
	a, b := among[i].measured(), among[j].measured()
	now := clock()
	if b.expected(now) < a.expected(now) {
		return b
	}
	return a
}

// measured switches the timing of calls on.
func (c *Candidate) measured() *Candidate {
	if !c.timed.Load() {
		c.timed.Store(true)
	}
	return c
}

// unknownCost is the latency of a candidate that has calls in flight and never answered: so bad that others are taken
// first. Finagle calls it the penalty.
const unknownCost = float64(1 << 47)

func (c *Candidate) expected(now int64) float64 {
	calls := float64(max(c.inFlight.Load(), 0))
	cost := c.latency.at(now)
	if cost == 0 && calls > 0 {
		return unknownCost + calls
	}
	return cost * (calls + 1)
}
