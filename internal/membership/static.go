package membership

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sabir-go/sabir/internal/identity"
)

// Static is a membership of nodes at fixed addresses, which are never dropped. The id of the node at an address is only
// known once a link is up, so each address is first a member with an Addr and no ID. The owner calls [Static.Identified]
// when a node has answered, which is an Updated change. [Static.Failed] makes it an address without a node again: Failed for
// the node, then Joined for the address.
//
// An address whose host is a name may stand for several nodes: [Static.Resolved] adds the addresses of those.
//
// All nodes can be given the same list: a node's own address, and a second address of a node that is known by another one,
// are left out as soon as they are recognised.
type Static struct {
	lock     sync.Mutex // guards what follows
	peers    []*staticPeer
	resolved map[string][]string // by name: what it stood for last
	self     Member
	roster   *Roster // nil before Start
	ended    bool
}

// staticPeer is an address of the list.
type staticPeer struct {
	addr   string
	name   string // the address of the list that was resolved to addr; "" for one of the list
	member Member // ID is empty until identified
}

// NewStatic makes a membership of the nodes at these URLs. Those that are no URLs are Start's error.
func NewStatic(peers []string) *Static {
	s := &Static{}
	for _, addr := range peers {
		if s.peer(addr) == nil {
			s.peers = append(s.peers, &staticPeer{addr: addr, member: Member{Addr: addr}})
		}
	}
	return s
}

// Start gives watch the addresses; see [Membership].
func (s *Static) Start(_ context.Context, self Member, watch func(Change)) error {
	if watch == nil {
		return errNoWatch
	}
	if bad := identity.BadID(self.ID); bad != "" {
		return fmt.Errorf("the id %.100q of this node %s", self.ID, bad)
	}
	for _, p := range s.peers {
		if err := identity.CheckURL(p.addr); err != nil {
			return err
		}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.roster != nil {
		return errStarted
	}
	s.self, s.roster = self, NewRoster(watch)
	for _, p := range s.peers {
		if p.addr == self.Addr {
			p.member.ID = self.ID
		}
	}
	s.show()
	return nil
}

// Members lists the other nodes by id; addresses with unknown nodes come first.
func (s *Static) Members() []Member {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.roster == nil || s.ended {
		return nil
	}
	return s.roster.Members()
}

// Identified sets the node that answered at one of the addresses. The member keeps that address, whatever m.Addr is, because
// it is the one known to work from here. An address that is not in the list is ignored. For an address that turns out to be
// this node's own, m is this node.
func (s *Static) Identified(addr string, m Member) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if p := s.peer(addr); p != nil && m.ID != "" {
		p.member = m
		p.member.Addr = addr
		s.show()
	}
}

// Resolved sets the addresses that a name of the list stands for. Those that it no longer stands for are left out, unless a node
// is there.
func (s *Static) Resolved(name string, addrs []string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.roster == nil || s.ended {
		return
	}
	if s.resolved == nil {
		s.resolved = make(map[string][]string)
	}
	s.resolved[name] = addrs
	s.dropGone()
	for _, addr := range addrs {
		if s.peer(addr) == nil {
			s.peers = append(s.peers, &staticPeer{addr: addr, name: name, member: Member{Addr: addr}})
		}
	}
	s.show()
}

// dropGone leaves out addresses without a node that the names do not stand for any more.
func (s *Static) dropGone() {
	s.peers = slices.DeleteFunc(s.peers, func(p *staticPeer) bool {
		gone := p.name != "" && p.member.ID == "" && !slices.Contains(s.resolved[p.name], p.addr)
		if gone {
			s.roster.Drop(p.addr, Left)
		}
		return gone
	})
}

// Unidentified reports whether there are addresses at which no node has answered yet.
func (s *Static) Unidentified() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.ContainsFunc(s.peers, func(p *staticPeer) bool { return p.member.ID == "" })
}

// Failed makes the addresses of a node addresses without a node; see [Static].
func (s *Static) Failed(id string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, p := range s.peers {
		if p.member.ID == id && id != s.self.ID {
			p.member = Member{Addr: p.addr}
		}
	}
	if s.roster != nil && !s.ended {
		s.dropGone()
	}
	s.show()
}

// Stop ends the calls of watch. Other nodes see the end of the links.
func (s *Static) Stop(context.Context) error {
	s.lock.Lock()
	roster := s.roster
	s.ended = true
	s.lock.Unlock()
	if roster != nil {
		roster.Stop()
	}
	return nil
}

func (s *Static) peer(addr string) *staticPeer {
	i := slices.IndexFunc(s.peers, func(p *staticPeer) bool { return p.addr == addr })
	if i < 0 {
		return nil
	}
	return s.peers[i]
}

// show brings the roster up to date: each node once, under the first of its addresses, and never this node.
func (s *Static) show() {
	if s.roster == nil || s.ended {
		return
	}
	shown := map[string]bool{s.self.ID: true}
	for _, p := range s.peers {
		if id := p.member.ID; id != "" && shown[id] {
			s.roster.Drop(p.addr, Left)
			continue
		}
		shown[p.member.ID] = true
		s.roster.Set(p.addr, p.member)
	}
}
