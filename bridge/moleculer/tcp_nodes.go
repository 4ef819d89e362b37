package moleculer

import (
	"net"
	"slices"
	"time"
)

// tcpNode is another node of a project that meets over TCP, as far as it is known.
type tcpNode struct {
	id        string
	addresses []string // the best first
	fixed     bool     // it is one of Peers
	link      *link    // nil without a connection
	linked    bool     // the connection stands
	info      *infoPacket
	text      raw       // the info as it came
	noticed   time.Time // when it was told of
	tried     time.Time // when it was dialled
	asked     time.Time // when it was asked for what it knows
}

const (
	// dialInterval is the time between attempts to reach a node.
	dialInterval = time.Second
	// forgetAfter is the time after which a node that nobody told of is forgotten, as Moleculer's.
	forgetAfter  = 10 * time.Minute
	maxAddresses = 4
)

// learn notes a node and addresses of it, and dials it.
func (m *tcp) learn(id string, fixed bool, addresses ...string) {
	if badTopic(id) || id == m.bridge.id {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nodes[id]
	if n == nil {
		if len(m.nodes) >= maxPeers || m.closed {
			return
		}
		n = &tcpNode{id: id}
		m.nodes[id] = n
	}
	n.fixed = n.fixed || fixed
	n.noticed = time.Now()
	for _, a := range slices.Backward(addresses) {
		if at := slices.Index(n.addresses, a); at >= 0 {
			n.addresses = slices.Delete(n.addresses, at, at+1)
		}
		n.addresses = slices.Insert(n.addresses, 0, a)
	}
	n.addresses = n.addresses[:min(len(n.addresses), maxAddresses)]
	m.dial(n)
}

// dial makes the link to a node, unless it has one, or was dialled a moment ago. The caller holds mu.
func (m *tcp) dial(n *tcpNode) {
	if n.link != nil || m.closed || time.Since(n.tried) < dialInterval {
		return
	}
	n.tried = time.Now()
	n.link = newLink(m, n.id)
	l, addresses := n.link, slices.Clone(n.addresses)
	m.running.Go(func() { l.run(addresses) })
}

// linkTo returns the link to a node.
func (m *tcp) linkTo(id string) (*link, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nodes[id]
	if n != nil {
		m.dial(n)
	}
	if n == nil || n.link == nil {
		return nil, &net.AddrError{Err: "the node cannot be reached", Addr: id}
	}
	return n.link, nil
}

// linked is called when a link stands: what the node offers can be called.
func (m *tcp) linked(l *link) {
	m.mu.Lock()
	n := m.nodes[l.node]
	var info *infoPacket
	if n != nil && n.link == l {
		n.linked, info = true, n.info
	}
	m.mu.Unlock()
	if info != nil {
		m.bridge.putPeer(info)
	}
}

// unlinked is called when a link has ended: so has its node, or the way to it.
func (m *tcp) unlinked(l *link) {
	m.mu.Lock()
	n := m.nodes[l.node]
	had := n != nil && n.link == l
	if had {
		n.link, n.linked = nil, false
	}
	m.mu.Unlock()
	if had {
		m.bridge.drop(l.node, "has gone")
	}
}

// answered is called for the PONG of a node.
func (m *tcp) answered(node, id string) {
	m.mu.Lock()
	n := m.nodes[node]
	var l *link
	if n != nil {
		l = n.link
	}
	m.mu.Unlock()
	if l != nil {
		l.answered(id)
	}
}

// discover is for a node that speaks, though its INFO is not known to the bridge, or any more.
func (m *tcp) discover(id string) {
	m.mu.Lock()
	n := m.nodes[id]
	var info *infoPacket
	if n != nil && n.linked {
		info = n.info
	}
	m.mu.Unlock()
	if info != nil {
		m.bridge.putPeer(info)
	} else {
		m.ask(id)
	}
}

// learnBehind is learn for addresses that are worse than those that are known.
func (m *tcp) learnBehind(id string, addresses []string) {
	m.mu.Lock()
	if n := m.nodes[id]; n != nil {
		addresses = append(slices.Clone(n.addresses), addresses...)
	}
	m.mu.Unlock()
	m.learn(id, false, addresses[:min(len(addresses), maxAddresses)]...)
}
