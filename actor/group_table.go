package actor

import (
	"errors"
	"slices"
	"sync"
)

// groupTable holds the groups that this node knows.
type groupTable struct {
	mu     sync.Mutex
	groups map[string]*group
}

// group is one group with members or monitors.
type group struct {
	local       pidSet
	remote      map[string]*remoteMembers // by node
	watchers    map[PID]struct{}
	distributor PID   // of this node; zero for none
	sent        []PID // copy of local for SendGroup, nil after a change
}

type remoteMembers struct {
	pidSet
	distributor PID
}

// pidSet is a set of PIDs in one slice, with their indexes.
type pidSet struct {
	list []PID
	at   map[PID]int
}

func (p *pidSet) add(pid PID) bool {
	if _, in := p.at[pid]; in {
		return false
	}
	if p.at == nil {
		p.at = make(map[PID]int)
	}
	p.at[pid] = len(p.list)
	p.list = append(p.list, pid)
	return true
}

func (p *pidSet) drop(pid PID) bool {
	i, in := p.at[pid]
	if !in {
		return false
	}
	last := len(p.list) - 1
	p.list[i] = p.list[last]
	p.at[p.list[i]] = i
	p.list = p.list[:last]
	delete(p.at, pid)
	return true
}

// get finds or makes a group. Call it with mu held.
func (t *groupTable) get(name string) *group {
	g := t.groups[name]
	if g == nil {
		if t.groups == nil {
			t.groups = make(map[string]*group)
		}
		g = &group{}
		t.groups[name] = g
	}
	return g
}

// tidy removes a group without members and monitors. Call it with mu held.
func (t *groupTable) tidy(s *System, name string, g *group) {
	if len(g.local.list) == 0 && !g.distributor.Zero() {
		s.Kill(g.distributor)
		g.distributor = PID{}
	}
	if len(g.local.list) == 0 && len(g.remote) == 0 && len(g.watchers) == 0 {
		delete(t.groups, name)
	}
}

func (g *group) notify(s *System, joined bool, name string, pid PID) {
	for watcher := range g.watchers {
		inform(s, watcher, GroupChange{name, pid, joined})
	}
}

// members lists the members of a group. Call it with mu held.
func (t *groupTable) members(name string) []PID {
	g := t.groups[name]
	if g == nil {
		return nil
	}
	all := slices.Clone(g.local.list)
	for _, m := range g.remote {
		all = append(all, m.list...)
	}
	return all
}

// join adds a process of this node.
func (t *groupTable) join(s *System, name string, pid PID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.get(name)
	if g.distributor.Zero() && s.node != nil {
		var err error
		if g.distributor, err = startProcess(s, distributorBehavior, name, nil); err != nil {
			t.tidy(s, name, g)
			return err
		}
	}
	if g.local.add(pid) {
		g.sent = nil
		g.notify(s, true, name, pid)
		t.spread(s, groupChange{true, name, pid, g.distributor})
	}
	return nil
}

func (t *groupTable) leave(s *System, name string, pid PID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.groups[name]
	if g == nil || !g.local.drop(pid) {
		return
	}
	g.sent = nil
	g.notify(s, false, name, pid)
	t.spread(s, groupChange{false, name, pid, g.distributor})
	t.tidy(s, name, g)
}

// spread passes a change to the keeper in the order in which changes happen, which is why it must be called with mu held.
func (t *groupTable) spread(s *System, c groupChange) {
	if s.node == nil {
		return
	}
	if pid, ok := s.Whereis(groupsName); ok {
		l := &messagesOf[groupChange]().envelopeOf(c).head
		l.priority = PrioritySystem // which has no bound, and the same order as what comes of nodes
		s.push(pid, l, nil)
	}
}

func (t *groupTable) watch(name string, pid PID) []PID {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.get(name)
	if g.watchers == nil {
		g.watchers = make(map[PID]struct{})
	}
	g.watchers[pid] = struct{}{}
	return t.members(name)
}

func (t *groupTable) unwatch(s *System, name string, pid PID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if g := t.groups[name]; g != nil {
		delete(g.watchers, pid)
		t.tidy(s, name, g)
	}
}

// recipients returns the members here, which must not be changed, and the distributors on other nodes.
func (t *groupTable) recipients(name string) (local, casters []PID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.groups[name]
	if g == nil {
		return nil, nil
	}
	if g.sent == nil {
		g.sent = slices.Clone(g.local.list)
	}
	for _, m := range g.remote {
		casters = append(casters, m.distributor)
	}
	return g.sent, casters
}

// changeRemote applies a change on another node.
func (t *groupTable) changeRemote(s *System, node string, c groupChange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Joined {
		t.joinRemote(s, node, c)
	} else {
		t.leaveRemote(s, node, c.Group, c.PID)
	}
}

// joinRemote adds a member on another node. Call it with mu held.
func (t *groupTable) joinRemote(s *System, node string, c groupChange) {
	g := t.get(c.Group)
	m := g.remote[node]
	if m == nil {
		if g.remote == nil {
			g.remote = make(map[string]*remoteMembers)
		}
		m = &remoteMembers{}
		g.remote[node] = m
	}
	m.distributor = c.Caster
	if m.add(c.PID) {
		g.notify(s, true, c.Group, c.PID)
	}
}

// leaveRemote removes a member on another node. Call it with mu held.
func (t *groupTable) leaveRemote(s *System, node, name string, pid PID) {
	g := t.groups[name]
	if g == nil || g.remote[node] == nil || !g.remote[node].drop(pid) {
		return
	}
	if len(g.remote[node].list) == 0 {
		delete(g.remote, node)
	}
	g.notify(s, false, name, pid)
	t.tidy(s, name, g)
}

// retainRemote removes the members on a node that are not in the set.
func (t *groupTable) retainRemote(s *System, node string, in map[membership]struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, g := range t.groups {
		m := g.remote[node]
		if m == nil {
			continue
		}
		for _, pid := range slices.Clone(m.list) {
			if _, kept := in[membership{name, pid}]; !kept {
				t.leaveRemote(s, node, name, pid)
			}
		}
	}
}

// memberships lists the members on this node, for a groupState.
func (t *groupTable) memberships() []groupChange {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []groupChange
	for name, g := range t.groups {
		for _, pid := range g.local.list {
			all = append(all, groupChange{true, name, pid, g.distributor})
		}
	}
	return all
}

// sendDistributors sends a message to the distributors on other nodes.
func sendDistributors[M any](s *System, p *Process, casters []PID, sender PID, message M) error {
	var errs []error
	for _, distributor := range casters {
		b := messagesOf[M]().envelopeOf(message)
		b.head.from = sender
		errs = append(errs, s.push(distributor, &b.head, p))
	}
	return errors.Join(errs...)
}

// deliverToAll gives each unhandled message of an envelope to all members.
func deliverToAll(s *System, members []PID, l *envelope) {
	var ready readyList
	l.body.(interface {
		deliverToAll(*System, []PID, *readyList)
	}).deliverToAll(s, members, &ready)
	ready.flush(s)
}

func (b *batch[T]) deliverToAll(s *System, members []PID, ready *readyList) {
	for _, pid := range members {
		for _, message := range b.items[b.head.at:] {
			one := b.of.envelopeOf(message)
			one.head.from = b.head.from
			one.head.priority = b.head.priority
			ready.put(s, pid.id, &one.head)
		}
	}
}
