package actor

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"unique"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/wire"
)

// Extension makes the system that of a node: give it to sabir.NewNode. It then starts and stops with the node, and
// reaches the systems of the other nodes of the cluster. Before the node has started, nothing can be spawned and nothing
// sent. A system belongs to one node.
func (s *System) Extension() sabir.NodeOption {
	s.stopped.Store(true) // until Start: PIDs hold the node's name
	return sabir.Extend(Topic, extension{s})
}

// extension is the system as its node sees it.
type extension struct{ s *System }

func (e extension) Name() string { return "processes" }

func (e extension) Start(_ context.Context, n *sabir.Node) error {
	s := e.s
	if s.node != nil {
		return fmt.Errorf("actor: the system is that of node %s already: make one for each node", s.node.ID())
	}
	if count := s.Count(); count > 0 {
		return fmt.Errorf("actor: %d processes were started before the node: start them when it has started", count)
	}
	s.node, s.away.system = n, s
	s.home = unique.Make(home{node: n.ID(), instance: s.home.Value().instance})
	s.stopped.Store(false)
	return s.serveGroups()
}

func (e extension) Stop(ctx context.Context) error { return e.s.Stop(ctx) }

func (e extension) Linked(l *wire.Link)              { e.s.away.linked(l) }
func (e extension) Unlinked(l *wire.Link, err error) { e.s.away.unlinked(l, err) }
func (e extension) Posted(l *wire.Link, data []byte) { e.s.away.posted(l, data) }

// network is the other nodes, as the system of one sees them.
//
// Two systems talk in sessions. A session keeps to one link, in both directions, so that order is kept. Of two nodes the one
// with the lesser id chooses the link and says hello on it; the other answers with its own hello on the same link, and the
// session is up. When that link ends, the session has: whoever has a link, monitor or call across it is told, and the
// chooser begins another on another link, if there is one. What an older link still delivers then is nobody's.
//
// mu guards the comings and goings. While it is held, the reading of a session is waited for, so nobody who reads takes it.
type network struct {
	system *System

	byLink sync.Map // *wire.Link to *session
	byHome sync.Map // unique.Handle[home] to *session that is up
	byNode sync.Map // string to *session that is up

	permitted sync.Map // name of a behaviour to permission

	held     sync.Map // unique.Handle[home] to *atomic.Int64: see hold
	heldLess int64    // than maxHeld, for tests

	mu       sync.Mutex
	peers    map[string]*peer
	watchers map[string]map[PID]struct{} // of nodes, "" for all; see MonitorNode
	gone     sync.WaitGroup
}

// peer is another node as long as there is a link to it.
type peer struct {
	node    string
	links   []*wire.Link // in the order in which they came
	session *session     // nil for none
}

func (n *network) linked(l *wire.Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	node := l.Peer().Node
	p := n.peers[node]
	if p == nil {
		if n.peers == nil {
			n.peers = map[string]*peer{}
		}
		p = &peer{node: node}
		n.peers[node] = p
	}
	p.links = append(p.links, l)
	if p.session == nil && n.system.homeName() < node {
		n.begin(p, l)
	}
}

// begin begins a session. It runs under mu.
func (n *network) begin(p *peer, l *wire.Link) *session {
	p.session = &session{system: n.system, link: l, node: p.node, waiting: map[uint64]*awaited{}, inbound: map[uint64]*awayCall{}}
	n.byLink.Store(l, p.session)
	n.greet(p.session)
	return p.session
}

// greet says hello, if the link is full as soon as there is room.
func (n *network) greet(s *session) {
	hello := binary.AppendUvarint([]byte{byte(verbHello)}, protocolVersion)
	hello = appendID(hello, s.system.home.Value().instance)
	if s.link.TryPost(Topic, hello) {
		s.greeted = true
		return
	}
	n.gone.Go(func() {
		if s.link.Post(context.Background(), Topic, hello) == nil {
			n.mu.Lock()
			s.greeted = true
			n.raise(s)
			n.mu.Unlock()
		}
	})
}

