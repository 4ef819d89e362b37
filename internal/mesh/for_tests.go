package mesh

import "github.com/sabir-go/sabir/internal/membership"

// The tests of package sabir bring about moments that last microseconds otherwise. What they need for that is here, and no
// other code may use it.

// Settled reports whether calls can go to the node and this one dials no further link to it.
func (m *Mesh) Settled(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers[id]
	return p != nil && p.takesCalls() && p.redial == nil
}

// StopDialing makes no more links.
func (m *Mesh) StopDialing() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.draining = true
}

// NewPeer makes a peer without links that the mesh does not know of.
func (m *Mesh) NewPeer(id string) *Peer {
	p := &Peer{mesh: m, ID: id}
	p.stats.Store(membership.NewCandidate(id, membership.Place{}))
	return p
}
