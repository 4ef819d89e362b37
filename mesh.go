package sabir

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/wire"
)

// mesh is a node's links to the other nodes of its cluster. Membership says who they are, each link what its node offers:
// an action can be called as long as there is a link to a node that has told of it. It is the wire.Handler of its links.
type mesh struct {
	node       *Node
	log        *slog.Logger
	config     joinConfig
	transport  transport.Config
	wire       wire.Config
	about      about
	listener   transport.Listener // nil for a guest
	inherited  transport.Listener // see inherit; nil without. Guarded by mu
	membership cluster.Membership
	gossip     *cluster.Gossip // nil for a guest
	registry   *cluster.Registry
	self       *cluster.Candidate // this node, where it shares calls with others

	ctx     context.Context // ends when the node leaves
	cancel  context.CancelFunc
	running sync.WaitGroup
	shaking *wire.Budget // handshakes under way that others began

	mu       sync.Mutex
	peers    map[string]*peer
	open     map[*wire.Link]bool        // all links that are not closed, those too that take no new calls
	catalogs map[string]cluster.Catalog // received and not yet taken over, by node
	draining bool
	version  uint64 // of this node's own catalog

	update chan struct{} // there is something for updateLoop to do
	tell   chan struct{} // this node's catalog has changed
}

// Topics of posts between nodes.
const (
	topicCatalog uint8 = 1 // what the node offers: the JSON of a cluster.Catalog
	topicGossip  uint8 = 2 // a packet of the membership library
)

// maxShaking bounds the connections whose other end has not proved who it is.
const maxShaking = 256

func newMesh(n *Node, config joinConfig) (*mesh, error) {
	if err := config.read(); err != nil {
		return nil, err
	}
	m := &mesh{node: n, log: n.log, config: config, registry: cluster.NewRegistry(), peers: make(map[string]*peer), open: make(map[*wire.Link]bool), catalogs: make(map[string]cluster.Catalog),
		shaking: wire.NewBudget(maxShaking), update: make(chan struct{}, 1), tell: make(chan struct{}, 1)}
	m.transport = transport.Config{Keyed: config.key != "", TLS: config.tls, Advertise: config.advertise, Name: n.id}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m, nil
}

// start listens, finds the others and links this node to them. It returns when the nodes it could find have told what
// they offer, or after a few seconds without.
func (m *mesh) start(ctx context.Context) error {
	if err := m.listen(ctx); err != nil {
		return err
	}
	m.about = aboutNode(m)
	m.self = cluster.NewCandidate(m.member())
	m.wire = m.config.wire(m.node, m.about.json())
	m.wire.Load = m.node.load
	if err := m.wire.Validate(); err != nil {
		m.closeListener()
		return joinError("the node cannot join: ", err)
	}
	if m.listener != nil {
		m.gossip = cluster.NewGossip(gossipCarrier{m}, m.config.seeds, cluster.GossipConfig{Cluster: m.config.cluster, Log: m.log})
		m.membership = m.gossip
		// Before it meets others: nodes that are started together, with each other as seeds, wait for one another's answers.
		m.running.Go(func() { m.acceptLoop(m.listener) })
	}
	if err := m.meet(ctx); err != nil {
		m.leave(ctx)
		return err
	}
	m.running.Go(m.updateLoop)
	m.running.Go(m.tellLoop)
	if m.listener == nil {
		m.follow(ctx)
		m.running.Go(m.followLoop)
		return m.settle(ctx)
	}
	if err := m.membership.Start(ctx, m.member(), m.changed); err != nil {
		m.leave(ctx)
		return joinError("the node cannot join: ", err)
	}
	if m.config.met {
		m.running.Go(m.inherit)
	}
	return m.settle(ctx)
}

// listen takes the address. When a node listens there already, that is the one to meet, and this one listens elsewhere.
func (m *mesh) listen(ctx context.Context) error {
	if m.config.guest {
		m.config.seeds = append([]string{m.config.address}, m.config.seeds...)
		return nil
	}
	l, err := transport.Listen(ctx, m.config.address, m.transport)
	if errors.Is(err, syscall.EADDRINUSE) {
		if other := besides(m.config.address, m.node.id); other != "" {
			m.config.seeds = append([]string{m.config.address}, m.config.seeds...)
			m.config.met = true
			l, err = transport.Listen(ctx, other, m.transport)
		}
	}
	if err != nil {
		return joinError("the node cannot listen: ", err)
	}
	m.listener = l
	return nil
}

