package sabir

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/bus"
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
	hub        *bus.Hub           // nil without a broker
	listener   transport.Listener // nil for a guest
	inherited  transport.Listener // see inherit; nil without. Guarded by mu
	membership cluster.Membership // nil for a guest without a broker
	gossip     *cluster.Gossip    // this one of the three is the membership, or the others
	static     *cluster.Static
	presence   *cluster.Presence
	registry   *cluster.Registry
	self       *cluster.Candidate // this node, where it shares calls with others

	ctx     context.Context // ends when the node leaves
	cancel  context.CancelFunc
	running sync.WaitGroup
	shaking shaking

	mu       sync.Mutex
	peers    map[string]*peer
	open     map[*wire.Link]bool           // all links that are not closed, those too that take no new calls
	catalogs map[string]cluster.Catalog    // received and not yet taken over, by node
	seeking  map[string]context.CancelFunc // addresses of Static where nobody is known
	draining bool
	ending   bool   // the links end
	version  uint64 // of this node's own catalog

	update chan struct{} // there is something for updateLoop to do
	tell   chan struct{} // this node's catalog has changed
}

// Topics of posts between nodes.
const (
	topicCatalog uint8 = 1 // what the node offers: the JSON of a cluster.Catalog
	topicGossip  uint8 = 2 // a packet of the membership library
)

func newMesh(n *Node, config joinConfig) (*mesh, error) {
	if err := config.read(); err != nil {
		return nil, err
	}
	m := &mesh{node: n, log: n.log, config: config, registry: cluster.NewRegistry(), peers: make(map[string]*peer), open: make(map[*wire.Link]bool), seeking: make(map[string]context.CancelFunc),
		catalogs: make(map[string]cluster.Catalog),
		update:   make(chan struct{}, 1), tell: make(chan struct{}, 1)}
	m.transport = transport.Config{Keyed: config.key != "", Secret: config.secret(), TLS: config.tls, Advertise: config.advertise, Name: n.id}
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
	m.wire.Admit = m.admit
	if err := m.wire.Validate(); err != nil {
		m.leave(ctx)
		return joinError("the node cannot join: ", err)
	}
	m.choose()
	m.node.mesh.Store(m) // when it has all that is read without mu: the node may be asked things while it starts
	if m.listener != nil {
		// Before it meets others: nodes that are started together, with each other as seeds, wait for one another's answers.
		m.running.Go(func() { m.acceptLoop(m.listener) })
	}
	if err := m.meet(ctx); err != nil {
		m.leave(ctx)
		return err
	}
	m.running.Go(m.updateLoop)
	m.running.Go(m.tellLoop)
	if m.membership == nil {
		m.follow(ctx)
		m.running.Go(m.followLoop)
	} else if err := m.membership.Start(ctx, m.member(), m.changed); err != nil {
		m.leave(ctx)
		return joinError("the node cannot join at "+m.place()+": ", err)
	}
	if m.config.met {
		m.running.Go(m.inherit)
	}
	m.settle(ctx)
	if m.config.bus && m.config.guest && m.anyPeer() == nil {
		m.leave(ctx)
		return joinError("", fmt.Errorf("no node of the cluster %q is at %s", m.config.cluster, m.place()))
	}
	return nil
}

// place is where the nodes meet, for errors.
func (m *mesh) place() string {
	if at, err := transport.Parse(m.config.address); err == nil {
		return at.Redacted()
	}
	return m.config.address
}

// choose makes the membership.
func (m *mesh) choose() {
	switch {
	case m.config.bus:
		m.presence = cluster.NewPresence(m.hub.Broadcast, cluster.PresenceConfig{Key: m.wire.Key, Observe: m.config.guest, Log: m.log})
		m.hub.Hear(m.presence.Heard, m.presence.Interrupted)
		m.membership = m.presence
	case m.config.guest:
	case len(m.config.static) > 0:
		m.static = cluster.NewStatic(m.config.static)
		m.membership = m.static
	default:
		m.gossip = cluster.NewGossip(gossipCarrier{m}, m.config.seeds, cluster.GossipConfig{Cluster: m.config.cluster, Log: m.log})
		m.membership = m.gossip
	}
}

// settle waits until the nodes of the cluster are linked and have told what they offer. Those that are known are linked at
// once, so that a node that has started can call them; membership finds the others.
func (m *mesh) settle(ctx context.Context) {
	limit := settleLimit
	if m.config.bus && m.config.guest {
		limit = guestLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var dials sync.WaitGroup
	for _, other := range m.known(ctx) {
		if m.linkedPeer(other.ID) == nil {
			dials.Go(func() { m.dial(ctx, other.Addr, other.ID) }) // that it fails shows later, if the node is still there
		}
	}
	dials.Wait()
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
			return
		}
	}
}

// known is the other nodes that can be dialled, as a broker told of them, or as a node that this one is linked with does.
func (m *mesh) known(ctx context.Context) (list []cluster.Member) {
	if m.presence != nil {
		for m.config.guest && len(m.presence.Members()) == 0 && ctx.Err() == nil {
			sleep(ctx, guestLooks) // it is of no use alone
		}
		return slices.DeleteFunc(m.presence.Members(), func(other cluster.Member) bool { return other.Guest })
	}
	near := m.anyPeer()
	if near == nil {
		return nil
	}
	nodes, err := Call[[]NodeInfo](ctx, m.node, "$node.nodes", Nothing{}, ToNode(near.id))
	if err != nil {
		m.log.Debug("the other nodes are not known yet", "node", m.node.id, "asked", near.id, "error", err)
	}
	for _, info := range nodes {
		if info.ID != m.node.id && !info.Guest && info.Addr != "" {
			list = append(list, cluster.Member{ID: info.ID, Addr: info.Addr, Zone: info.Zone, Labels: info.Labels})
		}
	}
	return list
}

const (
	settleLimit = 3 * time.Second
	guestLimit  = 6 * time.Second // in which each node that is at a broker says so of itself
	guestLooks  = 50 * time.Millisecond
)

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

// leave ends everything: what was answered still reaches those who asked, if they take it within three seconds.
func (m *mesh) leave(ctx context.Context) error {
	m.mu.Lock()
	m.draining = true
	links := slices.Collect(maps.Keys(m.open))
	m.mu.Unlock()
	var err error
	if m.membership != nil {
		err = m.membership.Stop(ctx)
	}
	m.closeListener()
	m.mu.Lock()
	m.ending = true
	m.mu.Unlock()
	goodbye, cancel := context.WithTimeout(ctx, goodbyeLimit)
	defer cancel()
	var drains sync.WaitGroup
	for _, l := range links {
		drains.Go(func() { l.Drain(goodbye) })
	}
	drains.Wait()
	m.cancel()
	m.closeLinks(nil)
	m.running.Wait()
	if m.hub != nil {
		err = errors.Join(err, m.hub.Close())
	}
	return err
}

const goodbyeLimit = 3 * time.Second

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
