package sabir

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/wire"
)

// Static makes the cluster the nodes at these addresses and no others, without gossip: each node is given the addresses of
// all, its own may be among them. Addresses where nobody answers are tried again for as long as the node runs.
func Static(addresses ...string) JoinOption {
	return joinOption(func(c *joinConfig) { c.static = append(c.static, addresses...) })
}

// seek dials an address of Static until it is known who is there. It runs under mu.
func (m *mesh) seek(addr string) {
	if m.draining || m.seeking[addr] != nil {
		return
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.seeking[addr] = cancel
	m.running.Go(func() {
		defer cancel()
		for pause := firstRedial; ctx.Err() == nil; pause = min(2*pause, lastRedial) {
			if m.identify(ctx, addr) {
				return
			}
			sleep(ctx, pause/2+rand.N(pause/2))
		}
	})
}

// identify dials an address of Static and tells the membership who answered.
func (m *mesh) identify(ctx context.Context, addr string) bool {
	conn, with, err := m.connect(ctx, addr, wire.ForLink)
	if errors.Is(err, cluster.ErrSelf) {
		m.static.Identified(addr, m.member())
		return true
	}
	if err != nil {
		m.log.Debug("nobody known answers", "node", m.node.id, "addr", addr, "error", err)
		return false
	}
	about, err := parseAbout(with.About)
	m.linked(conn, with)
	if err != nil {
		return false
	}
	m.static.Identified(addr, cluster.Member{ID: with.Node, Addr: addr, Zone: about.Zone, Labels: about.Labels, Instance: about.Instance})
	return true
}

// sought ends the seeking at an address. It runs under mu.
func (m *mesh) sought(addr string) {
	if cancel := m.seeking[addr]; cancel != nil {
		cancel()
		delete(m.seeking, addr)
	}
}
