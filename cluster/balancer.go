package cluster

import (
	"maps"
	"slices"
)

// Balancer picks which candidate gets a call. Make one for each action, from a factory such as one that [Named] returns:
// its state is that action's.
//
// Pick's among is never empty and has no nil; the balancer neither keeps nor changes it. Calls with the same key belong on
// the same node, if the balancer heeds keys, which most do not; "" is no key. Pick may be called by many goroutines at
// once. It allocates nothing, but for Nearest when among holds others than at the last call.
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
