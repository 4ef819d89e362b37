package mesh

import (
	"context"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
)

// followInterval is the interval at which an observer asks for the members of the cluster.
const followInterval = time.Second

// pollLoop is the membership of an observer without a broker: it asks any node that it is linked with for all of them.
func (m *Mesh) pollLoop() {
	for {
		sleep(m.ctx, followInterval)
		if m.ctx.Err() != nil {
			return
		}
		m.pollMembers(m.ctx)
	}
}

// pollMembers asks a linked node for the members, and dials a seed where there is no link.
func (m *Mesh) pollMembers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*followInterval)
	defer cancel()
	if m.anyPeer() == nil {
		for _, seed := range m.seeds() {
			if m.dialSeed(ctx, seed) == nil {
				return
			}
		}
		return
	}
	nodes := m.otherMembers(ctx)
	if len(nodes) == 0 {
		return // no node answered: the one that was asked is among them
	}
	there := make(map[string]bool)
	for _, other := range nodes {
		there[other.ID] = true
		m.changed(membership.Change{Kind: membership.Joined, Member: other})
	}
	for _, id := range m.memberIDs() {
		if !there[id] {
			m.changed(membership.Change{Kind: membership.Left, Member: membership.Member{ID: id}})
		}
	}
}

// anyPeer is a node that this one is linked with; nil for none.
func (m *Mesh) anyPeer() *Peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.peers {
		if !p.leaving && !p.info.ClientOnly && len(p.Links()) > 0 {
			return p
		}
	}
	return nil
}

func (m *Mesh) memberIDs() (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, p := range m.peers {
		if p.member.ID != "" {
			ids = append(ids, id)
		}
	}
	return ids
}
