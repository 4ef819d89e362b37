package membership

import (
	"math/rand/v2"
	"sync/atomic"
)

// RoundRobin picks each candidate in turn.
func RoundRobin() Balancer {
	r := &roundRobin{}
	r.turn.Store(rand.Uint32()) // so that a thousand clients that start at once do not all begin with the same node
	return r
}

type roundRobin struct {
	turn atomic.Uint32
}

func (r *roundRobin) Pick(among []*Candidate, _ string) *Candidate {
	return among[r.turn.Add(1)%uint32(len(among))]
}
