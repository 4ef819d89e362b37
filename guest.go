package sabir

import (
	"context"
	"time"

	"github.com/sabir-go/sabir/cluster"
)

// followEvery is how often a guest asks who is in the cluster.
const followEvery = time.Second

// followLoop is the membership of a guest: it asks any node that it is linked with for all of them.
func (m *mesh) followLoop() {
	for {
		sleep(m.ctx, followEvery)
		if m.ctx.Err() != nil {
			return
		}
		m.follow(m.ctx)
	}
}

func (m *mesh) follow(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*followEvery)
	defer cancel()
	if m.anyPeer() == nil {
		for _, seed := range m.config.seeds {
			if m.dial(ctx, seed, "") == nil {
				return
			}
		}
		return
	}
	nodes := m.known(ctx)
	if len(nodes) == 0 {
		return // nobody answered: the one that was asked is among them
	}
	there := make(map[string]bool)
	for _, other := range nodes {
		there[other.ID] = true
		m.changed(cluster.Change{Kind: cluster.Joined, Member: other})
	}
	for _, id := range m.memberIDs() {
		if !there[id] {
			m.changed(cluster.Change{Kind: cluster.Left, Member: cluster.Member{ID: id}})
		}
	}
}

// anyPeer is a node that this one is linked with; nil for none.
func (m *mesh) anyPeer() *peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.peers {
		if !p.leaving && !p.about.Guest && len(p.allLinks()) > 0 {
			return p
		}
	}
	return nil
}

func (m *mesh) memberIDs() (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, p := range m.peers {
		if p.member.ID != "" {
			ids = append(ids, id)
		}
	}
	return ids
}
