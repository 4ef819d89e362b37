package actor

import (
	"fmt"
	"slices"
)

// GroupJoined is the word, to those who monitor a group, that a process has joined it.
type GroupJoined struct {
	Group string
	PID   PID
}

// GroupLeft is the word that a process has left a group: by Leave, by its end, or with its node.
type GroupLeft struct {
	Group string
	PID   PID
}

// maxGroups bounds how many groups a process is in, and how many it monitors.
const maxGroups = 1000

// Join makes this process a member of a group, which is there as soon as somebody is in it, and the same on all nodes of the
// cluster. Joining twice is joining once. A process leaves its groups when it ends.
//
// Groups are as those of Erlang's pg (https://www.erlang.org/doc/apps/kernel/pg.html), but for joining twice: each node
// tells the others who of its processes has joined and left, in this order, so all come to know the same, at different times.
// While two nodes do not see each other, each goes on without the members on the other.
func (p *Process) Join(group string) error {
	if group == "" || len(group) > maxName {
		return fmt.Errorf("actor: the name of a group has 1 to %d bytes", maxName)
	}
	p.slot.mu.Lock()
	m := p.slot.rarely()
	in, many := slices.Contains(m.groups, group), len(m.groups) >= maxGroups
	if !in && !many {
		m.groups = append(m.groups, group)
	}
	p.slot.mu.Unlock()
	switch {
	case in:
		return nil
	case many:
		return problem(ErrTooMany, p.system.homeName(), "a process is in at most %d groups", maxGroups)
	}
	if err := p.system.groups.join(p.system, group, p.pid); err != nil {
		p.forgetGroup(group)
		return err
	}
	return nil
}

// Leave ends a membership, if there is one.
func (p *Process) Leave(group string) {
	if p.forgetGroup(group) {
		p.system.groups.leave(p.system, group, p.pid)
	}
}

func (p *Process) forgetGroup(group string) bool {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	m := p.slot.rare()
	if m == nil {
		return false
	}
	i := slices.Index(m.groups, group)
	if i < 0 {
		return false
	}
	m.groups = slices.Delete(m.groups, i, i+1)
	return true
}

// Members is who is in a group, as far as this node knows: those of this node first, in no other order.
func (s *System) Members(group string) []PID {
	t := &s.groups
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.members(group)
}

// MonitorGroup returns who is in a group, and has this process told of each later change: by GroupJoined and GroupLeft, which
// come as PrioritySystem. Monitoring twice is monitoring once. The group need not be there.
func (p *Process) MonitorGroup(group string) ([]PID, error) {
	if group == "" || len(group) > maxName {
		return nil, fmt.Errorf("actor: the name of a group has 1 to %d bytes", maxName)
	}
	p.slot.mu.Lock()
	e := p.slot.rarely().eventful()
	known, many := slices.Contains(e.groups, group), len(e.groups) >= maxGroups
	if !known && !many {
		e.groups = append(e.groups, group)
	}
	p.slot.mu.Unlock()
	if many && !known {
		return nil, problem(ErrTooMany, p.system.homeName(), "a process monitors at most %d groups", maxGroups)
	}
	return p.system.groups.watch(group, p.pid), nil
}

// DemonitorGroup takes MonitorGroup back. What was told before may still lie in the mailbox.
func (p *Process) DemonitorGroup(group string) {
	p.slot.mu.Lock()
	if m := p.slot.rare(); m != nil && m.events != nil {
		m.events.groups = slices.DeleteFunc(m.events.groups, func(g string) bool { return g == group })
	}
	p.slot.mu.Unlock()
	p.system.groups.unwatch(p.system, group, p.pid)
}

// SendGroup sends a message to all members of a group, also to the sender if it is one. Each other node that has members gets it
// once, and hands it out there. Members whose mailbox is full lose it, and Lost counts it; nobody waits for them. Two messages
// of one process to one group come to each member in their order. There is no order with what is sent in other ways.
//
// An error is that of a node which could not be told, and there may be several; the other members have the message.
func SendGroup[M any](from Sender, group string, message M) error {
	s, p := from.in(), from.process()
	var sender PID
	if p != nil {
		sender = p.pid
		p.box.flush()
	}
	local, away := s.groups.recipients(group)
	b := messagesOf[M]().letterOf(message)
	b.head.from = sender
	scatter(s, local, &b.head)
	b.free()
	return sendCasters(s, p, away, sender, message)
}
