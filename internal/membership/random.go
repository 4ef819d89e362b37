package membership

import "math/rand/v2"

// Random picks any candidate, all alike.
func Random() Balancer { return random{} }

type random struct{}

func (random) Pick(among []*Candidate, _ string) *Candidate { return among[below(len(among))] }

// below is a random number from 0 to n-1. It multiplies instead of dividing and accepts a bias below n/2^32 (Lemire 2019,
// https://doi.org/10.1145/3230636).
func below(n int) int { return int(uint64(rand.Uint32()) * uint64(n) >> 32) }

// twoOf is two different random numbers from 0 to n-1; n must be at least 2.
func twoOf(n int) (int, int) {
	i, j := below(n), below(n-1)
	if j >= i {
		j++
	}
	return i, j
}
