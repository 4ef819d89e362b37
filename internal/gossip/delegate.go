package gossip

import (
	"bytes"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/membership"
)

// gossipDelegate receives from memberlist which nodes it believes to be alive. The roster holds those that the owner gets;
// it lacks nodes whose links have failed and nodes that have sent a goodbye, which memberlist still believes in for a
// while.
//
// memberlist calls the Notify methods with its own lock held: nothing here may block or call memberlist.
type gossipDelegate struct {
	self     membership.Member
	meta     []byte
	roster   *membership.Roster
	rejoiner *rejoiner
	log      *slog.Logger
	started  time.Time

	lock     sync.Mutex
	known    map[string]*gossipNode // those memberlist believes to be alive
	disputed time.Time              // when it was last logged that another node has this node's id
	refused  time.Time              // when it was last logged that a node was refused
}

// gossipNode is a node that memberlist believes to be alive.
type gossipNode struct {
	member membership.Member
	meta   []byte // that it was decoded from
	absent absence
}

// absence is the reason why a node that memberlist believes to be alive is not in the roster.
type absence uint8

const (
	present     absence = iota
	unreachable         // by the links, until a sign of life
	departed            // sent a goodbye; only another instance can join
)

func newGossipDelegate(self membership.Member, meta []byte, r *membership.Roster, s *rejoiner, log *slog.Logger) *gossipDelegate {
	return &gossipDelegate{self: self, meta: meta, roster: r, rejoiner: s, log: log, started: time.Now(), known: make(map[string]*gossipNode)}
}

// NodeMeta returns this node's metadata for memberlist, which sends it to the other nodes.
func (p *gossipDelegate) NodeMeta(int) []byte { return p.meta }

// NotifyMsg takes the goodbye of another node.
func (p *gossipDelegate) NotifyMsg(message []byte) {
	id, instance, err := decodeGoodbye(message)
	if err != nil {
		p.log.Debug("gossip: a message that is no goodbye", "error", err)
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if node := p.known[id]; node != nil && node.member.Instance == instance {
		node.absent = departed
		p.roster.Drop(id, membership.Left)
	}
}

// GetBroadcasts, LocalState and MergeRemoteState are not used: all that other nodes need is in the meta.
func (p *gossipDelegate) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState is not used.
func (p *gossipDelegate) LocalState(bool) []byte { return nil }

// MergeRemoteState is not used.
func (p *gossipDelegate) MergeRemoteState([]byte, bool) {}

// NotifyAlive refuses nodes with wrong ids or metas before memberlist keeps them. It is called for every node of each exchange of lists, so
// a meta that has been decoded is not decoded again.
func (p *gossipDelegate) NotifyAlive(n *memberlist.Node) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if known := p.known[n.Name]; known != nil && bytes.Equal(known.meta, n.Meta) {
		return nil
	}
	m, err := decodeMeta(n.Name, n.Meta)
	if bad := identity.BadID(n.Name); bad != "" {
		err = fmt.Errorf("its id %s", bad)
	}
	if err == nil && len(p.known) >= identity.MaxMembers && p.known[n.Name] == nil {
		err = fmt.Errorf("%d nodes are known, which is the limit", identity.MaxMembers)
	}
	if err != nil {
		p.refuse(n.Name, err)
		return err
	}
	if n.Name == p.self.ID && m.Instance != p.self.Instance {
		p.dispute(m) // and memberlist denies it
	}
	return nil
}

// refuse logs, at most once a minute, that a node is ignored: gossip repeats its name for as long as it runs.
func (p *gossipDelegate) refuse(id string, err error) {
	if now := time.Now(); now.Sub(p.refused) > time.Minute {
		p.refused = now
		p.log.Warn("gossip: a node is ignored", "node", id[:min(len(id), identity.MaxID)], "error", err)
	}
}

// dispute is called when gossip has another instance under this node's id. In the first minute that is an earlier run of
// this node; later it is a second node, and both would deny each other for ever.
func (p *gossipDelegate) dispute(other membership.Member) {
	const settled = time.Minute
	if now := time.Now(); now.Sub(p.started) > settled && now.Sub(p.disputed) > settled {
		p.disputed = now
		p.log.Error("another node seems to use this node's id: give each its own", "node", p.self.ID, "address", p.self.Addr, "other_address", other.Addr)
	}
}

// NotifyJoin takes a node that is new, or that came back.
func (p *gossipDelegate) NotifyJoin(n *memberlist.Node) {
	if m, ok := p.other(n); ok {
		p.lock.Lock()
		defer p.lock.Unlock()
		p.known[m.ID] = &gossipNode{member: m, meta: n.Meta}
		p.roster.Set(m.ID, m)
		p.rejoiner.removeFound(m.ID)
	}
}

// NotifyUpdate takes the new meta of a node, such as after a restart under the same id.
func (p *gossipDelegate) NotifyUpdate(n *memberlist.Node) {
	if m, ok := p.other(n); ok {
		p.lock.Lock()
		defer p.lock.Unlock()
		node := p.known[m.ID]
		if node == nil {
			node = &gossipNode{}
			p.known[m.ID] = node
		}
		if node.absent == departed && node.member.Instance == m.Instance {
			return
		}
		node.member, node.meta, node.absent = m, n.Meta, present
		p.roster.Set(m.ID, m)
	}
}

// NotifyLeave takes a node that failed or left. memberlist does not distinguish the two, so without a goodbye it has failed.
func (p *gossipDelegate) NotifyLeave(n *memberlist.Node) {
	p.lock.Lock()
	defer p.lock.Unlock()
	node := p.known[n.Name]
	if node == nil {
		return
	}
	delete(p.known, n.Name)
	p.roster.Drop(n.Name, membership.Failed)
	if node.absent != departed {
		p.rejoiner.addLost(node.member)
	}
}

// AckPayload is not used.
func (p *gossipDelegate) AckPayload() []byte { return nil }

// NotifyPingComplete takes the answer to a probe.
func (p *gossipDelegate) NotifyPingComplete(n *memberlist.Node, _ time.Duration, _ []byte) {
	p.markAlive(n.Name)
}

// markUnreachable takes a node out of the roster until markAlive puts it back.
func (p *gossipDelegate) markUnreachable(id string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if node := p.known[id]; node != nil && node.absent == present {
		node.absent = unreachable
		p.roster.Drop(id, membership.Failed)
	}
}

// markAlive puts a node back that was unreachable, after an answer or a packet of it.
func (p *gossipDelegate) markAlive(id string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if node := p.known[id]; node != nil && node.absent == unreachable {
		node.absent = present
		p.roster.Set(id, node.member)
	}
}

// find is the member of that id, with no other field where it is not known yet.
func (p *gossipDelegate) find(id string) membership.Member {
	p.lock.Lock()
	defer p.lock.Unlock()
	if node := p.known[id]; node != nil {
		return node.member
	}
	return membership.Member{ID: id}
}

func (p *gossipDelegate) other(n *memberlist.Node) (membership.Member, bool) {
	if n.Name == p.self.ID {
		return membership.Member{}, false
	}
	m, err := decodeMeta(n.Name, n.Meta)
	return m, err == nil // NotifyAlive has refused the others
}