// inherit takes over the address that the nodes of this machine meet at, when the node that listened there has gone: so
// newcomers and guests find the cluster by the same address for as long as one of its nodes lives.
func (m *mesh) inherit() {
	for {
		sleep(m.ctx, inheritEvery/2+rand.N(inheritEvery))
		if m.ctx.Err() != nil {
			return
		}
		l, err := transport.Listen(m.ctx, m.config.address, m.transport)
		if err != nil {
			continue // it is taken, as a rule
		}
		m.mu.Lock()
		if m.draining {
			m.mu.Unlock()
			l.Close()
			return
		}
		m.inherited = l
		m.mu.Unlock()
		m.log.Info("the meeting address is taken over", "node", m.node.id, "addr", m.config.address)
		m.acceptLoop(l)
		return
	}
}

// inheritEvery is how often a node looks whether the meeting address has become free.
const inheritEvery = time.Second

// besides is an address to listen on next to one that is taken; "" where a port of one's own was asked for.
func besides(address, node string) string {
	u, err := transport.Parse(address)
	if err != nil {
		return ""
	}
	switch {
	case u.Port() != "":
		u.Host = net.JoinHostPort(u.Hostname(), "0")
		return u.String()
	case u.Scheme == "unix":
		u.Path += "." + node
		return u.String()
	case u.Scheme == "mem":
		u.Host += "-" + node
		return u.String()
	}
	return ""
}

// meet links the node to the first seed that answers, so that a wrong key or cluster shows at the start. That no seed can
// be reached is no fault, unless somebody is there who listens: the cluster has to begin with one node.
func (m *mesh) meet(ctx context.Context) error {
	var unreached error
	for _, seed := range m.config.seeds {
		if seed == m.ownAddress() {
			continue // a list of seeds may name the node itself
		}
		err := m.dial(ctx, seed, "")
		if err == nil {
			return nil
		}
		if errors.Is(err, cluster.ErrSelf) {
			continue // by another name
		}
		if refused, ok := errors.AsType[*wire.HandshakeError](err); ok && !refused.Temporary() {
			return joinError("the node at "+seed+" does not take this one: ", err)
		}
		if unreached == nil {
			unreached = joinError("no node answers at "+seed+": ", err)
		}
		if !m.config.guest {
			m.log.Info("seed not reached", "node", m.node.id, "seed", seed, "error", err)
		}
	}
	if m.config.met || m.config.guest {
		return unreached
	}
	return nil
}

