package actor

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"unique"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/wire"
)

// Option makes the system that of a node: give it to sabir.NewNode. It then starts and stops with the node, and
// reaches the systems of the other nodes of the cluster. Before the node has started, nothing can be spawned and nothing
// sent. A system belongs to one node.
func (s *System) Option() sabir.NodeOption {
	s.stopped.Store(true) // until Start: PIDs hold the node's name
	s.awaitsNode.Store(true)
	return sabir.WithExtension(extension{s})
}

// extension has the methods of a system that its node calls.
type extension struct{ s *System }

var _ mesh.Extension = extension{}

func (e extension) Name() string { return "processes" }

func (e extension) Start(_ context.Context, n *sabir.Node) error {
	s := e.s
	if s.node != nil {
		return fmt.Errorf("actor: the system is that of node %s already: make one for each node", s.node.ID())
	}
	if count := s.Count(); count > 0 {
		return fmt.Errorf("actor: %d processes were started before the node: start them when it has started", count)
	}
	if err := s.remote.checkAllowed(n); err != nil {
		return err
	}
	s.node = n
	s.home = unique.Make(home{node: n.ID(), instance: s.home.Value().instance})
	s.awaitsNode.Store(false)
	s.stopped.Store(false)
	return s.groups.serve(s)
}

func (e extension) Stop(ctx context.Context) error { return e.s.Stop(ctx) }

func (e extension) Topic() uint8                     { return linkTopic }
func (e extension) Linked(l *wire.Link)              { e.s.remote.linked(l) }
func (e extension) Unlinked(l *wire.Link, err error) { e.s.remote.unlinked(l, err) }
func (e extension) Posted(l *wire.Link, data []byte) { e.s.remote.posted(l, data) }

// network holds the system's sessions with other nodes.
//
// Two systems talk in sessions. A session uses one link in both directions, so that the order of messages is kept. Of two
// nodes, the one whose id sorts first chooses the link and sends a hello on it; the other answers with a hello on the same
// link, and the session is up. The session ends with that link: every process with a link, monitor or call across it is
// notified, and the node that chooses opens another session on another link, if there is one. What the old link still delivers
// after that is ignored; also a hello: the links of two nodes deliver in no common order, so the node that chooses numbers its
// sessions, and the other opens none that is older than the last.
//
// Lock order: mu before session.reading. While mu is held, end waits for the reader of a session, so a reader never takes mu.
type network struct {
	system *System

	byLink sync.Map // *wire.Link to *session
	byHome sync.Map // unique.Handle[home] to the *session that is up
	byNode sync.Map // string to the *session that is up

	permitted sync.Map // name of a behaviour to permission
	allowed   []string // Nodes of Config

	remoteCounts sync.Map // unique.Handle[home] to *atomic.Int64: see count
	limitOffset  int64    // lowers maxRemoteLinks in tests

	unreached unreached

	mu       sync.Mutex
	sessions uint64 // opened so far, the number of the last one
	peers    map[string]*peer
	watchers map[string]map[PID]struct{} // by node, "" for all nodes; see MonitorNode
	gone     sync.WaitGroup
}

// peer is another node for as long as there is a link to it.
type peer struct {
	node    string
	links   []*wire.Link // oldest first
	session *session     // nil between two sessions

	// The last session that the peer opened, where it is the one that chooses.
	instance uint64
	number   uint64
}

func (n *network) linked(l *wire.Link) {
	if !n.allows(l) {
		n.unreached.set(l.Peer().Node, whyNotAllowed)
		return // so no session begins, and what comes without one is ignored
	}
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
		n.unreached.set(node, whySilent)
	}
	p.links = append(p.links, l)
	if p.session == nil && n.system.nodeName() < node {
		n.sessions++
		n.openSession(p, l, n.sessions)
	}
}

// openSession begins a session on a link. Call it with mu held.
func (n *network) openSession(p *peer, l *wire.Link, number uint64) *session {
	p.session = &session{system: n.system, link: l, node: p.node, turn: number, declaring: make(chan struct{}, 1), pending: map[uint64]*pendingReply{}, inbound: map[uint64]*remoteCall{},
		memory: memory.OfNode(n.system.node).Connection()}
	n.byLink.Store(l, p.session)
	n.sendHello(p.session)
	return p.session
}

// hello is the post that begins the session of that number.
func (n *network) hello(number uint64) []byte {
	post := binary.AppendUvarint([]byte{byte(opHello)}, protocolVersion)
	post = appendID(post, n.system.home.Value().instance)
	return binary.AppendUvarint(post, number)
}

// sendHello sends the hello of a session, in the background if the link is full.
func (n *network) sendHello(s *session) {
	hello := n.hello(s.turn)
	if s.link.TryPost(linkTopic, hello) {
		s.helloSent = true
		return
	}
	n.gone.Go(func() {
		if s.link.Post(context.Background(), linkTopic, hello) == nil {
			n.mu.Lock()
			s.helloSent = true
			n.bringUp(s)
			n.mu.Unlock()
		}
	})
}

