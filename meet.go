package sabir

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/bus"
	"github.com/sabir-go/sabir/wire"
)

// listen takes the address. When a node listens there already, that is the one to meet, and this one listens elsewhere.
func (m *mesh) listen(ctx context.Context) error {
	if m.config.bus {
		return m.connectBus(ctx)
	}
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

// connectBus connects to the broker that the address is that of.
func (m *mesh) connectBus(ctx context.Context) error {
	hub, err := bus.Open(ctx, m.config.address, bus.Config{Cluster: m.config.cluster, Node: m.node.id, Transport: m.transport, Log: m.log})
	if err != nil {
		return joinError("the node cannot use the broker: ", err)
	}
	m.hub = hub
	if !m.config.guest {
		m.listener = hub.Listener()
	}
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
		err := m.dialSeed(ctx, seed)
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

// dialSeed dials a seed. Where this node cannot start without it, since a node listens at the address that both were given, it
// is dialled again if it takes too long: on a machine with much to do it is only slow.
func (m *mesh) dialSeed(ctx context.Context, seed string) error {
	for tries := 1; ; tries++ {
		err := m.dial(ctx, seed, "")
		if err == nil || !m.config.met || tries == seedTries || !tookTooLong(err) || ctx.Err() != nil {
			return err
		}
		m.log.Info("seed is slow", "node", m.node.id, "seed", seed, "error", err)
	}
}

const seedTries = 3

// tookTooLong tells whether a dial failed for want of time, on either side: the other one closes the connection then.
func tookTooLong(err error) bool {
	if refused, ok := errors.AsType[*wire.HandshakeError](err); ok {
		return refused.Reason == wire.ReasonTimeout || refused.Reason == wire.ReasonLost
	}
	return errors.Is(err, context.DeadlineExceeded)
}

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
		}
		pause = time.Millisecond
		if oldest := m.shaking.add(conn); oldest != nil {
			m.log.Warn("connection closed: too many have not proved who they are", "node", m.node.id, "from", oldest.RemoteAddr(), "limit", maxShaking)
			oldest.Close()
		}
		m.running.Go(func() { m.welcome(conn) })
	}
}

// welcome finds out who dialled and what for.
func (m *mesh) welcome(conn net.Conn) {
	serves := wire.Purpose("") // all
	if m.gossip == nil {
		serves = wire.ForLink
	}
	p, err := wire.Handshake(m.ctx, conn, m.wire, false, serves)
	m.shaking.remove(conn)
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
	conn, err := m.dialConn(ctx, addr)
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

func (m *mesh) dialConn(ctx context.Context, addr string) (net.Conn, error) {
	if m.hub != nil {
		return m.hub.Dial(ctx, addr)
	}
	return transport.Dial(ctx, addr, m.transport)
}

// admit is the last word on a peer in the handshake.
func (m *mesh) admit(p wire.Peer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.draining {
		return fmt.Errorf("node %s is leaving", m.node.id)
	}
	_, err := parseAbout(p.About)
	return err
}

// leadsBack tells whether a connection that this node dialled came out at its own listener.
func (m *mesh) leadsBack(conn net.Conn) bool {
	from, _, notFrom := net.SplitHostPort(conn.LocalAddr().String())
	to, port, notTo := net.SplitHostPort(conn.RemoteAddr().String())
	own, notOwn := transport.Parse(m.ownAddress())
	return notFrom == nil && notTo == nil && notOwn == nil && from == to && port == own.Port()
}

func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}

func joinError(what string, err error) *Error {
	return &Error{Code: Unavailable, Name: nameJoin, cause: err, Message: what + err.Error()}
}
