package grain

import (
	"slices"

	"github.com/cespare/xxhash/v2"
)

// view lists the kinds that each node serves, as one node knows it at one moment. It does not change.
type view struct {
	self    string
	among   int
	kinds   map[string][]member // in the order of the nodes' names
	changed chan struct{}       // closed when there is a newer one
}

type member struct {
	node string
	hash uint64
}

// newView makes a view of what each node serves.
func newView(self string, among int, serving map[string][]string) *view {
	v := &view{self: self, among: among, kinds: map[string][]member{}, changed: make(chan struct{})}
	for node, kinds := range serving {
		for _, k := range kinds {
			v.kinds[k] = append(v.kinds[k], member{node, xxhash.Sum64String(node)})
		}
	}
	for _, members := range v.kinds {
		slices.SortFunc(members, func(a, b member) int {
			if a.node < b.node {
				return -1
			}
			return 1
		})
	}
	return v
}

// owner is the node where a grain is to be.
func (v *view) owner(of Address) (string, error) {
	if owner := v.pick(of); owner != "" {
		return owner, nil
	}
	if n := len(v.kinds[of.Kind]); n > 0 {
		return "", problem(ErrNoOwner, v.self, "%s: %d nodes that serve the kind are reached, and it takes %d, see Among of grain.Config", of, n, v.among)
	}
	return "", problem(ErrNoOwner, v.self, "%s: no node that is reached serves the kind", of)
}

func (v *view) mine(of Address) bool { return v.pick(of) == v.self }

// pick is the owner, "" for none: of the nodes that serve the kind the one with the highest score, which is rendezvous
// hashing (Thaler and Ravishankar 1998, "Using name-based mappings to increase hit rates").
func (v *view) pick(of Address) string {
	members := v.kinds[of.Kind]
	switch {
	case len(members) < v.among: // which is 1 at least
		return ""
	case len(members) == 1:
		return members[0].node
	}
	hash := of.hash()
	best, highest := 0, mix(hash, members[0].hash)
	for i := 1; i < len(members); i++ {
		if score := mix(hash, members[i].hash); score > highest {
			best, highest = i, score
		}
	}
	return members[best].node
}

// mix makes one number of two in which every bit depends on all of theirs: the finalizer of SplitMix64 (Steele, Lea and
// Flood 2014, https://doi.org/10.1145/2714064.2660195).
func mix(a, b uint64) uint64 {
	x := a ^ b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
