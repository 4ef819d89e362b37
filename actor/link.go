package actor

import (
	"iter"
	"slices"
)

// Link links this process with another: when one ends, the other gets an Exit. Linking twice has no further effect.
// ErrNoProcess if there is no such process; for a process of another node, that comes later, as an Exit.
func (p *Process) Link(other PID) error {
	if other == p.pid {
		return nil
	}
	p.addLink(other)
	err := p.system.link(other, p.pid)
	if err != nil {
		p.dropLink(other)
	}
	return err
}

// Unlink removes a link. No Exit of it comes after that. The link of a supervised process with its supervisor stays.
func (p *Process) Unlink(other PID) {
	if p.entry.supervised && other == p.entry.parent {
		return
	}
	if p.dropLink(other) {
		p.system.unlink(other, p.pid)
	}
}

// Links is the processes that this one is linked with, in no order.
func (p *Process) Links() []PID {
	p.entry.mu.Lock()
	defer p.entry.mu.Unlock()
	return slices.Collect(p.entry.links())
}

// links is the processes that this one is linked with. It runs under mu.
func (s *entry) links() iter.Seq[PID] {
	return func(yield func(PID) bool) {
		if s.linkedToParent && !yield(s.parent) || s.cold == nil {
			return
		}
		for other := range s.cold.links.all() {
			if !yield(other) {
				return
			}
		}
	}
}

// setLink adds a link and reports whether it is new. The link with the parent is one bit, because most processes have it. Call
// it with mu held.
func (s *entry) setLink(other PID) (added bool) {
	if other == s.parent {
		added, s.linkedToParent = !s.linkedToParent, true
		return added
	}
	return s.ensureCold().links.set(other, struct{}{})
}

// dropLink removes a link and reports whether there was one. Call it with mu held.
func (s *entry) dropLink(other PID) (dropped bool) {
	if other == s.parent {
		dropped, s.linkedToParent = s.linkedToParent, false
		return dropped
	}
	return s.cold != nil && s.cold.links.drop(other)
}

func (p *Process) addLink(other PID) {
	p.entry.mu.Lock()
	if p.entry.setLink(other) {
		p.system.remote.count(other, 1)
	}
	p.entry.mu.Unlock()
}

func (p *Process) dropLink(other PID) bool {
	p.entry.mu.Lock()
	defer p.entry.mu.Unlock()
	if !p.entry.dropLink(other) {
		return false
	}
	p.system.remote.count(other, -1)
	return true
}

// link adds other to the links of a process.
func (s *System) link(to, other PID) error {
	if to.home != s.home {
		return s.remote.link(to, other)
	}
	return s.with(to, func(at *entry) {
		if at.setLink(other) {
			s.remote.count(other, 1)
		}
	})
}

func (s *System) unlink(to, other PID) {
	if to.home != s.home {
		s.remote.unlink(to, other)
		return
	}
	s.with(to, func(at *entry) {
		if at.dropLink(other) {
			s.remote.count(other, -1)
		}
	})
}

// with runs fn with the lock of a process of this system held. fn must not lock another entry.
func (s *System) with(pid PID, fn func(*entry)) error {
	at := s.processes.find(pid.id)
	if at != nil && pid.home == s.home {
		at.mu.Lock()
		defer at.mu.Unlock()
		if at.id == pid.id && at.phase != terminated {
			fn(at)
			return nil
		}
	}
	return problem(ErrNoProcess, s.home.Value().node, "%s", pid)
}

// MonitorRef names a monitor of the process that made it.
type MonitorRef uint64

// Monitor sends this process a Down when another process ends, once. If there is no such process, or its node cannot be
// reached, the Down comes at once. Every call makes a monitor of its own.
func (p *Process) Monitor(other PID) MonitorRef {
	s, ref := p.system, MonitorRef(p.system.refs.Add(1))
	p.entry.mu.Lock()
	p.entry.ensureCold().watches.set(ref, other)
	p.entry.mu.Unlock()
	if err := s.monitor(other, ref, p.pid); err != nil {
		s.sendDown(p.pid, Down{Ref: ref, PID: other, Reason: err})
	}
	return ref
}

// Demonitor removes a monitor. No Down of it comes after that.
func (p *Process) Demonitor(ref MonitorRef) {
	p.entry.mu.Lock()
	var other PID
	if m := p.entry.cold; m != nil {
		other, _ = m.watches.get(ref)
		m.watches.drop(ref)
	}
	p.entry.mu.Unlock()
	if !other.Zero() {
		p.system.unwatch(other, ref, p.pid)
	}
}

// monitor registers a monitor with the process that is monitored.
func (s *System) monitor(to PID, ref MonitorRef, watcher PID) error {
	if to.home != s.home {
		return s.remote.monitor(to, ref, watcher)
	}
	return s.with(to, func(at *entry) {
		if at.ensureCold().watched.set(watched{ref, watcher}, struct{}{}) {
			s.remote.count(watcher, 1)
		}
	})
}

func (s *System) unwatch(to PID, ref MonitorRef, watcher PID) {
	if to.home != s.home {
		s.remote.demonitor(to, ref, watcher)
		return
	}
	s.with(to, func(at *entry) {
		if at.cold != nil && at.cold.watched.drop(watched{ref, watcher}) {
			s.remote.count(watcher, -1)
		}
	})
}

// watched identifies a monitor in the process that is monitored.
type watched struct {
	ref     MonitorRef
	watcher PID
}

func (s *System) sendDown(to PID, d Down) {
	l := &messagesOf[Down]().envelopeOf(d).head
	l.from, l.priority = d.PID, PrioritySystem
	s.push(to, l, nil)
}

// acceptsDown reports whether the monitor still exists, removes it, and fills in d.Name if a name was monitored.
func (p *Process) acceptsDown(d *Down) bool {
	if d.of != nil {
		return p.dropSubscription(d.of)
	}
	p.entry.mu.Lock()
	defer p.entry.mu.Unlock()
	if p.entry.cold == nil {
		return false
	}
	if other, ok := p.entry.cold.watches.get(d.Ref); ok && !other.Zero() && other.home.Value().name != "" {
		h := other.home.Value()
		d.Name = Name{Name: h.name, Node: h.node}
		if d.PID == other {
			d.PID = PID{}
		}
	}
	return p.entry.cold.watches.drop(d.Ref)
}

func (s *System) sendLinkExit(other, ended PID, reason error) {
	s.remote.count(other, -1)
	s.push(other, exitEnvelope(Exit{From: ended, Reason: reason, linked: true}), nil)
}
