package mesh

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/internal/accept"
	"github.com/sabir-go/sabir/internal/bus"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/transport"
)

// listen takes the address. When another node of this machine listens there already, that node is the first to be dialled,
// and this one listens at an address next to it.
func (m *Mesh) listen(ctx context.Context) error {
	if m.config.bus {
		return m.connectBus(ctx)
	}
	if m.config.ClientOnly {
		if m.config.Directory == nil {
			m.config.ownSeeds = append([]string{m.config.Address}, m.config.ownSeeds...)
		}
		return nil
	}
	l, err := transport.Listen(ctx, m.config.Address, m.transport)
	if errors.Is(err, syscall.EADDRINUSE) {
		if other := fallbackAddress(m.config.Address, m.config.Node); other != "" {
			m.config.ownSeeds = append([]string{m.config.Address}, m.config.ownSeeds...)
			m.config.addressTaken = true
			l, err = transport.Listen(ctx, other, m.transport)
		}
	}
	if err != nil {
		return fmt.Errorf("the node cannot listen: %w", err)
	}
	m.listener = l
	return nil
}

// connectBus connects to the broker at the address.
func (m *Mesh) connectBus(ctx context.Context) error {
	hub, err := bus.Open(ctx, m.config.Address, bus.Config{Cluster: m.config.Cluster, Node: m.config.Node, Transport: m.transport, Log: m.log,
		Keys: m.config.Keys, Plain: m.config.Plain, Refusals: m.forged})
	if err != nil {
		return fmt.Errorf("the node cannot use the broker: %w", err)
	}
	m.hub = hub
	if !m.config.ClientOnly {
		m.listener = hub.Listener()
	}
	return nil
}

