package mesh

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

// AddLink makes a link of a connection after its handshake. Calls can go over it from now on.
func (m *Mesh) AddLink(conn net.Conn, with wire.Peer) {
	info, _ := parseInfo(with.NodeInfo) // admit read it before
	m.announce()                        // so that the peer gets what this node offers by now
	m.mu.Lock()
	if m.ending {
		m.mu.Unlock()
		conn.Close()
		return
	}
	draining := m.draining
	m.running.Add(1)
	l := wire.New(conn, with, m.wire, m) // its reader calls this mesh's methods, which wait for mu
	m.open[l] = true
	p := m.findPeer(with.Node)
	var stale []*wire.Link
	if p.info.Instance != 0 && p.info.Instance != info.Instance { // the node was started anew: what is left of its former self is dead
		stale = p.Links()
		p = m.replacePeer(p)
	}
	if c := m.knownCatalog(p); c != nil && c.Instance == info.Instance && c.Place != nil {
		info.Place = *c.Place // it may be newer than the handshake, and newer ones than both are on their way
	}
	p.info = info
	wasAtRest := p.atRest.Swap(false)
	first := len(p.Links()) == 0
	if first && !wasAtRest { // else it goes on counting: tables have it
		p.stats.Store(membership.NewCandidate(p.ID, info.Place))
	}
	p.addLink(l)
	p.lost = false
	p.settle()
	m.maintain(p)
	sparse := m.sparse
	m.relay.retry = true // what others told of it may count now
	m.touched = m.touched || !wasAtRest
	m.mu.Unlock()
	for _, old := range stale {
		old.Close(errors.New("the node was started anew"))
	}
	if draining {
		l.GoAway() // the peer may have sent calls since the handshake: it sends no more, and Drain waits for these
	}
	level := m.levelOf(info, sparse)
	if !first {
		level = slog.LevelDebug
	}
	m.log.Log(context.Background(), level, "linked", "node", m.config.Node, "peer", p.ID, "address", info.Addr)
	m.sendCatalog(l)
	wake(m.update) // its catalog may have come before
}

