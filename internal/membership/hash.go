package membership

import "github.com/cespare/xxhash/v2"

// ConsistentHash picks by key: the same key gets the same node on every node of the cluster, and when one of n nodes comes
// or goes, only the keys it gets or had move, about one in n. A call without a key goes round robin.
//
// It is rendezvous hashing (Thaler and Ravishankar 1998, "Using name-based mappings to increase hit rates"): no table to
// keep, and work in proportion to the number of candidates, about 2 ns each. It does not look at load: one hot key is one
// node's work.
func ConsistentHash() Balancer { return &consistentHash{RoundRobin()} }

type consistentHash struct{ keyless Balancer }

func (h *consistentHash) Pick(among []*Candidate, key string) *Candidate {
	if key == "" {
		return h.keyless.Pick(among, key)
	}
	hash := xxhash.Sum64String(key)
	best, highest := among[0], mix(hash, among[0].hash)
	for _, c := range among[1:] {
		if score := mix(hash, c.hash); score > highest || score == highest && c.ID < best.ID {
			best, highest = c, score
		}
	}
	return best
}

// mix makes one number of two in which every bit depends on all of theirs: the finalizer of SplitMix64 (Steele, Lea and
// Flood 2014, https://doi.org/10.1145/2714064.2660195).
func mix(a, b uint64) uint64 {
	x := a ^ b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