// takeOverAddress waits until the node that listens at the address which all nodes of this machine were given has gone, and
// then listens there too. New nodes and observers can so find the cluster at that address for as long as one of its nodes
// runs. It tries as soon as a node leaves: the next process that is given the address would else listen there itself, and know nobody.
func (m *Mesh) takeOverAddress() {
	for {
		timer := time.NewTimer(takeOverInterval/2 + rand.N(takeOverInterval))
		select {
		case <-timer.C:
		case <-m.peerLeft:
		case <-m.ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
		l, err := transport.Listen(m.ctx, m.config.Address, m.transport)
		if err != nil {
			continue // it is taken, as a rule
		}
		m.mu.Lock()
		if m.draining {
			m.mu.Unlock()
			l.Close()
			return
		}
		m.takenOver = l
		m.mu.Unlock()
		m.log.Info("the shared address is taken over", "node", m.config.Node, "address", m.config.Address)
		m.acceptLoop(l)
		return
	}
}

// takeOverInterval is the interval at which a node checks whether the shared address has become free.
const takeOverInterval = time.Second

// fallbackAddress is an address next to one that is taken; "" for a kind of address that has none.
func fallbackAddress(address, node string) string {
	u, err := schemes.Parse(address)
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

// bootstrap links the node to the first seed that answers, so that a wrong key or cluster name is found at the start. It is
// no error that no seed answers, since the first node of a cluster has no node to link to; but it is one where another node
// holds this one's address.
func (m *Mesh) bootstrap(ctx context.Context) error {
	var shared atomic.Bool                                                                          // whether a node that takes this one answered at the address of this one
	seeds := slices.DeleteFunc(m.seeds(), func(seed string) bool { return seed == m.OwnAddress() }) // a list of seeds may name the node itself
	err := m.dialFirst(ctx, seeds, lasting, func(ctx context.Context, seed string) error {
		err := m.dialSeed(ctx, seed)
		switch {
		case err == nil, errors.Is(err, membership.ErrSelf): // by another address
			if seed == m.config.Address {
				shared.Store(true)
			}
			return err
		case m.config.addressTaken && seed == m.config.Address:
			return fmt.Errorf("the node cannot listen at %s, since another process does, and that is no node that takes this one; give one of them another address: %w", seed, err)
		case lasting(err):
			return fmt.Errorf("the node at %s does not take this one: %w", seed, err)
		case !m.config.ClientOnly && m.gossip == nil: // gossip tries it again, and logs that
			m.log.Info("seed not reached", "node", m.config.Node, "seed", seed, "error", err)
		}
		return fmt.Errorf("no node answers at %s: %w", seed, err)
	})
	if err == nil && m.config.addressTaken && !shared.Load() {
		m.log.Warn("another process listens at the address of this node, and has not answered as a node that takes this one: this one listens elsewhere until it is free",
			"node", m.config.Node, "address", m.config.Address, "listens_at", m.OwnAddress())
	}
	if lasting(err) || (m.config.addressTaken || m.config.ClientOnly) && !errors.Is(err, membership.ErrSelf) {
		return err
	}
	return nil
}

// lasting reports whether a node refused this one for a reason that stays until somebody changes it, such as a wrong key.
func lasting(err error) bool {
	refused, ok := errors.AsType[*wire.HandshakeError](err)
	return ok && !refused.Temporary() && !errors.Is(err, membership.ErrSelf)
}

// dialSeed links the node to one address of a seed's name that takes it. Where none does, a lasting refusal is the error, whichever
// address was dialled first, and ErrSelf where there is no other node.
func (m *Mesh) dialSeed(ctx context.Context, seed string) error {
	addrs := m.lookup(ctx, seed)
	if len(addrs) == 0 {
		return membership.ErrSelf
	}
	return m.dialFirst(ctx, addrs, func(error) bool { return false }, m.dialSlowly)
}

// dialFirst dials addresses until one takes this node. The next one is begun when one has failed, or has kept it waiting: one where nothing
// answers takes seconds, and a name may still have many of nodes that have gone. A decisive error ends it too.
func (m *Mesh) dialFirst(ctx context.Context, addrs []string, decisive func(error) bool, dial func(context.Context, string) error) (worst error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan error, len(addrs))
	waiting := 0
	begin := func() {
		if len(addrs) == 0 {
			return
		}
		addr := addrs[0]
		addrs = addrs[1:]
		waiting++
		m.running.Go(func() { results <- dial(ctx, addr) })
	}
	begin()
	next := time.NewTicker(attemptDelay)
	defer next.Stop()
	for waiting > 0 {
		select {
		case err := <-results:
			waiting--
			if err == nil || decisive(err) {
				return err
			}
			if worst == nil || errors.Is(worst, membership.ErrSelf) || lasting(err) && !lasting(worst) {
				worst = err
			}
			begin()
		case <-next.C:
			begin()
		}
	}
	return worst
}

// attemptDelay is the time for which an address keeps the next one waiting: the Connection Attempt Delay of RFC 8305, section 5.
const attemptDelay = 250 * time.Millisecond

// dialSlowly dials an address of a seed. Where this node cannot start without it, since a node listens at the address that both were given, it
// is dialled again if it takes too long: on a machine with much to do it is only slow.
func (m *Mesh) dialSlowly(ctx context.Context, addr string) error {
	for tries := 1; ; tries++ {
		err := m.dial(ctx, addr, "")
		if err == nil || !m.config.addressTaken || tries == seedTries || !isTimeout(err) || ctx.Err() != nil {
			return err
		}
		m.log.Info("seed is slow", "node", m.config.Node, "seed", addr, "error", err)
	}
}

const seedTries = 3

// isTimeout reports whether a dial failed for want of time. The other side may have been the one that stopped waiting; it
// closes the connection then.
func isTimeout(err error) bool {
	if refused, ok := errors.AsType[*wire.HandshakeError](err); ok {
		return refused.Reason == wire.ReasonTimeout || refused.Reason == wire.ReasonLost
	}
	return errors.Is(err, context.DeadlineExceeded)
}

func (m *Mesh) acceptLoop(listener transport.Listener) {
	failures := accept.NewFailures(m.log.With("node", m.config.Node), listener.Addr(), "nodes")
	for {
		conn, err := listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files
			failures.Pause(err, m.ctx.Done())
			continue
		}
		failures.Accepted()
		if oldest := m.handshakes.add(conn); oldest != nil {
			m.refusals.add(causeTooMany, oldest.RemoteAddr(), errTooManyPending)
			oldest.Close()
		}
		m.running.Go(func() { m.handshake(conn) })
	}
}

// handshake authenticates a connection that another node made, and hands it to what it is for.
func (m *Mesh) handshake(conn net.Conn) {
	serves := wire.Purpose("") // all
	if m.gossip == nil {
		serves = wire.ForLink
	}
	secured, p, linked, err := m.authenticate(m.ctx, conn, false, serves)
	m.handshakes.remove(conn)
	if err != nil {
		conn.Close()
		m.refused(conn, err)
		return
	}
	switch p.Purpose {
	case wire.ForGossip:
		m.gossip.Conn(secured)
		return
	case wire.ForPackets:
		m.packets.accept(secured, p.Node)
		return
	}
	m.AddLink(secured, p)
	linked()
}

var errDialled = errors.New("it is being dialled already")

