package membership

import (
	"slices"
	"sync/atomic"
)

// Nearest leaves the choice to inner, among the candidates nearest to this node: those in its zone; if there are none,
// those that share the most labels with it; if none shares any, all. It goes by place alone: a busy node in the zone is
// preferred to an idle one elsewhere.
func Nearest(self Member, inner Balancer) Balancer { return &nearest{self: self, inner: inner} }

type nearest struct {
	self  Member
	inner Balancer
	last  atomic.Pointer[neighbours]
}

// neighbours remembers what was chosen from: candidates change seldom, so this saves going through their labels at each
// call.
type neighbours struct{ among, near []*Candidate }

func (n *nearest) Pick(among []*Candidate, key string) *Candidate {
	last := n.last.Load()
	if last == nil || !slices.Equal(last.among, among) {
		last = &neighbours{slices.Clone(among), n.near(among)}
		n.last.Store(last)
	}
	return n.inner.Pick(last.near, key)
}

// near is never empty.
func (n *nearest) near(among []*Candidate) []*Candidate {
	highest := 0
	for _, c := range among {
		highest = max(highest, n.closeness(c))
	}
	var near []*Candidate
	for _, c := range among {
		if n.closeness(c) == highest {
			near = append(near, c)
		}
	}
	return near
}

// closeness is the number of equal labels, or more than any number of labels for the same zone.
func (n *nearest) closeness(c *Candidate) int {
	if n.self.Zone != "" && n.self.Zone == c.Zone {
		return 1 << 30
	}
	same := 0
	for key, value := range c.Labels {
		if mine, have := n.self.Labels[key]; have && mine == value {
			same++
		}
	}
	return same
}
