package mesh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/bus"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/transport"
)

// Mesh is a node's links to the other nodes of its cluster. Membership finds those nodes; over each link comes the catalog
// of what its node offers. An action can be called as long as there is a link to a node whose catalog has it. Mesh is the
// wire.Handler of its links.
type Mesh struct {
	host      Host
	log       *slog.Logger
	config    Config
	transport transport.Config
	wire      wire.Config
	info      atomic.Pointer[Info] // replaced as a whole when the place changes
	hub       *bus.Hub             // nil without a broker
	listener  transport.Listener   // nil for an observer
	takenOver transport.Listener   // see inherit; nil without. Guarded by mu
	packets   packetConns          // to nodes that there is no link to
	// Variables: else the linker would keep all that dials in programs that never join.
	wakeUp func(context.Context, *Peer) (*wire.Link, error) // see Peer.Connect
	few    func([]*membership.Candidate) []int              // see Few

	membership membership.Membership // nil for an observer without a broker
	gossip     membership.Gossip     // this one of the three is the membership, or the others
	static     *membership.Static
	presence   *membership.Presence
	registry   *membership.Registry
	local      atomic.Pointer[membership.Candidate] // this node, where it shares calls with others

	ctx        context.Context // ends when the node leaves
	cancel     context.CancelFunc
	running    sync.WaitGroup
	handshakes pendingHandshakes
	refusals   refusals
	resolved   resolvedNames
	forged     *seal.Refusals // of what no holder of the cluster key made

	mu             sync.Mutex
	peers          map[string]*Peer
	open           map[*wire.Link]bool           // all links that are not closed, those too that take no new calls
	staticDials    map[string]context.CancelFunc // addresses of Static where no node is known
	draining       bool
	moved          bool                // the place is another than that of the start
	dialling       sync.Map            // names and addresses of the nodes that are being dialled
	admitted       sync.WaitGroup      // the connections between the admission of their peer and AddLink
	ending         bool                // the links end
	members        int                 // the other nodes that membership has, without client-only ones
	sparse         bool                // there are so many that links are made on demand
	resting        map[*wire.Link]bool // that end by agreement
	membersChanged bool                // since neighbours were chosen
	relay          relay
	touched        bool // see touch

	announcing sync.Mutex
	announced  membership.Catalog // the whole of what was sent to the other nodes; guarded by announcing

	update         chan struct{} // there is something for updateLoop to do
	catalogChanged chan struct{} // this node's catalog has changed
	peerLeft       chan struct{} // for takeOverAddress
	peersChanged   chan struct{} // closed by notePeers; nil while no Unconfirmed waits
}

// Topics of posts between nodes.
const (
	topicCatalog          uint8 = 1 // what the node offers: the JSON of a membership.Catalog
	topicGossip           uint8 = 2 // a packet of the membership library
	topicCatalogRequest   uint8 = 3 // asks for the whole catalog; empty
	topicCatalogConfirmed uint8 = 4 // the sender's calls go by the receiver's catalog of this version
	topicSummaries        uint8 = 5 // what several nodes offer: a JSON list of membership.Summary
	topicServicesWanted   uint8 = 6 // asks for services: a JSON list of their hashes
	topicServices         uint8 = 7 // the answer: a JSON list of membership.Service
	topicDigest           uint8 = 8 // what the sender knows: a kind and a membership.Digest, or its sum
	topicRest             uint8 = 9 // whether the sender needs the link, see demand.go
)

