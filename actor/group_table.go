package actor

import (
	"errors"
	"slices"
	"sync"
)

// groupTable is the groups, as far as this node knows of them.
type groupTable struct {
	mu     sync.Mutex
	groups map[string]*group
}

// group is one with members or monitors.
type group struct {
	local    pidSet
	away     map[string]*awayMembers // by node
	watchers map[PID]struct{}
	caster   PID   // the process here that hands out what other nodes send; zero for none
	sent     []PID // local, for SendGroup; nil when it has changed
}

type awayMembers struct {
	pidSet
	caster PID
}

// pidSet is PIDs in one piece, with where each is.
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

// get finds or makes a group. It runs under mu.
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

// tidy forgets a group in which nobody is left. It runs under mu.
func (t *groupTable) tidy(s *System, name string, g *group) {
	if len(g.local.list) == 0 && !g.caster.Zero() {
		s.Kill(g.caster)
		g.caster = PID{}
	}
	if len(g.local.list) == 0 && len(g.away) == 0 && len(g.watchers) == 0 {
		delete(t.groups, name)
	}
}

func (g *group) tell(s *System, joined bool, name string, pid PID) {
	for watcher := range g.watchers {
		if joined {
			inform(s, watcher, GroupJoined{name, pid})
		} else {
			inform(s, watcher, GroupLeft{name, pid})
		}
	}
}

// members runs under mu.
func (t *groupTable) members(name string) []PID {
	g := t.groups[name]
	if g == nil {
		return nil
	}
	all := slices.Clone(g.local.list)
	for _, m := range g.away {
		all = append(all, m.list...)
	}
	return all
}

// join adds a process of this node.
func (t *groupTable) join(s *System, name string, pid PID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.get(name)
	if g.caster.Zero() && s.node != nil {
		var err error
		if g.caster, err = Spawn(s, casterBehavior, name); err != nil {
			t.tidy(s, name, g)
			return err
		}
	}
	if g.local.add(pid) {
		g.sent = nil
		g.tell(s, true, name, pid)
		t.spread(s, groupChange{true, name, pid, g.caster})
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
	g.tell(s, false, name, pid)
	t.spread(s, groupChange{false, name, pid, g.caster})
	t.tidy(s, name, g)
}

// spread gives a change to the process that tells the other nodes, in the order in which changes happen. It runs under mu.
func (t *groupTable) spread(s *System, c groupChange) {
	if s.node == nil {
		return
	}
	if pid, ok := s.Whereis(groupsName); ok {
		l := &messagesOf[groupChange]().letterOf(c).head
		l.lane = PrioritySystem // which has no bound, and the same order as what comes of nodes
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

// recipients is the members here, which must not be changed, and who hands out on other nodes.
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
	for _, m := range g.away {
		casters = append(casters, m.caster)
	}
	return g.sent, casters
}

// changeAway is a change on another node.
func (t *groupTable) changeAway(s *System, node string, c groupChange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Joined {
		t.joinAway(s, node, c)
	} else {
		t.leaveAway(s, node, c.Group, c.PID)
	}
}

// joinAway runs under mu.
func (t *groupTable) joinAway(s *System, node string, c groupChange) {
	g := t.get(c.Group)
	m := g.away[node]
	if m == nil {
		if g.away == nil {
			g.away = make(map[string]*awayMembers)
		}
		m = &awayMembers{}
		g.away[node] = m
	}
	m.caster = c.Caster
	if m.add(c.PID) {
		g.tell(s, true, c.Group, c.PID)
	}
}

// leaveAway runs under mu.
func (t *groupTable) leaveAway(s *System, node, name string, pid PID) {
	g := t.groups[name]
	if g == nil || g.away[node] == nil || !g.away[node].drop(pid) {
		return
	}
	if len(g.away[node].list) == 0 {
		delete(g.away, node)
	}
	g.tell(s, false, name, pid)
	t.tidy(s, name, g)
}

// keepAway takes out the members of a node that are not in the set.
func (t *groupTable) keepAway(s *System, node string, in map[GroupJoined]struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, g := range t.groups {
		m := g.away[node]
		if m == nil {
			continue
		}
		for _, pid := range slices.Clone(m.list) {
			if _, kept := in[GroupJoined{name, pid}]; !kept {
				t.leaveAway(s, node, name, pid)
			}
		}
	}
}

// memberships is all of this node.
func (t *groupTable) memberships() []groupChange {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []groupChange
	for name, g := range t.groups {
		for _, pid := range g.local.list {
			all = append(all, groupChange{true, name, pid, g.caster})
		}
	}
	return all
}

// sendCasters sends a message to those who hand it out on other nodes.
func sendCasters[M any](s *System, p *Process, casters []PID, sender PID, message M) error {
	var errs []error
	for _, caster := range casters {
		b := messagesOf[M]().letterOf(message)
		b.head.from = sender
		errs = append(errs, s.push(caster, &b.head, p))
	}
	return errors.Join(errs...)
}

// scatter gives each message of a letter that was not handled to all members.
func scatter(s *System, members []PID, l *letter) {
	var ready chain
	l.body.(interface {
		scatter(*System, []PID, *chain)
	}).scatter(s, members, &ready)
	ready.flush(s)
}

func (b *batch[T]) scatter(s *System, members []PID, ready *chain) {
	for _, pid := range members {
		for _, message := range b.items[b.head.at:] {
			one := b.of.letterOf(message)
			one.head.from = b.head.from
			one.head.lane = b.head.lane
			ready.put(s, pid.id, &one.head)
		}
	}
}