// dial makes a link to the node at an address: the one of that name, if a name is given, which is dialled there once at a time.
func (m *Mesh) dial(ctx context.Context, addr, name string) error {
	if name != "" {
		node := membership.Member{ID: name, Addr: addr}
		if _, dialled := m.dialling.LoadOrStore(node, true); dialled {
			return errDialled
		}
		defer m.dialling.Delete(node)
	}
	conn, p, linked, err := m.connect(ctx, addr, wire.ForLink)
	if err != nil {
		return err
	}
	defer linked()
	if name != "" && p.Node != name {
		conn.Close()
		return fmt.Errorf("at %s is node %s, not %s", addr, p.Node, name)
	}
	m.AddLink(conn, p)
	return nil
}

// connect dials an address. See [Mesh.authenticate] for linked.
func (m *Mesh) connect(ctx context.Context, addr string, purpose wire.Purpose) (conn net.Conn, p wire.Peer, linked func(), err error) {
	dialled, err := m.dialConn(ctx, addr)
	if err != nil {
		return nil, wire.Peer{}, nil, err
	}
	conn, p, linked, err = m.authenticate(ctx, dialled, true, purpose)
	if err != nil {
		dialled.Close()
		if refused, ok := errors.AsType[*wire.HandshakeError](err); ok && refused.Reason == wire.ReasonSelf {
			err = fmt.Errorf("%w: %w", membership.ErrSelf, err)
		}
		return nil, wire.Peer{}, nil, err
	}
	return conn, p, linked, nil
}

// authenticate runs one side of the handshake, and returns the connection to go on with. From the moment at which this side admits a peer for a link until linked is
// called, the connection counts in m.admitted: the peer may already send calls on it, so a node that stops must serve them or
// send GoAway. To close the connection would fail them with LinkLost. A link that this node makes while it stops does not count: AddLink sends GoAway. The
// caller calls linked exactly once, when the link was made or is not to be made; after an error it must not.
func (m *Mesh) authenticate(ctx context.Context, conn net.Conn, dialled bool, purpose wire.Purpose) (secured net.Conn, p wire.Peer, linked func(), err error) {
	config, linked := m.wire, func() {}
	config.NodeInfo = m.info.Load().encode()
	config.Admit = func(p wire.Peer) error {
		counted, err := m.admit(p, dialled)
		if counted {
			linked = m.admitted.Done
		}
		return err
	}
	secured, p, err = wire.Handshake(ctx, conn, config, dialled, purpose)
	if err != nil {
		linked()
		return nil, p, nil, err
	}
	return secured, p, linked, nil
}

func (m *Mesh) dialConn(ctx context.Context, addr string) (net.Conn, error) {
	if m.hub != nil {
		return m.hub.Dial(ctx, addr)
	}
	url, config := m.resolved.dialConfig(addr, m.transport)
	return transport.Dial(ctx, url, config)
}

// admit is called at the end of a handshake, and refuses the peer with an error. It reports whether the connection counts in m.admitted.
func (m *Mesh) admit(p wire.Peer, dialled bool) (counted bool, err error) {
	info, err := parseInfo(p.NodeInfo)
	if err != nil {
		return false, err
	}
	if err := m.checkNamesake(p.Node, info); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case p.Purpose == wire.ForPackets: // by which the others hear that it leaves
		return false, nil
	case m.draining && p.Purpose == wire.ForLink && dialled && !m.ending: // for a call that this node makes until it has stopped
		return false, nil
	case m.draining:
		return false, fmt.Errorf("node %s is leaving", m.config.Node)
	case p.Purpose == wire.ForLink:
		m.admitted.Add(1)
		return true, nil
	}
	return false, nil
}

// checkNamesake refuses a node whose id another one has that is linked and alive: it answers a ping. A former run of the same node does not,
// even where its end is not noticed yet, so a node that was started again gets in.
func (m *Mesh) checkNamesake(id string, info Info) error {
	m.mu.Lock()
	p := m.peers[id]
	if p == nil || p.leaving || p.info.Instance == 0 || p.info.Instance == info.Instance {
		m.mu.Unlock()
		return nil
	}
	links, other := p.Links(), p.info
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(m.ctx, namesakeLimit)
	defer cancel()
	for _, l := range links {
		if !l.Suspected() && l.Answers(ctx) {
			return &wire.HandshakeError{Reason: wire.ReasonSameNode, Detail: fmt.Sprintf(
				"two nodes of the cluster have the id %q: one runs on %s as process %d at %s, the other on %s as process %d at %s; give each an id of its own",
				id, other.Host, other.PID, other.Addr, info.Host, info.PID, info.Addr)}
		}
	}
	return nil
}

// namesakeLimit is the time in which a node answers a ping that is alive.
const namesakeLimit = time.Second

func connectionRefused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}
