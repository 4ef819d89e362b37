package cluster

import "strconv"

// Balancer is a way to share the calls of an action among the nodes that offer it, for sabir.Balance. Whichever it is, nodes of
// the caller's zone go first, and of those the nodes that share more of its labels: see [Config].
type Balancer uint8

// The balancers.
const (
	// RoundRobin picks each node in turn. It is the default.
	RoundRobin Balancer = iota
	// Random picks any node, all alike.
	Random
	// LeastInFlight picks the node with the fewest calls from this node in flight: of up to four nodes the best one, of more the
	// better of two random ones. Between equal ones the load in their last heartbeats decides.
	LeastInFlight
	// EWMA picks the better of two random nodes by expected latency: the decaying peak of how long calls took times the calls in
	// flight. A node that becomes slow is avoided from its first slow answer and tried again after about 10 s.
	EWMA
	// Hash picks by sabir.ByKey: calls with one key go to one node, and few keys move when nodes come and go. Calls without a key
	// go round robin. It does not look at load.
	Hash
)

var balancers = [...]string{RoundRobin: "round-robin", Random: "random", LeastInFlight: "least-in-flight", EWMA: "ewma", Hash: "hash"}

// String is the balancer's name: "round-robin", "random", "least-in-flight", "ewma" or "hash".
func (b Balancer) String() string {
	if int(b) < len(balancers) {
		return balancers[b]
	}
	return "Balancer(" + strconv.Itoa(int(b)) + ")"
}