// New makes a mesh. Its error is of an address that cannot be used.
func New(host Host, config Config) (*Mesh, error) {
	if err := config.read(); err != nil {
		return nil, err
	}
	m := &Mesh{host: host, log: config.Log, config: config, registry: membership.NewRegistry(),
		resting: make(map[*wire.Link]bool),
		relay:   relay{summaries: make(map[membershipRun]*relayed), services: make(map[string]keptService), asked: make(map[string]time.Time), unapplied: make(map[membershipRun]bool)},
		peers:   make(map[string]*Peer), open: make(map[*wire.Link]bool), staticDials: make(map[string]context.CancelFunc),
		update: make(chan struct{}, 1), catalogChanged: make(chan struct{}, 1), peerLeft: make(chan struct{}, 1)}
	m.transport = transport.Config{Keyed: !config.Keys.None(), Secret: config.BrokerSecret(), TLS: config.TLS, Advertise: config.Advertise,
		Name: config.Node, PacketSize: config.PacketSize}
	m.refusals.log, m.refusals.node = config.Log, config.Node
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.wakeUp, m.few = m.linkOnDemand, m.fewOnDemand
	m.packets = packetConns{mesh: m, conns: make(map[string]*packetConn)}
	m.forged = seal.NewRefusals(m.log.With("node", config.Node))
	if config.Plain {
		m.log.Warn("links are not encrypted: the address has plain=1, so whoever is between two nodes that both have it can read and change what they send",
			"node", config.Node, "address", m.redactedAddress())
	}
	return m, nil
}

// Listen takes the address. When it returns nil, the mesh has all that its methods read without a lock, and calls no other
// node yet.
func (m *Mesh) Listen(ctx context.Context) error {
	if err := m.listen(ctx); err != nil {
		return err
	}
	info := m.ownInfo()
	m.info.Store(&info)
	m.local.Store(membership.NewCandidate(m.config.Node, info.Place))
	m.wire = m.config.wire(info.encode())
	m.wire.Load = m.Load
	m.wire.Refusals = m.forged
	m.wire.Suspicion = m.host.Suspected
	if err := errors.Join(membership.CheckPlace(&info.Place), m.wire.Validate()); err != nil {
		m.Leave(ctx)
		return fmt.Errorf("the node cannot join: %w", err)
	}
	if err := m.chooseMembership(); err != nil {
		m.Leave(ctx)
		return fmt.Errorf("the node cannot join at %s: %w", m.redactedAddress(), err)
	}
	return nil
}

// Enter, after Listen, finds the other nodes and links this one to them. It returns when the nodes that it could find have
// sent what they offer, or after a few seconds without. After an error the mesh has ended.
//
// It is not called Start: an interface has a method of that name and type, for which the linker would keep this one, and all that
// links need, in programs that never join.
func (m *Mesh) Enter(ctx context.Context) error {
	if m.listener != nil {
		// Before it dials others: nodes that are started together, with each other as seeds, wait for one another's answers.
		m.running.Go(func() { m.acceptLoop(m.listener) })
	}
	if err := m.bootstrap(ctx); err != nil {
		m.Leave(ctx)
		return err
	}
	m.running.Go(m.updateLoop)
	m.running.Go(m.announceLoop)
	if m.membership == nil {
		m.pollMembers(ctx)
		m.running.Go(m.pollLoop)
	} else if err := m.membership.Start(ctx, m.Member(), m.changed); err != nil {
		m.Leave(ctx)
		return fmt.Errorf("the node cannot join at %s: %w", m.redactedAddress(), err)
	}
	if m.config.addressTaken {
		m.running.Go(m.takeOverAddress)
	}
	if m.config.Directory != nil {
		m.enterDirectory(ctx)
	}
	m.awaitCatalogs(ctx)
	if m.config.bus && m.config.ClientOnly && m.anyPeer() == nil {
		m.Leave(ctx)
		return fmt.Errorf("no node of the cluster %q is at %s", m.config.Cluster, m.redactedAddress())
	}
	return nil
}

// Secret returns the secret for brokers that the node starts itself; none without a cluster key.
func (m *Mesh) Secret() secret.Secret { return m.transport.Secret }

// Forged counts what this node refused since no holder of the cluster key had made it.
func (m *Mesh) Forged() uint64 { return m.forged.Count() }

