package mesh

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

// Peer is another node of the cluster, for as long as membership or a link knows it.
type Peer struct {
	mesh  *Mesh
	ID    string
	stats atomic.Pointer[membership.Candidate] // replaced when the first link is made, under mesh.mu

	links atomic.Pointer[[]*wire.Link] // over which calls may go; replaced under mesh.mu
	turn  atomic.Uint32

	atRest atomic.Bool // it has no link, and gets one when it is called, see demand.go; written under mesh.mu

	// Guarded by mesh.mu.
	demand
	info       Info
	member     membership.Member // zero until membership has it
	leaving    bool              // it takes no new calls
	redial     context.CancelFunc
	catalog    *membership.Catalog // came from this run of the node, and is not in the registry yet; nil for none
	hasCatalog bool                // its catalog has come over the links it has now
	synced     chan struct{}       // closed when it has
	missed     uint64              // the newest version of its catalog whose difference was of no use: the whole is asked for; 0 for none
	toConfirm  bool                // it is to be told which version of its catalog this node's calls go by
	confirmed  uint64              // the version of this node's catalog that the peer's calls go by, as it told over the links it has now
	wanted     []string            // hashes of services that the peer has asked for and not got
	requests   int                 // for this node's whole catalog, that the peer has made since one was begun to be sent
}

// Stats counts the calls to the peer, for balancers.
func (p *Peer) Stats() *membership.Candidate { return p.stats.Load() }

// Refused notes that a link to the peer takes no new calls. The peer's own message follows in a moment; until then the next
// call would choose the peer again.
func (p *Peer) Refused(l *wire.Link) { p.mesh.linkRefused(l) }

// Link is one of the links to the peer, in turn; nil when there is none.
func (p *Peer) Link() *wire.Link {
	links := p.links.Load()
	if links == nil || len(*links) == 0 {
		return nil
	}
	if len(*links) == 1 {
		return (*links)[0]
	}
	turn := int(p.turn.Add(1))
	for i := range *links {
		if l := (*links)[(turn+i)%len(*links)]; !l.Suspected() {
			return l
		}
	}
	return (*links)[turn%len(*links)]
}

// Suspected reports whether the peer answers nothing for the moment over any of the links to it. It is false where there is no link.
func (p *Peer) Suspected() bool {
	links := p.Links()
	for _, l := range links {
		if !l.Suspected() {
			return false
		}
	}
	return len(links) > 0
}

// takesCalls reports whether calls can go to the peer. The caller holds mu.
func (p *Peer) takesCalls() bool { return !p.leaving && p.Reachable() }

// HasLeft reports whether the peer has announced that it takes no new calls and no link to it takes any.
func (p *Peer) HasLeft() bool {
	p.mesh.mu.Lock()
	defer p.mesh.mu.Unlock()
	return p.leaving && len(p.Links()) == 0
}

func (p *Peer) addLink(l *wire.Link) {
	p.SetLinks(append(slices.Clone(p.Links()), l))
}

func (p *Peer) dropLink(l *wire.Link) {
	p.SetLinks(slices.DeleteFunc(slices.Clone(p.Links()), func(other *wire.Link) bool { return other == l }))
}

// resetSync forgets the peer's catalog, so that awaitCatalogs waits for the one that comes over its next link. The caller holds mu.
func (p *Peer) resetSync() {
	p.catalog, p.hasCatalog, p.missed, p.toConfirm, p.confirmed = nil, false, 0, false, 0
	select {
	case <-p.synced:
		p.synced = make(chan struct{})
	default:
	}
}

// SetLinks replaces the links. The caller holds mu, but for tests.
func (p *Peer) SetLinks(links []*wire.Link) { p.links.Store(&links) }

// Links lists the links over which calls can go. The list must not be changed.
func (p *Peer) Links() []*wire.Link {
	if links := p.links.Load(); links != nil {
		return *links
	}
	return nil
}

// keepLinked dials the peer until it has as many links as it should, or the context ends. Pauses grow with each failure and
// are random, so that nodes that lost each other do not all dial at the same moment.
func (p *Peer) keepLinked(ctx context.Context) {
	m := p.mesh
	pause := minRedialPause
	if m.dialsSecond(p) {
		sleep(ctx, secondDialerDelay)
	}
	refusals := 0
	for ctx.Err() == nil {
		addr := m.nextDialAddr(p)
		if addr == "" {
			return
		}
		err := m.dial(ctx, addr, p.ID)
		if err == nil {
			pause, refusals = minRedialPause, 0
			continue
		}
		if errors.Is(err, errDialled) { // by this node, as it starts
			sleep(ctx, minRedialPause)
			continue
		}
		m.dialFailed(p)
		if connectionRefused(err) || m.config.Directory != nil { // which tells where the node is now
			if refusals++; refusals == refusalsUntilFailed && len(p.Links()) == 0 && m.membership != nil {
				m.membership.Failed(p.ID)
			}
		}
		if refused, ok := errors.AsType[*wire.HandshakeError](err); ok && refused.Reason == wire.ReasonSameNode {
			m.log.Warn("the id of a node is taken", "node", m.config.Node, "peer", p.ID, "address", addr, "error", err)
		}
		m.log.Debug("link not made", "node", m.config.Node, "peer", p.ID, "address", addr, "error", err)
		sleep(ctx, pause/2+rand.N(pause/2))
		pause = min(2*pause, maxRedialPause)
	}
}

// dialsSecond reports whether the peer should dial first, so that not both make a link. A node that joins hears of all others at once, and these
// hear of it one after the other, so of the two the one that was started later dials first; where that is not known, the one with the smaller name.
func (m *Mesh) dialsSecond(p *Peer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(p.Links()) > 0 || m.config.ClientOnly || p.dialled != nil {
		return false
	}
	if own, other := m.info.Load().Instance, p.member.Instance; other != 0 && other != own {
		return own < other
	}
	return m.config.Node > p.ID
}

const (
	minRedialPause      = 50 * time.Millisecond
	maxRedialPause      = 5 * time.Second
	secondDialerDelay   = 300 * time.Millisecond
	refusalsUntilFailed = 4 // dials refused one after the other, over about half a second
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
