package cluster

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// people is what gossip says about the other nodes: memberlist's delegate. Who is there for the owner is in the roster. The
// difference are nodes that memberlist still believes in and the owner's links or the nodes themselves do not.
//
// memberlist calls the Notify methods with its own lock held: nothing here may block or call memberlist.
type people struct {
	self    Member
	meta    []byte
	roster  *roster
	seeker  *seeker
	log     *slog.Logger
	started time.Time

	lock     sync.Mutex
	known    map[string]*person // those memberlist believes to be alive
	disputed time.Time          // when it was last logged that another node has this node's id
	refused  time.Time          // when it was last logged that a node was refused
}

// person is a node that memberlist believes to be alive.
type person struct {
	member Member
	absent absence
}

// absence says why a node that memberlist believes in is not in the roster.
type absence uint8

const (
	present  absence = iota
	givenUp          // by the links, until a sign of life
	departed         // said goodbye; only another instance can come
)

func newPeople(self Member, meta []byte, r *roster, s *seeker, log *slog.Logger) *people {
	return &people{self: self, meta: meta, roster: r, seeker: s, log: log, started: time.Now(), known: make(map[string]*person)}
}

// NodeMeta is what memberlist tells the others about this node.
func (p *people) NodeMeta(int) []byte { return p.meta }

// NotifyMsg takes a goodbye.
func (p *people) NotifyMsg(message []byte) {
	id, instance, err := decodeGoodbye(message)
	if err != nil {
		p.log.Debug("gossip: a message that is no goodbye", "error", err)
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if who := p.known[id]; who != nil && who.member.Instance == instance {
		who.absent = departed
		p.roster.drop(id, Left)
	}
}

// GetBroadcasts, LocalState and MergeRemoteState are not used: what is to be told is in the meta.
func (p *people) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState is not used.
func (p *people) LocalState(bool) []byte { return nil }

// MergeRemoteState is not used.
func (p *people) MergeRemoteState([]byte, bool) {}

// NotifyAlive refuses nodes that make no sense, before memberlist keeps them.
func (p *people) NotifyAlive(n *memberlist.Node) error {
	m, err := decodeMeta(n.Name, n.Meta)
	p.lock.Lock()
	defer p.lock.Unlock()
	if bad := badID(n.Name); bad != "" {
		err = fmt.Errorf("its id %s", bad)
	}
	if err == nil && len(p.known) >= maxMembers && p.known[n.Name] == nil {
		err = fmt.Errorf("%d nodes are known, which is the limit", maxMembers)
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

// refuse logs now and then that a node is not let in: it is spoken of for as long as it runs.
func (p *people) refuse(id string, err error) {
	if now := time.Now(); now.Sub(p.refused) > time.Minute {
		p.refused = now
		p.log.Warn("gossip: a node is ignored", "node", id[:min(len(id), maxID)], "error", err)
	}
}

// dispute is called when gossip has another instance under this node's id. Soon after the start that is this node's own
// past; later it is a second node, and the two would deny each other for ever.
func (p *people) dispute(other Member) {
	const settled = time.Minute
	if now := time.Now(); now.Sub(p.started) > settled && now.Sub(p.disputed) > settled {
		p.disputed = now
		p.log.Error("another node seems to use this node's id: give each its own", "node", p.self.ID, "address", p.self.Addr, "other address", other.Addr)
	}
}

// NotifyJoin is a new node, or one that came back.
func (p *people) NotifyJoin(n *memberlist.Node) {
	if m, ok := p.other(n); ok {
		p.lock.Lock()
		defer p.lock.Unlock()
		p.known[m.ID] = &person{member: m}
		p.roster.set(m.ID, m)
		p.seeker.found(m.ID)
	}
}

// NotifyUpdate is a node that told something new about itself, such as after a restart under the same id.
func (p *people) NotifyUpdate(n *memberlist.Node) {
	if m, ok := p.other(n); ok {
		p.lock.Lock()
		defer p.lock.Unlock()
		who := p.known[m.ID]
		if who == nil {
			who = &person{}
			p.known[m.ID] = who
		}
		if who.absent == departed && who.member.Instance == m.Instance {
			return
		}
		who.member, who.absent = m, present
		p.roster.set(m.ID, m)
	}
}

// NotifyLeave is a node that failed or left. Which of them memberlist does not say, so it is failed unless it said
// goodbye.
func (p *people) NotifyLeave(n *memberlist.Node) {
	p.lock.Lock()
	defer p.lock.Unlock()
	who := p.known[n.Name]
	if who == nil {
		return
	}
	delete(p.known, n.Name)
	p.roster.drop(n.Name, Failed)
	if who.absent != departed {
		p.seeker.lost(who.member)
	}
}

// AckPayload is not used.
func (p *people) AckPayload() []byte { return nil }

// NotifyPingComplete is an answer to a probe.
func (p *people) NotifyPingComplete(n *memberlist.Node, _ time.Duration, _ []byte) {
	p.signOfLife(n.Name)
}

// givenUp takes a node out of the roster until a sign of life.
func (p *people) givenUp(id string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if who := p.known[id]; who != nil && who.absent == present {
		who.absent = givenUp
		p.roster.drop(id, Failed)
	}
}

// signOfLife puts a node back that was given up.
func (p *people) signOfLife(id string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if who := p.known[id]; who != nil && who.absent == givenUp {
		who.absent = present
		p.roster.set(id, who.member)
	}
}

// find is the member of an id; with nothing but the id where it is not known (yet).
func (p *people) find(id string) Member {
	p.lock.Lock()
	defer p.lock.Unlock()
	if who := p.known[id]; who != nil {
		return who.member
	}
	return Member{ID: id}
}

func (p *people) other(n *memberlist.Node) (Member, bool) {
	if n.Name == p.self.ID {
		return Member{}, false
	}
	m, err := decodeMeta(n.Name, n.Meta)
	return m, err == nil // NotifyAlive has refused the others
}
