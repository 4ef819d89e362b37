package membership

import (
	"slices"
	"sync/atomic"
)

// Nearest leaves the choice to inner, among the candidates nearest to this node: those in its zone; if there are none,
// those that share the most labels with it; if none shares any, all. It goes by place alone: a busy node in the zone is
// preferred to an idle one elsewhere.
// It asks for this node's place at each call, so that it may change.
func Nearest(self func() *Place, inner Balancer) Balancer { return &nearest{self: self, inner: inner} }

type nearest struct {
	self  func() *Place
	inner Balancer
	last  atomic.Pointer[neighbours]
}

// neighbours remembers what was chosen from: candidates and places change seldom, so this saves going through labels at each
// call.
type neighbours struct {
	self        *Place
	among, near []*Candidate
}

func (n *nearest) Pick(among []*Candidate, key string) *Candidate {
	self := n.self()
	if self.Zone == "" && len(self.Labels) == 0 {
		return n.inner.Pick(among, key)
	}
	last := n.last.Load()
	if last == nil || last.self != self || !slices.Equal(last.among, among) {
		last = &neighbours{self, slices.Clone(among), self.nearest(among)}
		n.last.Store(last)
	}
	return n.inner.Pick(last.near, key)
}

// nearest is never empty.
func (p *Place) nearest(among []*Candidate) []*Candidate {
	highest := 0
	for _, c := range among {
		highest = max(highest, p.closeness(&c.Place))
	}
	var near []*Candidate
	for _, c := range among {
		if p.closeness(&c.Place) == highest {
			near = append(near, c)
		}
	}
	return near
}

// closeness is the number of equal labels, or more than any number of labels for the same zone.
func (p *Place) closeness(to *Place) int {
	if p.Zone != "" && p.Zone == to.Zone {
		return 1 << 30
	}
	same := 0
	for key, value := range to.Labels {
		if mine, have := p.Labels[key]; have && mine == value {
			same++
		}
	}
	return same
}