// Local counts the calls to this node itself, where it shares them with others.
func (m *Mesh) Local() *membership.Candidate { return m.local.Load() }

// A View holds the catalogs of the other nodes at one moment.
func (m *Mesh) View() *membership.View { return m.registry.View() }

// Peer is the node of that name if calls can go to it; else nil.
func (m *Mesh) Peer(node string) *Peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.peers[node]; p != nil && p.takesCalls() {
		return p
	}
	return nil
}

// Peers is the nodes that calls can go to, by name, all as they are at one moment.
func (m *Mesh) Peers() map[string]*Peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	linked := make(map[string]*Peer)
	for id, p := range m.peers {
		if p.takesCalls() {
			linked[id] = p
		}
	}
	return linked
}

// redactedAddress is the address without its password, for errors.
func (m *Mesh) redactedAddress() string {
	if at, err := schemes.Parse(m.config.Address); err == nil {
		return at.Redacted()
	}
	return m.config.Address
}

// chooseMembership makes the membership that fits the configuration. An observer without a broker has none and polls.
func (m *Mesh) chooseMembership() error {
	switch {
	case m.config.bus:
		m.presence = membership.NewPresence(m.hub.Broadcast, membership.PresenceConfig{Keys: m.config.Keys, Cluster: m.config.Cluster, Refusals: m.forged, Observe: m.config.ClientOnly, Log: m.log})
		m.hub.Hear(m.presence.Receive, m.presence.Interrupted)
		m.membership = m.presence
	case m.config.Directory != nil:
		m.static = membership.NewStatic(nil)
		m.membership = m.static
	case m.config.ClientOnly:
	case len(m.config.Members) > 0:
		m.static = membership.NewStatic(m.config.Members)
		m.membership = m.static
	default:
		gossip, err := membership.NewGossip(gossipCarrier{m}, m.seeds(), membership.GossipConfig{Cluster: m.config.Cluster, Log: m.log})
		if err != nil {
			return err
		}
		m.gossip, m.membership = gossip, gossip
	}
	return nil
}

// awaitCatalogs waits until the nodes of the cluster are linked and have sent their catalogs, so that a node that has
// started can call them. It dials those that are known already; membership finds the others.
func (m *Mesh) awaitCatalogs(ctx context.Context) {
	limit := settleTimeout
	if m.config.bus && m.config.ClientOnly {
		limit = observerSettleTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var dials sync.WaitGroup
	others := m.otherMembers(ctx)
	if m.config.sharesCatalogs() && len(others) >= m.config.fullMesh() {
		m.awaitSummaries(ctx, others)
		return
	}
	for _, other := range others {
		if m.Peer(other.ID) == nil {
			dials.Go(func() { m.dial(ctx, other.Addr, other.ID) }) // that it fails shows later, if the node is still there
		}
	}
	dials.Wait()
	m.mu.Lock()
	var waits []chan struct{}
	for _, p := range m.peers {
		if !p.info.ClientOnly {
			waits = append(waits, p.synced)
		}
	}
	m.mu.Unlock()
	for _, synced := range waits {
		select {
		case <-synced:
		case <-ctx.Done():
			return
		}
	}
}

// otherMembers lists the other nodes that can be dialled: those that have announced themselves at the broker, or that a
// linked node knows.
func (m *Mesh) otherMembers(ctx context.Context) []membership.Member {
	if m.presence != nil {
		for m.config.ClientOnly && len(m.presence.Members()) == 0 && ctx.Err() == nil {
			sleep(ctx, observerPollInterval) // it is of no use alone
		}
		return slices.DeleteFunc(m.presence.Members(), func(other membership.Member) bool { return other.ClientOnly })
	}
	near := m.anyPeer()
	if near == nil {
		return nil
	}
	list, err := m.host.Members(ctx, near.ID)
	if err != nil {
		m.log.Debug("the other nodes are not known yet", "node", m.config.Node, "asked", near.ID, "error", err)
	}
	return slices.DeleteFunc(list, func(other membership.Member) bool {
		return other.ID == m.config.Node || other.ClientOnly || other.Addr == ""
	})
}

const (
	settleTimeout         = 3 * time.Second
	observerSettleTimeout = 6 * time.Second // in which each node that is at a broker reports it of itself
	observerPollInterval  = 50 * time.Millisecond
)

func (m *Mesh) isDraining() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.draining
}

