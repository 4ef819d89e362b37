package mesh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

// In a cluster of up to joining.Config.FullMesh nodes each node keeps links to all others. In a larger one, which is sparse, a node has links to
// its neighbours, from which it learns what all nodes offer (relay.go), and to those that it calls. A link that neither side needs any more is
// closed by both in agreement: it rests. A peer at rest can be called: the first call makes a link.
//
// A link comes to rest in this order, so that no call on it fails:
//
//	A: restOffer ──────────▶ B: needs it as little: takes it out of the links that calls go over
//	A: takes it out ◀────────── restBegins
//	   both finish what is in flight; B's Drain closes it
const (
	// idleTime is for how long a side keeps a link on which it has begun nothing, unless the configuration has another time.
	idleTime = 30 * time.Second
	// neighbourCount is the most neighbours that a node chooses; fewer in a small cluster. As many others choose it. With four, all
	// nodes of a thousand hear of something after four or five steps, and every one still has others when some are lost at once.
	neighbourCount = 4
	// unheardTime is for how long a member may be without a summary before it is dialled, which gets its catalog as well.
	unheardTime = 2 * time.Second
	// onDemandLimit bounds the time for which a call waits for a link to be made.
	onDemandLimit = 2 * time.Second
	// mostCalled is the number of nodes over which a node spreads the calls of one action.
	mostCalled = 16
	// drainLimit bounds the time for which calls in flight hold up the end of a link that comes to rest.
	drainLimit = time.Minute
)

// A rest is one of the messages by which two nodes agree that a link comes to rest.
const (
	restOffer   byte = 1 // the sender needs the link no more
	restTaken   byte = 2 // the sender needs it again
	restBegins  byte = 3 // both need it no more: the sender begins nothing on it any more
	restMessage      = 1 // bytes
)

// demand holds the reasons for which a node needs links to a peer. It is guarded by mesh.mu.
type demand struct {
	since     time.Time     // when membership had the peer's present run first
	used      time.Time     // when a call was last seen to have begun
	begun     uint64        // calls and streams that had begun on its links at the last look
	neighbour bool          // this node has chosen it
	lost      bool          // its links have failed and none was made since, or the last dial has failed
	offered   bool          // this node has offered to let the link rest
	offers    bool          // the peer has
	compared  bool          // this node has sent its digest over a link that it has now
	informs   bool          // the peer has, so it is to be told what comes
	dialled   chan struct{} // closed when the link that a call waits for is made or not
}

// unlink forgets what is true of links that there are none of any more.
func (d *demand) unlink() {
	d.offered, d.offers, d.compared, d.informs, d.begun = false, false, false, false, 0
}

// settle closes dialled.
func (d *demand) settle() {
	if d.dialled != nil {
		close(d.dialled)
		d.dialled = nil
	}
}

// Connect returns a link to the peer. Where the peer is at rest it makes one, for which it waits as long as ctx allows, but not
// longer than onDemandLimit. The error is a *wire.LostError that says that nothing was sent, or that of ctx.
func (p *Peer) Connect(ctx context.Context) (*wire.Link, error) {
	if l := p.Link(); l != nil {
		return l, nil
	}
	if !p.atRest.Load() {
		return nil, &wire.LostError{Node: p.ID, Err: wire.ErrClosed}
	}
	return p.mesh.wakeUp(ctx, p)
}

// Few returns the indexes of the candidates over which this node spreads the calls of an action, so that it needs no links to all that offer
// it; nil for all of them.
func (m *Mesh) Few(candidates []*membership.Candidate) []int {
	if len(candidates) <= mostCalled {
		return nil
	}
	return m.few(candidates)
}

// fewOnDemand is Few for many candidates.
func (m *Mesh) fewOnDemand(candidates []*membership.Candidate) []int {
	if !m.Sparse() {
		return nil
	}
	return membership.Few(m.config.Node, m.Place(), candidates, mostCalled)
}

// linkOnDemand makes a link to a peer at rest.
func (m *Mesh) linkOnDemand(ctx context.Context, p *Peer) (*wire.Link, error) {
	m.mu.Lock()
	p.used = time.Now()
	if p.dialled == nil {
		p.dialled = make(chan struct{})
	}
	dialled := p.dialled
	if m.maintain(p); p.redial == nil {
		p.settle() // this node has stopped, or the peer leaves
	}
	m.mu.Unlock()
	limit := time.NewTimer(onDemandLimit)
	defer limit.Stop()
	select {
	case <-dialled:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.ctx.Done():
	case <-limit.C:
		m.dialFailed(p)
		return nil, &wire.LostError{Node: p.ID, Err: fmt.Errorf("no link to it was made within %v", onDemandLimit)}
	}
	if l := p.Link(); l != nil {
		return l, nil
	}
	return nil, &wire.LostError{Node: p.ID, Err: errNotReached}
}