// levelOf is the level of what is logged of the coming and going of a peer: command lines come and go with each command, and links of a sparse
// cluster with each call.
func (m *Mesh) levelOf(peer Info, sparse bool) slog.Level {
	if sparse || peer.ClientOnly || m.config.ClientOnly {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// findPeer finds or makes the peer of that name. The caller holds mu.
func (m *Mesh) findPeer(id string) *Peer {
	p := m.peers[id]
	if p == nil {
		p = &Peer{mesh: m, ID: id, synced: make(chan struct{})}
		p.stats.Store(membership.NewCandidate(id, membership.Place{}))
		m.peers[id] = p
	}
	return p
}

// replacePeer makes a new peer for a node that was started again. The routing tables keep the old peer until they are
// rebuilt: calls to actions of the node's earlier run must not go to the new one, which may offer nothing yet. The caller
// holds mu.
func (m *Mesh) replacePeer(former *Peer) *Peer {
	former.SetLinks(nil)
	former.resetSync()
	if former.redial != nil {
		former.redial()
	}
	m.forget(former)
	delete(m.peers, former.ID)
	p := m.findPeer(former.ID)
	p.member, p.since, p.neighbour, p.synced = former.member, former.since, former.neighbour, former.synced
	former.settle()
	return p
}

// Opened is the first of a link's methods, see [wire.Handler]: the host gets the link before anything that comes over it, on
// the same goroutine as Post and Closed.
func (m *Mesh) Opened(l *wire.Link) {
	m.mu.Lock()   // AddLink holds it until the link is in the maps
	m.mu.Unlock() //lint:ignore SA2001 the lock is only waited for
	m.host.Linked(l)
}

// Closed is called when a link is lost or closed.
func (m *Mesh) Closed(l *wire.Link, err error) {
	defer m.running.Done()
	m.removeLink(l, err)
	m.host.Unlinked(l, err)
}

// removeLink takes the link out of its peer, and the peer out of the tables if it was the last one.
func (m *Mesh) removeLink(l *wire.Link, err error) {
	m.mu.Lock()
	delete(m.open, l)
	rested := m.resting[l]
	delete(m.resting, l)
	p := m.peers[l.Peer().Node]
	if p == nil {
		m.mu.Unlock()
		return
	}
	p.dropLink(l)
	gone := len(p.Links()) == 0 && !rested
	if gone {
		p.resetSync()
		p.unlink()
		p.lost = m.sparse && p.member.ID != "" && !p.leaving
		m.forget(p) // under mu: what comes over its next link must not be removed
	}
	m.maintain(p)
	if p.missed > 0 { // the request, or the answer, may have been lost with the link
		m.post(p.Link(), topicCatalogRequest, nil)
	}
	m.mu.Unlock()
	if !gone {
		return
	}
	wake(m.peerLeft)
	if errors.Is(err, wire.ErrClosed) {
		m.log.Debug("link closed", "node", m.config.Node, "peer", l.Peer().Node)
		return
	}
	m.log.Info("link lost", "node", m.config.Node, "peer", l.Peer().Node, "error", err)
}

// GoAway is called when the peer takes no new work over the link. The message may be late and of an earlier run of the node;
// then the link is none of its peer's any more.
func (m *Mesh) GoAway(l *wire.Link) {
	m.mu.Lock()
	p := m.peers[l.Peer().Node]
	if p == nil || !slices.Contains(p.Links(), l) {
		m.mu.Unlock()
		return
	}
	p.leaving = true
	p.SetLinks(nil) // the others report the same soon
	m.notePeers()
	wake(m.peerLeft)
	m.forget(p)
	level := m.levelOf(p.info, m.sparse)
	m.mu.Unlock()
	m.log.Log(context.Background(), level, "peer leaves", "node", m.config.Node, "peer", p.ID)
}

// linkRefused is called when a call found that the link takes no new ones. The peer's GoAway comes in a moment; without
// this, the next call would choose the same peer until then.
func (m *Mesh) linkRefused(l *wire.Link) {
	m.mu.Lock()
	ending := m.ending
	m.mu.Unlock()
	if !ending { // else it is this node that goes
		m.GoAway(l)
	}
}

// Post takes a message that the peer sent outside of calls. data is valid until Post returns.
func (m *Mesh) Post(l *wire.Link, topic uint8, data []byte) {
	switch topic {
	case topicCatalog:
		m.receiveCatalog(l, data)
	case topicCatalogRequest:
		m.sendRequested(l)
	case topicCatalogConfirmed:
		m.confirmed(l, data)
	case topicSummaries:
		m.receiveSummaries(l, data)
	case topicServicesWanted:
		m.receiveWanted(l, data)
	case topicServices:
		m.receiveServices(l, data)
	case topicDigest:
		m.receiveDigest(l, data)
	case topicRest:
		m.receiveRest(l, data)
	case topicGossip:
		if m.gossip != nil {
			m.gossip.Packet(l.Peer().Node, slices.Clone(data))
		}
	default:
		m.host.Posted(l, topic, data)
	}
}

// Route returns the target that serves the calls that the peer is going to make under a name.
func (m *Mesh) Route(l *wire.Link, r *wire.Route) wire.Target { return m.host.Route(l, r) }

// changed takes a change of membership.
func (m *Mesh) changed(c membership.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Member.ID == "" { // an address of Static
		if c.Kind == membership.Joined {
			m.dialStatic(c.Member.Addr)
		} else {
			m.stopDialingStatic(c.Member.Addr)
		}
		return
	}
	if m.static != nil {
		m.stopDialingStatic(c.Member.Addr)
	}
	switch c.Kind {
	case membership.Joined, membership.Updated:
		p := m.findPeer(c.Member.ID)
		m.setMember(p, c.Member)
		if c.Member.Instance != p.info.Instance {
			p.leaving = false // it is back
		}
		m.maintain(p)
	case membership.Left, membership.Failed:
		if p := m.peers[c.Member.ID]; p != nil {
			m.setMember(p, membership.Member{})
			m.maintain(p)
		}
	}
}

// maintain starts dialling a peer that should be linked and is not, and forgets one that is no member and has no link. The
// caller holds mu.
func (m *Mesh) maintain(p *Peer) {
	m.notePeers()
	wanted := m.dialAddr(p) != ""
	switch {
	case wanted && p.redial == nil:
		ctx, cancel := context.WithCancel(m.ctx)
		p.redial = cancel
		m.running.Go(func() { p.keepLinked(ctx) })
	case p.member.ID == "" && len(p.Links()) == 0:
		if p.redial != nil {
			p.redial()
		}
		delete(m.peers, p.ID)
	}
}

// nextDialAddr is the address to dial for the next link to the peer. After "" the caller must stop dialling.
func (m *Mesh) nextDialAddr(p *Peer) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	addr := m.dialAddr(p)
	if addr == "" && p.redial != nil {
		p.redial()
		p.redial = nil
	}
	return addr
}

// dialAddr is the address to dial for another link to the peer, "" for none. Either side makes the first link; of the two
// the one with the smaller name makes all others, so that not both do. A node that stops makes links only for its own calls. The caller holds mu.
func (m *Mesh) dialAddr(p *Peer) string {
	links := len(p.Links())
	if m.draining && p.dialled == nil || m.ending || p.leaving || p.member.Addr == "" || p.member.ClientOnly || m.peers[p.ID] != p || !m.keeps(p) ||
		links >= m.config.Connections || links > 0 && m.config.Node > p.ID {
		return ""
	}
	return p.member.Addr
}