// receiveHello reads the peer's hello. On the side that does not choose the link, it opens the session.
func (n *network) receiveHello(l *wire.Link, data []byte) error {
	sys := n.system
	r := postReader{data: data}
	version, instance, number := r.uvarint(), r.uint64(), r.uvarint()
	if version != protocolVersion {
		n.refuseVersion(l, version)
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
	if sys.nodeName() < p.node {
		if s == nil || s.link != l || s.up || s.turn != number {
			return fmt.Errorf("%w: hello out of turn", errMalformed)
		}
	} else {
		if s != nil && s.link == l {
			return fmt.Errorf("%w: second hello", errMalformed)
		}
		if p.instance == instance && number <= p.number {
			return nil // it was under way for long: that session has ended, and the peer has opened another since
		}
		p.instance, p.number = instance, number
		if s != nil {
			n.end(p, wire.ErrClosed) // the peer knows of its end before this side
		}
		s = n.openSession(p, l, number)
	}
	s.home = unique.Make(home{node: p.node, instance: instance})
	s.helloReceived = true
	n.bringUp(s)
	return nil
}

// refuseVersion is for a hello of another version. The side that does not choose the link answers with its own, so that the other one knows too.
func (n *network) refuseVersion(l *wire.Link, version uint64) {
	node := l.Peer().Node
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[node]
	if p == nil || !slices.Contains(p.links, l) {
		return
	}
	n.unreached.set(node, whyVersion(version))
	n.system.log.Warn("the processes of another node cannot be reached: it speaks another version of their protocol. Run the same minor version of Sabir on both nodes",
		"node", node, "version", version, "want", protocolVersion)
	if node < n.system.nodeName() {
		n.gone.Go(func() { _ = l.Post(context.Background(), linkTopic, n.hello(0)) }) // lost with the link itself
	}
}

// bringUp makes a session usable once both hellos have passed. Call it with mu held.
func (n *network) bringUp(s *session) {
	if s.up || !s.helloSent || !s.helloReceived || s.ended.Load() {
		return
	}
	s.up = true
	n.unreached.clear(s.node)
	n.forgetRemoteCounts(s.home)
	n.byHome.Store(s.home, s)
	n.byNode.Store(s.node, s)
	n.notifyWatchers(NodeChange{s.node, true})
}

func (n *network) unlinked(l *wire.Link, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[l.Peer().Node]
	if p == nil {
		n.unreached.clear(l.Peer().Node) // as one that is not allowed
		return
	}
	p.links = slices.DeleteFunc(p.links, func(other *wire.Link) bool { return other == l })
	if len(p.links) == 0 {
		delete(n.peers, p.node)
		n.unreached.clear(p.node)
	}
	s := p.session
	if s == nil || s.link != l {
		return
	}
	n.end(p, err)
	if len(p.links) > 0 && s.system.nodeName() < p.node {
		n.sessions++
		n.openSession(p, p.links[0], n.sessions)
	}
}

// end ends the session of a peer and notifies all processes concerned. It waits until no post of the session is being read.
// Call it with mu held.
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
		if len(p.links) > 0 {
			n.unreached.set(s.node, whySilent) // until the next session is up
		}
		s.system.log.Debug("node of processes lost", "node", s.node, "reason", err)
		n.lost(s.home)
		n.notifyWatchers(NodeChange{s.node, false})
	}
}

// posted handles a post on the goroutine that reads the link. A post that cannot be understood closes the link, and with it the
// session.
func (n *network) posted(l *wire.Link, data []byte) {
	known, ok := n.byLink.Load(l)
	s, _ := known.(*session)
	var err error
	switch {
	case len(data) == 0:
		err = errMalformed
	case opcode(data[0]) == opHello:
		err = n.receiveHello(l, data[1:])
	case ok:
		err = s.read(data)
	} // else it is of a session that has ended, or of a node whose version is not known
	if err != nil {
		err = fmt.Errorf("actor: node %s: %w", l.Peer().Node, err)
		n.system.log.Error("the link is closed", "peer", l.Peer().Node, "error", err)
		l.Close(err)
	}
}

// lost handles the loss of one run of another node: linked processes get an Exit, monitoring ones a Down. What processes of
// that run had here is removed.
func (n *network) lost(lost unique.Handle[home]) {
	s := n.system
	node := lost.Value().node
	reason := problem(ErrNoConnection, s.nodeName(), "node %s was lost", node)
	var links []PID
	var watches []Down
	var watchers []watched
	for pid := range s.all() {
		links, watches, watchers = links[:0], watches[:0], watchers[:0]
		at := s.processes.find(pid.id)
		at.mu.Lock()
		if at.id == pid.id {
			for other := range at.links() {
				if other.home == lost {
					links = append(links, other)
				}
			}
		}
		if m := at.cold; m != nil && at.id == pid.id {
			for ref, other := range m.watches.all() {
				if other.home == lost || other.isPlaceholderOn(node) {
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
					s.remote.count(w.watcher, -1)
				}
			}
		}
		at.mu.Unlock()
		for _, other := range links {
			s.push(pid, exitEnvelope(Exit{From: other, Reason: reason, linked: true}), nil)
		}
		for _, d := range watches {
			s.sendDown(pid, d)
		}
	}
}
