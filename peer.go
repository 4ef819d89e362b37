package sabir

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/wire"
)

// peer is another node of the cluster, as long as membership or a link knows of it.
type peer struct {
	mesh  *mesh
	id    string
	stats atomic.Pointer[cluster.Candidate] // replaced when the first link is made, under mesh.mu

	links atomic.Pointer[[]*wire.Link] // over which calls may go; replaced under mesh.mu
	turn  atomic.Uint32

	// Guarded by mesh.mu.
	about   about
	member  cluster.Member // zero until membership tells of it
	leaving bool           // it said that it takes no new calls
	redial  context.CancelFunc
	heard   bool          // its catalog has come over the links it has now
	told    chan struct{} // closed when it has
}

// link is one of the links to the peer; nil when there is none.
func (p *peer) link() *wire.Link {
	links := p.links.Load()
	if links == nil || len(*links) == 0 {
		return nil
	}
	if len(*links) == 1 {
		return (*links)[0]
	}
	return (*links)[int(p.turn.Add(1))%len(*links)]
}

// takesCalls tells whether calls can go to the peer. It runs under mesh.mu.
func (p *peer) takesCalls() bool { return !p.leaving && len(p.allLinks()) > 0 }

// hasLeft tells whether the peer said that it takes no new calls, and has no link that takes any.
func (p *peer) hasLeft() bool {
	p.mesh.mu.Lock()
	defer p.mesh.mu.Unlock()
	return p.leaving && len(p.allLinks()) == 0
}

func (p *peer) addLink(l *wire.Link) {
	p.setLinks(append(slices.Clone(p.allLinks()), l))
}

func (p *peer) dropLink(l *wire.Link) {
	p.setLinks(slices.DeleteFunc(slices.Clone(p.allLinks()), func(other *wire.Link) bool { return other == l }))
}

// unheard forgets that the peer told what it offers. Whoever waits for that waits on. It runs under mu.
func (p *peer) unheard() {
	p.heard = false
	select {
	case <-p.told:
		p.told = make(chan struct{})
	default:
	}
}

func (p *peer) setLinks(links []*wire.Link) { p.links.Store(&links) }

func (p *peer) allLinks() []*wire.Link {
	if links := p.links.Load(); links != nil {
		return *links
	}
	return nil
}

// keepLinked dials the peer until it has as many links as it should, or the context ends. It pauses longer after each
// failure, and by chance, so that nodes that lost each other do not all come back in one instant.
func (p *peer) keepLinked(ctx context.Context) {
	m := p.mesh
	pause := firstRedial
	if m.node.id > p.id && len(p.allLinks()) == 0 && !m.config.guest {
		// Both sides know of each other at about the same time; the one with the smaller name dials.
		sleep(ctx, secondDialler)
	}
	refusals := 0
	for ctx.Err() == nil {
		addr := m.wants(p)
		if addr == "" {
			return
		}
		err := m.dial(ctx, addr, p.id)
		if err == nil {
			pause, refusals = firstRedial, 0
			continue
		}
		if nobodyListens(err) {
			if refusals++; refusals == refusalsOfDead && len(p.allLinks()) == 0 && m.membership != nil {
				m.membership.Failed(p.id)
			}
		}
		m.log.Debug("link not made", "node", m.node.id, "peer", p.id, "addr", addr, "error", err)
		sleep(ctx, pause/2+rand.N(pause/2))
		pause = min(2*pause, lastRedial)
	}
}

const (
	firstRedial    = 50 * time.Millisecond
	lastRedial     = 5 * time.Second
	secondDialler  = 300 * time.Millisecond
	refusalsOfDead = 4 // dials refused one after the other, over about half a second
)

// sleep waits for d or for the end of the context.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