// Drain refuses new calls of other nodes, and waits for those in flight. Its error has a line for each node whose calls were not all answered.
func (m *Mesh) Drain(ctx context.Context) error {
	m.mu.Lock()
	m.draining = true
	m.mu.Unlock()
	if m.listener != nil {
		m.closeListener()
	}
	m.waitForAdmitted(ctx)
	m.mu.Lock()
	links := slices.Collect(maps.Keys(m.open))
	m.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(links))
	for i, l := range links {
		wg.Go(func() {
			if err := l.Retire(ctx); err != nil {
				errs[i] = unretired(l, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// unretired is the error of a link whose peer was not waited for any longer.
func unretired(l *wire.Link, err error) error {
	if calls := l.Unfinished(); calls > 0 {
		return fmt.Errorf("%d calls and streams of node %s were still running, and are cut off: %w", calls, l.Peer().Node, err)
	}
	return fmt.Errorf("node %s has not confirmed that it calls this one no more: %w", l.Peer().Node, err)
}

// waitForAdmitted waits until each connection whose peer was admitted is a link or has failed, which takes a round trip. A peer
// that stands still in the last step of its handshake is waited for until goodbyeTimeout. It must run with draining set: then
// no further peer is admitted.
func (m *Mesh) waitForAdmitted(ctx context.Context) {
	done := make(chan struct{})
	go func() { // it ends with the handshakes, which have a time limit
		m.admitted.Wait()
		close(done)
	}()
	ctx, cancel := context.WithTimeout(ctx, goodbyeTimeout)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Leave ends the membership and all links. Answers that were given still reach the other nodes, if they take them within
// three seconds. Where ctx has ended, the links are closed at once, and only the goodbye to the others takes time, as a rule some hundred milliseconds.
func (m *Mesh) Leave(ctx context.Context) error {
	m.mu.Lock()
	m.draining = true
	m.mu.Unlock()
	var err error
	if m.membership != nil {
		// Where calls in flight took all the time that ctx gave, the others must learn all the same that the node has left: else they take it for
		// lost, and go on asking for it.
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTimeout)
		err = m.membership.Stop(leaving)
		cancel()
	}
	m.closeListener()
	m.mu.Lock()
	m.ending = true // in one step with the list: AddLink closes what comes later
	links := slices.Collect(maps.Keys(m.open))
	m.mu.Unlock()
	goodbye, cancel := context.WithTimeout(ctx, goodbyeTimeout)
	defer cancel()
	var drains sync.WaitGroup
	for _, l := range links {
		drains.Go(func() { l.Drain(goodbye) })
	}
	drains.Wait()
	m.cancel()
	m.packets.close()
	m.closeLinks(nil)
	m.running.Wait()
	if m.hub != nil {
		err = errors.Join(err, m.hub.Close())
	}
	return err
}

const goodbyeTimeout = 3 * time.Second

// closeListener must run with draining set, or before anything else runs: takeOverAddress then listens no more.
func (m *Mesh) closeListener() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range []transport.Listener{m.listener, m.takenOver} {
		if l != nil {
			l.Close()
		}
	}
}

func (m *Mesh) closeLinks(err error) {
	m.mu.Lock()
	links := slices.Collect(maps.Keys(m.open))
	m.mu.Unlock()
	for _, l := range links {
		l.Close(err)
	}
}

// wake makes the loop that reads c run once more, however often wake is called before.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