var errNotReached = errors.New("it was not reached")

// Reachable reports whether calls can go to the peer: over a link that there is, or one that is made for them.
func (p *Peer) Reachable() bool { return len(p.Links()) > 0 || p.atRest.Load() }

// dialFailed takes a peer out of those that calls go to, after a dial has failed, until there is a link to it.
func (m *Mesh) dialFailed(p *Peer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.settle()
	if !p.atRest.Load() || len(p.Links()) > 0 {
		return
	}
	p.lost = true
	m.forget(p)
	m.maintain(p)
}

// Sparse reports whether the cluster is so large that links are made on demand.
func (m *Mesh) Sparse() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sparse
}

// awaitSummaries waits until this node knows what the others offer.
func (m *Mesh) awaitSummaries(ctx context.Context, others []membership.Member) {
	known := func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return !slices.ContainsFunc(others, func(other membership.Member) bool {
			p := m.peers[other.ID]
			return p == nil || !p.hasCatalog
		})
	}
	for !known() && ctx.Err() == nil {
		sleep(ctx, 10*time.Millisecond)
	}
}

// forget takes what a peer offers out of the tables, until it is known again. Nothing else removes a catalog: the summary that it came by would
// be taken for one that is in the tables. The caller holds mu.
func (m *Mesh) forget(p *Peer) {
	p.atRest.Store(false)
	if m.relay.summaries[p.run()] != nil {
		m.relay.unapplied[p.run()], m.relay.retry = true, true
	}
	m.registry.Remove(p.ID)
	m.touch()
}

// updateSparse decides whether the cluster is so large that links are made on demand. Nodes that come and go at the limit do not have all links
// made and closed again and again. The caller holds mu.
func (m *Mesh) updateSparse() {
	sparse := m.config.sharesCatalogs() && (m.members >= m.config.fullMesh() || m.sparse && m.members >= m.config.fullMesh()*7/8)
	if sparse == m.sparse {
		return
	}
	m.sparse = sparse
	m.log.Info("links are made on demand", "node", m.config.Node, "on", sparse, "nodes", m.members+1)
	if sparse {
		m.shareCatalogs()
		return
	}
	for _, p := range m.peers {
		p.neighbour = false
		p.atRest.Store(false)
		m.maintain(p)
	}
	m.touch()
}

// setMember notes what membership says of a peer; the zero Member stands for nothing. The caller holds mu.
func (m *Mesh) setMember(p *Peer, now membership.Member) {
	counts := func(m membership.Member) int {
		if m.ID == "" || m.ClientOnly {
			return 0
		}
		return 1
	}
	before := p.member
	p.member = now
	m.members += counts(now) - counts(before)
	m.membersChanged = true
	if now.ID != "" && (before.ID == "" || before.Instance != now.Instance) {
		p.since, p.lost = time.Now(), false
		m.relay.retry = true // its summary may have come before
		wake(m.update)
	}
	if known := m.registry.View().Catalog(p.ID); len(p.Links()) == 0 && known != nil && known.Instance != now.Instance {
		m.forget(p)
	}
	m.updateSparse()
}

// keeps reports whether the links to a peer stay while nobody calls. The caller holds mu.
func (m *Mesh) keeps(p *Peer) bool {
	return !m.sparse || p.neighbour || p.lost || m.config.Info.Keeps && p.info.Keeps || time.Since(p.used) < m.config.idleTime() ||
		p.member.ID != "" && !m.heard(p) && time.Since(p.since) > unheardTime
}

// heard reports whether what the peer offers came by other nodes, and is in the tables. The caller holds mu.
func (m *Mesh) heard(p *Peer) bool {
	c := m.registry.View().Catalog(p.ID)
	return m.relay.summaries[p.run()] != nil && c != nil && c.Instance == p.run().Instance
}

// run is the run of the peer that its links lead to, or without links the one that membership has. Membership may have heard of the next run
// while there are links to the former. The caller holds mesh.mu.
func (p *Peer) run() membershipRun {
	if p.member.ID != "" && len(p.Links()) == 0 {
		return membershipRun{Node: p.ID, Instance: p.member.Instance}
	}
	return membershipRun{Node: p.ID, Instance: p.info.Instance}
}

