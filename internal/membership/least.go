package membership

// LeastInFlight picks the candidate with the fewest calls from this node in flight. Up to 4 candidates are all looked at;
// above that it is the better of two random ones, which comes close and avoids that all callers choose the same one
// (Mitzenmacher 2001, "The power of two choices in randomized load balancing"). Where two have the same number, the
// load in their last heartbeats decides between two, and chance among all.
func LeastInFlight() Balancer { return leastInFlight{} }

type leastInFlight struct{}

// fewCandidates is the number of candidates that are looked at one by one.
const fewCandidates = 4

func (leastInFlight) Pick(among []*Candidate, _ string) *Candidate {
	n := len(among)
	if n > fewCandidates {
		i, j := twoOf(n)
		return lessBusy(among[i], among[j])
	}
	at := below(n) // begin anywhere, so that ties are spread
	best := among[at]
	for range n - 1 {
		if at++; at == n {
			at = 0
		}
		if among[at].inFlight.Load() < best.inFlight.Load() {
			best = among[at]
		}
	}
	return best
}

func lessBusy(a, b *Candidate) *Candidate {
	mine, other := a.inFlight.Load(), b.inFlight.Load()
	if other < mine || other == mine && b.load.Load() < a.load.Load() {
		return b
	}
	return a
}
