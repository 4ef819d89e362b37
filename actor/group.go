package actor

import (
	"fmt"
	"slices"
)

// GroupChange is sent to the processes that monitor a group when a process has joined or left it.
type GroupChange struct {
	Group string
	PID   PID
	// Joined is false where the process has left: by Leave, by its end, or with its node.
	Joined bool
}

// maxGroups bounds how many groups a process is in, and how many it monitors.
const maxGroups = 1000

// Join makes this process a member of a group. Groups exist as long as they have members, and are the same on all nodes of the
// cluster. Joining twice has no further effect. A process leaves its groups when it ends.
//
// Groups are as those of Erlang's pg (https://www.erlang.org/doc/apps/kernel/pg.html), except for joining twice: each node
// sends the others its joins and leaves in their order, so all nodes arrive at the same members, at different times. While two
// nodes do not see each other, each goes on without the members on the other.
func (p *Process) Join(group string) error {
	if group == "" || len(group) > maxName {
		return fmt.Errorf("actor: the name of a group has 1 to %d bytes", maxName)
	}
	p.entry.mu.Lock()
	m := p.entry.ensureRare()
	in, many := slices.Contains(m.groups, group), len(m.groups) >= maxGroups
	if !in && !many {
		m.groups = append(m.groups, group)
	}
	p.entry.mu.Unlock()
	switch {
	case in:
		return nil
	case many:
		return problem(ErrTooMany, p.system.nodeName(), "a process is in at most %d groups", maxGroups)
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
	p.entry.mu.Lock()
	defer p.entry.mu.Unlock()
	m := p.entry.rareState()
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

// MonitorGroup returns the members of a group and reports each later change to this process, by a GroupChange,
// which comes as PrioritySystem. Monitoring twice has no further effect. The group need not exist.
func (p *Process) MonitorGroup(group string) ([]PID, error) {
	if group == "" || len(group) > maxName {
		return nil, fmt.Errorf("actor: the name of a group has 1 to %d bytes", maxName)
	}
	p.entry.mu.Lock()
	e := p.entry.ensureRare().eventState()
	known, many := slices.Contains(e.groups, group), len(e.groups) >= maxGroups
	if !known && !many {
		e.groups = append(e.groups, group)
	}
	p.entry.mu.Unlock()
	if many && !known {
		return nil, problem(ErrTooMany, p.system.nodeName(), "a process monitors at most %d groups", maxGroups)
	}
	return p.system.groups.watch(group, p.pid), nil
}

// DemonitorGroup ends MonitorGroup. A message sent before may still lie in the mailbox.
func (p *Process) DemonitorGroup(group string) {
	p.entry.mu.Lock()
	if m := p.entry.rareState(); m != nil && m.events != nil {
		m.events.groups = slices.DeleteFunc(m.events.groups, func(g string) bool { return g == group })
	}
	p.entry.mu.Unlock()
	p.system.groups.unwatch(p.system, group, p.pid)
}

// SendGroup sends a message to all members of a group, also to the sender if it is one. Each other node that has members gets
// it once and delivers it there. Members whose mailbox is full lose it, and Lost counts it; no sender waits for them. Two
// messages of one process to one group reach each member in their order. There is no order relative to other ways of sending.
//
// The error joins those of the nodes that could not be reached; the other members have the message.
func SendGroup[M any](from Sender, group string, message M) error {
	s, p := from.in(), from.process()
	var sender PID
	if p != nil {
		sender = p.pid
		p.box.flush()
	}
	local, remote := s.groups.recipients(group)
	b := messagesOf[M]().envelopeOf(message)
	b.head.from = sender
	deliverToAll(s, local, &b.head)
	b.free()
	return sendDistributors(s, p, remote, sender, message)
}
