package mesh

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/membership"
)

// Place returns the zone and the labels of this node. The caller must not change what it points to.
func (m *Mesh) Place() *membership.Place { return &m.info.Load().Place }

// Set gives the node another place and other seeds, besides those in its address. The nodes that it is linked with learn of the place with its
// catalog, others in the handshake. On an error nothing changes.
func (m *Mesh) Set(at membership.Place, seeds []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	former := m.info.Load()
	next := *former
	next.Place = at
	if err := errors.Join(membership.CheckPlace(&at), m.checkInfo(next), m.checkSeeds(seeds)); err != nil {
		return err
	}
	if !slices.Equal(m.config.Seeds, seeds) {
		m.config.Seeds = slices.Clone(seeds)
		if m.gossip != nil {
			m.gossip.SetSeeds(m.allSeeds())
		}
	}
	if former.Place.Equal(&at) {
		return nil
	}
	m.info.Store(&next)
	m.local.Store(m.local.Load().At(at))
	m.moved = true
	m.CatalogChanged()
	m.touch() // the tables have this node's candidate
	return nil
}

// checkInfo returns what is wrong with a description, which has to fit into a handshake.
func (m *Mesh) checkInfo(info Info) error {
	config := m.wire
	config.NodeInfo = info.encode()
	return config.Validate()
}

func (m *Mesh) checkSeeds(seeds []string) error {
	if len(seeds) > 0 && m.config.bus {
		return fmt.Errorf("nodes find each other at the broker %s: leave out Seeds", m.redactedAddress())
	}
	for _, seed := range seeds {
		if err := identity.CheckURL(seed); err != nil {
			return fmt.Errorf("a seed: %w", err)
		}
	}
	return nil
}

// movedTo is the place of this node for its catalog: nil for the one that every handshake told.
func (m *Mesh) movedTo() *membership.Place {
	m.mu.Lock()
	moved := m.moved
	m.mu.Unlock()
	if !moved {
		return nil
	}
	return m.Place()
}

// moveTo takes over the place that a peer has now. The tables are to be made anew after it. The caller holds mu.
func (p *Peer) moveTo(at membership.Place) {
	p.info.Place = at
	if c := p.stats.Load(); !c.Place.Equal(&at) {
		p.stats.Store(c.At(at))
		p.mesh.touched = true
	}
}

// seeds are the addresses at which this node looks for others.
func (m *Mesh) seeds() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.allSeeds()
}

// allSeeds is seeds for a caller that holds mu.
func (m *Mesh) allSeeds() []string { return slices.Concat(m.config.ownSeeds, m.config.Seeds) }
