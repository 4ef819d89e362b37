package actor

import (
	"iter"
	"slices"
)

// Link links this process with another: when one ends, the other gets an Exit. Linking twice is linking once. ErrNoProcess
// where there is no such process; of one on another node that shows later, by an Exit.
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

// Unlink takes a link back. No Exit of it comes after that. A process that was started as Supervised stays linked with who
// looks after it.
func (p *Process) Unlink(other PID) {
	if p.slot.supervised && other == p.slot.parent {
		return
	}
	if p.dropLink(other) {
		p.system.unlink(other, p.pid)
	}
}

// Links is the processes that this one is linked with, in no order.
func (p *Process) Links() []PID {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	return slices.Collect(p.slot.links())
}

// links is the processes that this one is linked with. It runs under mu.
func (s *slot) links() iter.Seq[PID] {
	return func(yield func(PID) bool) {
		if s.bonded && !yield(s.parent) || s.more == nil {
			return
		}
		for other := range s.more.links.all() {
			if !yield(other) {
				return
			}
		}
	}
}

// setLink adds a link, and tells whether there was none. That with the parent, which many have, takes no room. It runs
// under mu.
func (s *slot) setLink(other PID) (added bool) {
	if other == s.parent {
		added, s.bonded = !s.bonded, true
		return added
	}
	return s.extra().links.set(other, struct{}{})
}

// dropLink removes a link, and tells whether there was one. It runs under mu.
func (s *slot) dropLink(other PID) (dropped bool) {
	if other == s.parent {
		dropped, s.bonded = s.bonded, false
		return dropped
	}
	return s.more != nil && s.more.links.drop(other)
}

func (p *Process) addLink(other PID) {
	p.slot.mu.Lock()
	if p.slot.setLink(other) {
		p.system.hold(other, 1)
	}
	p.slot.mu.Unlock()
}

func (p *Process) dropLink(other PID) bool {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	if !p.slot.dropLink(other) {
		return false
	}
	p.system.hold(other, -1)
	return true
}

// link adds other to the links of a process.
func (s *System) link(to, other PID) error {
	if to.home != s.home {
		return s.linkAway(to, other)
	}
	return s.with(to, func(at *slot) {
		if at.setLink(other) {
			s.hold(other, 1)
		}
	})
}

func (s *System) unlink(to, other PID) {
	if to.home != s.home {
		s.unlinkAway(to, other)
		return
	}
	s.with(to, func(at *slot) {
		if at.dropLink(other) {
			s.hold(other, -1)
		}
	})
}

// with runs fn under the lock of a process of this system.
func (s *System) with(pid PID, fn func(*slot)) error {
	at := s.table.find(pid.id)
	if at != nil && pid.home == s.home {
		at.mu.Lock()
		defer at.mu.Unlock()
		if at.id == pid.id && at.life != dying {
			fn(at)
			return nil
		}
	}
	return problem(ErrNoProcess, s.home.Value().node, "%s", pid)
}