// hello is the peer's word who it is.
func (n *network) hello(l *wire.Link, data []byte) error {
	sys := n.system
	r := parcel{data: data}
	version, instance := r.uvarint(), r.uint64()
	if version != protocolVersion {
		sys.log.Warn("the processes of another node cannot be reached: it speaks another version", "node", l.Peer().Node, "version", version, "want", protocolVersion)
		return nil
	}
	if err := r.end(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[l.Peer().Node]
	if p == nil || !slices.Contains(p.links, l) {
		return nil
	}
	s := p.session
	if sys.homeName() < p.node {
		if s == nil || s.link != l || s.up {
			return fmt.Errorf("%w: hello out of turn", errMalformed)
		}
	} else {
		if s != nil && s.link == l {
			return fmt.Errorf("%w: second hello", errMalformed)
		}
		if s != nil {
			n.end(p, wire.ErrClosed) // the peer knows of its end before this side
		}
		s = n.begin(p, l)
	}
	s.home = unique.Make(home{node: p.node, instance: instance})
	s.heard = true
	n.raise(s)
	return nil
}

// raise lets a session be used where both sides have said hello. It runs under mu.
func (n *network) raise(s *session) {
	if s.up || !s.greeted || !s.heard || s.ended.Load() {
		return
	}
	s.up = true
	n.forgetHeld(s.home)
	n.byHome.Store(s.home, s)
	n.byNode.Store(s.node, s)
	tellWatchers(n, s.node, NodeUp{s.node})
}

func (n *network) unlinked(l *wire.Link, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[l.Peer().Node]
	if p == nil {
		return
	}
	p.links = slices.DeleteFunc(p.links, func(other *wire.Link) bool { return other == l })
	if len(p.links) == 0 {
		delete(n.peers, p.node)
	}
	s := p.session
	if s == nil || s.link != l {
		return
	}
	n.end(p, err)
	if len(p.links) > 0 && s.system.homeName() < p.node {
		n.begin(p, p.links[0])
	}
}

// end ends the session of a peer, when nothing of it is being read any more, and tells all who are to know. It runs under mu.
func (n *network) end(p *peer, err error) {
	s := p.session
	p.session = nil
	s.ended.Store(true)
	n.byLink.CompareAndDelete(s.link, s)
	n.byHome.CompareAndDelete(s.home, s)
	n.byNode.CompareAndDelete(s.node, s)
	s.reading.Lock() // what is being read was read before the end
	s.drop()
	s.reading.Unlock()
	if s.up {
		s.system.log.Debug("node of processes lost", "node", s.node, "reason", err)
		s.system.severed(s.home)
		tellWatchers(n, s.node, NodeDown{s.node})
	}
}

// posted handles a post, on the goroutine that reads the link. What cannot be understood ends the link, and with it the
// session.
func (n *network) posted(l *wire.Link, data []byte) {
	known, ok := n.byLink.Load(l)
	s, _ := known.(*session)
	var err error
	switch {
	case len(data) == 0:
		err = errMalformed
	case verb(data[0]) == verbHello:
		err = n.hello(l, data[1:])
	case ok:
		err = s.read(data)
	} // else it is of a session that has ended, or of a node whose version is not known
	if err != nil {
		err = fmt.Errorf("actor: node %s: %w", l.Peer().Node, err)
		n.system.log.Error("the link is closed", "peer", l.Peer().Node, "error", err)
		l.Close(err)
	}
}

// severed tells the processes of this node that a run of another has been lost: links get an Exit, monitors a Down. What
// that one's processes had here is forgotten.
func (s *System) severed(lost unique.Handle[home]) {
	node := lost.Value().node
	reason := problem(ErrNoConnection, s.homeName(), "node %s was lost", node)
	var links []PID
	var watches []Down
	var watchers []watched
	for pid := range s.all() {
		links, watches, watchers = links[:0], watches[:0], watchers[:0]
		at := s.table.find(pid.id)
		at.mu.Lock()
		if at.id == pid.id {
			for other := range at.links() {
				if other.home == lost {
					links = append(links, other)
				}
			}
		}
		if m := at.more; m != nil && at.id == pid.id {
			for ref, other := range m.watches.all() {
				if other.home == lost || other.standsAt(node) {
					watches = append(watches, Down{Ref: ref, PID: other, Reason: reason})
				}
			}
			for w := range m.watched.all() {
				if w.watcher.home == lost {
					watchers = append(watchers, w)
				}
			}
			for _, w := range watchers {
				if m.watched.drop(w) {
					s.hold(w.watcher, -1)
				}
			}
		}
		at.mu.Unlock()
		for _, other := range links {
			s.push(pid, exitLetter(Exit{From: other, Reason: reason, linked: true}), nil)
		}
		for _, d := range watches {
			s.tellDown(pid, d)
		}
	}
}
