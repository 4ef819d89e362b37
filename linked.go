package sabir

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/wire"
)

// linked makes a link of a connection and calls go over it from now on.
func (m *mesh) linked(conn net.Conn, with wire.Peer) {
	about, _ := parseAbout(with.About) // admit read it before
	m.mu.Lock()
	if m.draining {
		m.mu.Unlock()
		conn.Close()
		return
	}
	m.running.Add(1)
	l := wire.New(conn, with, m.wire, m) // what its reader tells waits for mu
	m.open[l] = true
	p := m.peer(with.Node)
	var stale []*wire.Link
	if p.about.Instance != 0 && p.about.Instance != about.Instance { // the node was started anew: what is left of its former self is dead
		stale = p.allLinks()
		p = m.succeed(p)
	}
	p.about = about
	if len(p.allLinks()) == 0 { // with more links it goes on counting: tables have it
		p.stats.Store(cluster.NewCandidate(cluster.Member{ID: p.id, Zone: about.Zone, Labels: about.Labels}))
	}
	p.addLink(l)
	m.keep(p)
	m.mu.Unlock()
	for _, old := range stale {
		old.Close(errors.New("the node was started anew"))
	}
	m.log.Debug("linked", "node", m.node.id, "peer", p.id, "addr", about.Addr)
	m.tellTo(l, m.catalogText())
	wake(m.update) // its catalog may have come before
}

// peer finds or makes the peer of that name. It runs under mu.
func (m *mesh) peer(id string) *peer {
	p := m.peers[id]
	if p == nil {
		p = &peer{mesh: m, id: id, told: make(chan struct{})}
		p.stats.Store(cluster.NewCandidate(cluster.Member{ID: id}))
		m.peers[id] = p
	}
	return p
}

// succeed makes the peer of a node that was started anew. The tables hold that of its former self until the next are made: so
// what goes by what that one offered does not go to the new one, which may offer nothing yet. It runs under mu.
func (m *mesh) succeed(former *peer) *peer {
	former.setLinks(nil)
	former.unheard()
	if former.redial != nil {
		former.redial()
	}
	delete(m.catalogs, former.id)
	m.registry.Remove(former.id)
	delete(m.peers, former.id)
	p := m.peer(former.id)
	p.member, p.told = former.member, former.told
	return p
}

// Closed hears that a link is lost or closed.
func (m *mesh) Closed(l *wire.Link, err error) {
	defer m.running.Done()
	m.closed(l, err)
	m.unlinked(l, err)
}

// closed forgets the link.
func (m *mesh) closed(l *wire.Link, err error) {
	m.mu.Lock()
	delete(m.open, l)
	p := m.peers[l.Peer().Node]
	if p == nil {
		m.mu.Unlock()
		return
	}
	p.dropLink(l)
	gone := len(p.allLinks()) == 0
	if gone {
		p.unheard()
		delete(m.catalogs, p.id)
		m.registry.Remove(p.id) // under mu: what comes over its next link must not be removed
	}
	m.keep(p)
	m.mu.Unlock()
	if !gone {
		return
	}
	wake(m.update)
	if errors.Is(err, wire.ErrClosed) {
		m.log.Debug("link closed", "node", m.node.id, "peer", l.Peer().Node)
		return
	}
	m.log.Info("link lost", "node", m.node.id, "peer", l.Peer().Node, "error", err)
}

// GoAway hears that the peer takes no new work over the link. That may be the last word of a former self, heard after the
// node was started anew.
func (m *mesh) GoAway(l *wire.Link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers[l.Peer().Node]
	if p == nil || !slices.Contains(p.allLinks(), l) {
		return
	}
	p.leaving = true
	p.setLinks(nil) // the others say the same in a moment
	m.registry.Remove(p.id)
	wake(m.update)
}

// refused hears that a link takes no new calls, of which GoAway tells in a moment: until then it would be tried again.
func (m *mesh) refused(l *wire.Link) {
	m.mu.Lock()
	ending := m.ending
	m.mu.Unlock()
	if !ending { // else it is this node that goes
		m.GoAway(l)
	}
}

// Post hears what the peer tells outside of calls.
func (m *mesh) Post(l *wire.Link, topic uint8, data []byte) {
	switch topic {
	case topicCatalog:
		m.offered(l.Peer().Node, data)
	case topicGossip:
		if m.gossip != nil {
			m.gossip.Packet(l.Peer().Node, slices.Clone(data))
		}
	default:
		m.posted(l, topic, data)
	}
}

// Route hears what the peer is going to call.
func (m *mesh) Route(l *wire.Link, r *wire.Route) wire.Target {
	if r.Kind == wire.EventRoute {
		event, group, _ := strings.Cut(r.Name, "@")
		return &servedEvent{node: m.node, event: event, group: group, format: r.Codec, refused: m.node.takes(event, nil, r.Codec)}
	}
	return &servedRoute{node: m.node, link: l, name: r.Name, format: r.Codec}
}

// changed hears of changes of membership.
func (m *mesh) changed(c cluster.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Member.ID == "" { // an address of Static
		if c.Kind == cluster.Joined {
			m.seek(c.Member.Addr)
		} else {
			m.sought(c.Member.Addr)
		}
		return
	}
	if m.static != nil {
		m.sought(c.Member.Addr)
	}
	switch c.Kind {
	case cluster.Joined, cluster.Updated:
		p := m.peer(c.Member.ID)
		p.member = c.Member
		if c.Member.Instance != p.about.Instance {
			p.leaving = false // it is back
		}
		m.keep(p)
	case cluster.Left, cluster.Failed:
		if p := m.peers[c.Member.ID]; p != nil {
			p.member = cluster.Member{}
			m.keep(p)
		}
	}
}

// keep sees to it that somebody dials a peer that should be linked and is not, and forgets one that is gone. It runs
// under mu.
func (m *mesh) keep(p *peer) {
	wanted := m.dialAddr(p) != ""
	switch {
	case wanted && p.redial == nil:
		ctx, cancel := context.WithCancel(m.ctx)
		p.redial = cancel
		m.running.Go(func() { p.keepLinked(ctx) })
	case p.member.ID == "" && len(p.allLinks()) == 0:
		if p.redial != nil {
			p.redial()
		}
		delete(m.peers, p.id)
	}
}

// wants is the address to dial for the next link to the peer. When there is none, whoever asked must not ask again.
func (m *mesh) wants(p *peer) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	addr := m.dialAddr(p)
	if addr == "" && p.redial != nil {
		p.redial()
		p.redial = nil
	}
	return addr
}

// dialAddr is the address to dial for another link to the peer, "" for none. The first link is made by either side, more
// of them by the one with the smaller name. It runs under mu.
func (m *mesh) dialAddr(p *peer) string {
	links := len(p.allLinks())
	if m.draining || p.leaving || p.member.Addr == "" || p.member.Guest || m.peers[p.id] != p ||
		links >= m.config.connections || links > 0 && m.node.id > p.id {
		return ""
	}
	return p.member.Addr
}