// settle waits until the nodes of the cluster are linked and have told what they offer. Those that the first one knows of
// are linked at once, so that a node that has started can call them; membership finds the others.
func (m *mesh) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	if first := m.anyPeer(); first != nil {
		nodes, err := Call[[]NodeInfo](ctx, m.node, "$node.nodes", Nothing{}, ToNode(first.id))
		if err != nil {
			m.log.Debug("the other nodes are not known yet", "node", m.node.id, "asked", first.id, "error", err)
		}
		var dials sync.WaitGroup
		for _, other := range nodes {
			if other.ID != m.node.id && !other.Guest && other.Addr != "" && m.linkedPeer(other.ID) == nil {
				dials.Go(func() { m.dial(ctx, other.Addr, other.ID) }) // that it fails shows later, if the node is still there
			}
		}
		dials.Wait()
	}
	m.mu.Lock()
	var waits []chan struct{}
	for _, p := range m.peers {
		if !p.about.Guest {
			waits = append(waits, p.told)
		}
	}
	m.mu.Unlock()
	for _, told := range waits {
		select {
		case <-told:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

const settleLimit = 3 * time.Second

func (m *mesh) acceptLoop(listener transport.Listener) {
	pause := time.Millisecond
	for {
		conn, err := listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files
			m.log.Warn("connection not accepted", "node", m.node.id, "error", err)
			sleep(m.ctx, pause)
			pause = min(2*pause, time.Second)
			continue
		case !m.shaking.Take():
			m.log.Warn("connection refused: too many that have not proved who they are", "node", m.node.id, "limit", maxShaking)
			conn.Close()
			continue
		}
		pause = time.Millisecond
		m.running.Go(func() {
			defer m.shaking.Give()
			m.welcome(conn)
		})
	}
}

// welcome finds out who dialled and what for.
func (m *mesh) welcome(conn net.Conn) {
	p, err := wire.Handshake(m.ctx, conn, m.wire, false, "")
	if err != nil {
		conn.Close()
		m.log.Info("connection refused", "node", m.node.id, "from", conn.RemoteAddr(), "error", err)
		return
	}
	if p.Purpose == wire.ForGossip {
		m.gossip.Conn(conn)
		return
	}
	m.linked(conn, p)
}

// dial makes a link to the node at an address: the one of that name, if a name is given.
func (m *mesh) dial(ctx context.Context, addr, name string) error {
	conn, p, err := m.connect(ctx, addr, wire.ForLink)
	if err != nil {
		return err
	}
	if name != "" && p.Node != name {
		conn.Close()
		return fmt.Errorf("at %s is node %s, not %s", addr, p.Node, name)
	}
	m.linked(conn, p)
	return nil
}

func (m *mesh) connect(ctx context.Context, addr string, purpose wire.Purpose) (net.Conn, wire.Peer, error) {
	conn, err := transport.Dial(ctx, addr, m.transport)
	if err != nil {
		return nil, wire.Peer{}, err
	}
	p, err := wire.Handshake(ctx, conn, m.wire, true, purpose)
	if err != nil {
		conn.Close()
		if refused, ok := errors.AsType[*wire.HandshakeError](err); ok && refused.Reason == wire.ReasonSameNode && m.leadsBack(conn) {
			err = fmt.Errorf("%w: %w", cluster.ErrSelf, err)
		}
		return nil, wire.Peer{}, err
	}
	return conn, p, nil
}

// leadsBack tells whether a connection that this node dialled came out at its own listener.
func (m *mesh) leadsBack(conn net.Conn) bool {
	from, _, notFrom := net.SplitHostPort(conn.LocalAddr().String())
	to, port, notTo := net.SplitHostPort(conn.RemoteAddr().String())
	own, notOwn := transport.Parse(m.ownAddress())
	return notFrom == nil && notTo == nil && notOwn == nil && from == to && port == own.Port()
}

// linked makes a link of a connection and calls go over it from now on.
func (m *mesh) linked(conn net.Conn, with wire.Peer) {
	about, err := parseAbout(with.About)
	if err != nil {
		conn.Close()
		m.log.Warn("link refused", "node", m.node.id, "peer", with.Node, "error", err)
		return
	}
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
	if p.about.Instance != about.Instance || p.stats.Load() == nil { // the node was started anew: what is left of its former self is dead
		stale = p.allLinks()
		p.setLinks(nil)
		p.unheard()
	}
	p.about = about
	p.stats.Store(cluster.NewCandidate(cluster.Member{ID: p.id, Zone: about.Zone, Labels: about.Labels}))
	p.addLink(l)
	m.mu.Unlock()
	for _, old := range stale {
		old.Close(errors.New("the node was started anew"))
	}
	m.log.Debug("linked", "node", m.node.id, "peer", p.id, "addr", about.Addr)
	m.tellTo(l)
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

// Closed hears that a link is lost or closed.
func (m *mesh) Closed(l *wire.Link, err error) {
	defer m.running.Done()
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
	if gone {
		m.log.Info("link lost", "node", m.node.id, "peer", l.Peer().Node, "error", err)
		wake(m.update)
	}
}

// GoAway hears that the peer takes no new work over the link.
func (m *mesh) GoAway(l *wire.Link) {
	m.mu.Lock()
	if p := m.peers[l.Peer().Node]; p != nil {
		p.leaving = true
		p.dropLink(l)
	}
	m.registry.Remove(l.Peer().Node)
	m.mu.Unlock()
	wake(m.update)
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
	}
}

// Route hears what the peer is going to call.
func (m *mesh) Route(l *wire.Link, r *wire.Route) wire.Target {
	if r.Kind == wire.EventRoute {
		event, group, _ := strings.Cut(r.Name, "@")
		return &servedEvent{node: m.node, event: event, group: group, format: r.Codec}
	}
	return &servedRoute{node: m.node, link: l, name: r.Name, format: r.Codec}
}

// changed hears of changes of membership.
func (m *mesh) changed(c cluster.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
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

// drain lets no more calls in from the others, and waits for those in flight.
func (m *mesh) drain(ctx context.Context) error {
	m.mu.Lock()
	m.draining = true
	links := slices.Collect(maps.Keys(m.open))
	m.mu.Unlock()
	if m.listener != nil {
		m.closeListener()
	}
	var wg sync.WaitGroup
	errs := make([]error, len(links))
	for i, l := range links {
		wg.Go(func() { errs[i] = l.Retire(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// leave ends everything.
func (m *mesh) leave(ctx context.Context) error {
	m.mu.Lock()
	m.draining = true
	m.mu.Unlock()
	var err error
	if m.membership != nil {
		err = m.membership.Stop(ctx)
	}
	m.cancel()
	m.closeListener()
	m.closeLinks(nil)
	m.running.Wait()
	return err
}

// closeListener runs when draining is set, or before anything runs, so that nothing is inherited after it.
func (m *mesh) closeListener() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range []transport.Listener{m.listener, m.inherited} {
		if l != nil {
			l.Close()
		}
	}
}

func (m *mesh) closeLinks(err error) {
	m.mu.Lock()
	links := slices.Collect(maps.Keys(m.open))
	m.mu.Unlock()
	for _, l := range links {
		l.Close(err)
	}
}

// wake wakes the loop that reads c, once however often it is called before.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}

func joinError(what string, err error) *Error {
	return &Error{Code: Unavailable, Name: nameJoin, cause: err, Message: what + err.Error()}
}
