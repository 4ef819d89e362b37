package mesh

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/sabir-go/sabir/internal/wire"
)

// Unconfirmed waits until each of the other nodes goes by what this node offers at the moment of the call, or the context ends. It
// returns those that have not confirmed it then, sorted: nodes that are slow, that are not linked yet, or that know no confirmations.
func (m *Mesh) Unconfirmed(ctx context.Context) []string {
	m.announce()
	m.announcing.Lock()
	version := m.announced.Version
	m.announcing.Unlock()
	for {
		late, changed := m.notConfirmed(version)
		if len(late) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return late
		case <-m.ctx.Done(): // the node has left, and nobody answers it any more
			return late
		}
	}
}

// notConfirmed lists the nodes whose calls do not go by this version of the catalog yet. A client-only node that is not linked is none of
// them: it dials when it wants to. Nor is a node at rest: what it calls, it has to dial first. The channel is closed at the next change.
func (m *Mesh) notConfirmed(version uint64) (nodes []string, changed <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.peers {
		known := len(p.Links()) > 0 || p.member.ID != "" && !p.member.ClientOnly && !p.atRest.Load()
		if known && !p.leaving && p.confirmed < version {
			nodes = append(nodes, p.ID)
		}
	}
	slices.Sort(nodes)
	if m.peersChanged == nil {
		m.peersChanged = make(chan struct{})
	}
	return nodes, m.peersChanged
}

// notePeers has each Unconfirmed look again: a peer came, went, or confirmed this node's catalog. The caller holds mu.
func (m *Mesh) notePeers() {
	if m.peersChanged != nil {
		close(m.peersChanged)
		m.peersChanged = nil
	}
}

// confirmCatalogs tells the peers whose catalogs calls go by since the last time.
func (m *Mesh) confirmCatalogs() {
	m.mu.Lock()
	defer m.mu.Unlock()
	view := m.registry.View()
	for _, p := range m.peers {
		l, c := p.Link(), view.Catalog(p.ID)
		if !p.toConfirm || l == nil || c == nil {
			continue
		}
		p.toConfirm = false
		m.post(l, topicCatalogConfirmed, binary.LittleEndian.AppendUint64(nil, c.Version))
	}
}

// confirmed notes the version of this node's catalog that a peer goes by. Posts can overtake each other, so the highest counts.
func (m *Mesh) confirmed(l *wire.Link, data []byte) {
	if len(data) != 8 {
		m.log.Warn("a confirmation of what this node offers cannot be read", "node", m.config.Node, "peer", l.Peer().Node, "bytes", len(data))
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.peers[l.Peer().Node]; p != nil && slices.Contains(p.Links(), l) {
		p.confirmed = max(p.confirmed, binary.LittleEndian.Uint64(data))
		m.notePeers()
	}
}