// tend looks, once a second, which links are needed.
func (m *Mesh) tend() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.updateSparse()
	if !m.sparse || m.draining {
		return
	}
	m.chooseNeighbours()
	now := time.Now()
	for _, p := range m.peers {
		links := p.Links()
		if len(links) == 0 {
			m.maintain(p)
			continue
		}
		begun, inFlight := uint64(0), 0
		for _, l := range links {
			begun, inFlight = begun+l.Begun(), inFlight+l.InFlight()
		}
		if begun != p.begun || inFlight > 0 {
			p.begun, p.used = begun, now
		}
		m.tendPeer(p)
	}
	m.askAgain(now)
	m.compareDigests(now)
}

// tendPeer keeps a linked peer informed, or lets the links to it rest. The caller holds mu.
func (m *Mesh) tendPeer(p *Peer) {
	if p.neighbour && !p.compared && p.info.OnDemand {
		p.compared = true
		m.post(p.Link(), topicDigest, m.digestMessage(digestAsks))
	}
	needed := m.keeps(p) || !p.info.OnDemand || p.leaving || !m.mayRest(p)
	switch {
	case needed && p.offered:
		p.offered = false
		m.post(p.Link(), topicRest, []byte{restTaken})
	case !needed && p.offers:
		for _, l := range p.Links() {
			m.rest(p, l)
			m.running.Go(func() {
				ctx, cancel := context.WithTimeout(m.ctx, drainLimit)
				defer cancel()
				if m.postNow(l, topicRest, []byte{restBegins}) {
					l.Drain(ctx)
				}
			})
		}
	case !needed && !p.offered:
		p.offered = true
		m.post(p.Link(), topicRest, []byte{restOffer})
	}
}

// mayRest reports whether the peer can be called without a link: membership has it, and what it offers came by others too. The caller
// holds mu.
func (m *Mesh) mayRest(p *Peer) bool {
	return m.sparse && !p.leaving && !p.lost && p.member.ID != "" && p.member.Addr != "" && m.heard(p) && p.info.OnDemand &&
		!(m.config.Info.Keeps && p.info.Keeps)
}

// rest takes a link out of those that calls go over. The caller holds mu.
func (m *Mesh) rest(p *Peer, l *wire.Link) {
	m.resting[l] = true // so that the GoAway that follows is not taken for that of a node that leaves
	p.dropLink(l)
	if len(p.Links()) > 0 {
		return
	}
	p.unlink()
	p.confirmed, p.missed = 0, 0
	if m.notePeers(); m.mayRest(p) {
		p.atRest.Store(true)
		return
	}
	p.lost = p.member.ID != "" // what it offers has been forgotten since: a new link tells it
	m.forget(p)
	m.maintain(p)
}

// receiveRest takes a message about the need for a link.
func (m *Mesh) receiveRest(l *wire.Link, data []byte) {
	if len(data) < restMessage {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers[l.Peer().Node]
	if p == nil {
		return
	}
	switch data[0] {
	case restOffer:
		p.offers = true
	case restTaken:
		p.offers = false
	case restBegins:
		if slices.Contains(p.Links(), l) {
			m.rest(p, l)
		}
	}
}

// chooseNeighbours makes some of the members this node's neighbours: its successor in each of several rings of all nodes, in the order of hashes of
// their ids that differ from ring to ring. What one node hears, all hear, as long as they know the same members: one ring is enough for that, and the
// others make the ways short. Each node is the successor of one other in each ring, so none has many more links than the rest, and the coming and
// going of one changes one neighbour in each. The caller holds mu.
func (m *Mesh) chooseNeighbours() {
	if !m.membersChanged {
		return
	}
	m.membersChanged = false
	var list []*Peer
	for _, p := range m.peers {
		p.neighbour = false
		if p.member.ID != "" && !p.member.ClientOnly && !p.leaving {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return
	}
	for ring := range 1 + min(neighbourCount-1, len(list)/8) {
		self := place(m.config.Node, ring)
		next := slices.MinFunc(list, func(a, b *Peer) int { return cmp.Compare(place(a.ID, ring)-self-1, place(b.ID, ring)-self-1) })
		next.neighbour = true
		m.maintain(next)
	}
}

// place is where a node stands in a ring.
func place(node string, ring int) uint64 { return xxhash.Sum64String(strconv.Itoa(ring) + " " + node) }
