package mesh

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

// dialStatic dials an address of the static list until the node there has answered, or looks it up for as long as the node runs
// where it stands for several. The caller holds mu.
func (m *Mesh) dialStatic(addr string) {
	if m.draining || m.staticDials[addr] != nil {
		return
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.staticDials[addr] = cancel
	m.running.Go(func() {
		defer cancel()
		for pause := minRedialPause; ctx.Err() == nil; pause = min(2*pause, maxRedialPause) {
			switch addrs := m.lookup(ctx, addr); {
			case len(addrs) != 1 || addrs[0] != addr:
				m.static.Resolved(addr, addrs) // each of which is dialled, and the name is looked up again
			case m.identify(ctx, addr):
				return
			}
			sleep(ctx, pause/2+rand.N(pause/2))
		}
	})
}

// identify dials an address of the static list, and gives the membership the node that answered.
func (m *Mesh) identify(ctx context.Context, addr string) bool {
	conn, with, linked, err := m.connect(ctx, addr, wire.ForLink)
	if errors.Is(err, membership.ErrSelf) {
		if named(addr) != nil {
			return false // which can come to stand for other nodes
		}
		m.static.Identified(addr, m.Member())
		return true
	}
	if err != nil {
		m.log.Debug("static address not reached", "node", m.config.Node, "address", addr, "error", err)
		return false
	}
	info, err := parseInfo(with.NodeInfo)
	m.AddLink(conn, with)
	linked()
	if err != nil {
		return false
	}
	m.static.Identified(addr, membership.Member{ID: with.Node, Addr: addr, Instance: info.Instance})
	return true
}

// stopDialingStatic ends dialStatic for the address. The caller holds mu.
func (m *Mesh) stopDialingStatic(addr string) {
	if cancel := m.staticDials[addr]; cancel != nil {
		cancel()
		delete(m.staticDials, addr)
	}
}
