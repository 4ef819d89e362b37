package cluster

import (
	"maps"
	"slices"
)

// Balancer picks which candidate gets a call. Make one for each action, from a factory such as one that [Named] returns:
// its state is that action's.
//
// Pick's among is never empty, and none of its elements is nil. The balancer does not keep among, or change it. key is what a call wants to be
// kept together by; "" for none, and most balancers pass it by. Pick may be called by many goroutines at once and allocates
// nothing as long as among holds what it held at the last call.
type Balancer interface {
	Pick(among []*Candidate, key string) *Candidate
}

// factories holds the balancers that configuration can name.
var factories = map[string]func() Balancer{
	"round-robin": RoundRobin,
	"random":      Random,
	"least":       LeastInFlight,
	"ewma":        PeakEWMA,
	"hash":        ConsistentHash,
}

// Named finds the factory of a balancer: "round-robin", "random", "least", "ewma" or "hash".
func Named(name string) (factory func() Balancer, known bool) {
	factory, known = factories[name]
	return factory, known
}

// Names lists what Named knows, sorted.
func Names() []string { return slices.Sorted(maps.Keys(factories)) }
