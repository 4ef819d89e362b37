package actor

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

// Unlink takes a link back. No Exit of it comes after that.
func (p *Process) Unlink(other PID) {
	if p.dropLink(other) {
		p.system.unlink(other, p.pid)
	}
}

// Links is the processes that this one is linked with, in no order.
func (p *Process) Links() []PID {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	var list []PID
	if p.slot.more != nil {
		for other := range p.slot.more.links.all() {
			list = append(list, other)
		}
	}
	return list
}

func (p *Process) addLink(other PID) {
	p.slot.mu.Lock()
	if p.slot.extra().links.set(other, struct{}{}) {
		p.system.hold(other, 1)
	}
	p.slot.mu.Unlock()
}

func (p *Process) dropLink(other PID) bool {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	if p.slot.more == nil || !p.slot.more.links.drop(other) {
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
	return s.with(to, func(m *more) {
		if m.links.set(other, struct{}{}) {
			s.hold(other, 1)
		}
	})
}

func (s *System) unlink(to, other PID) {
	if to.home != s.home {
		s.unlinkAway(to, other)
		return
	}
	s.with(to, func(m *more) {
		if m.links.drop(other) {
			s.hold(other, -1)
		}
	})
}

// with runs fn under the lock of a process of this system.
func (s *System) with(pid PID, fn func(*more)) error {
	at := s.table.find(pid.id)
	if at != nil && pid.home == s.home {
		at.mu.Lock()
		defer at.mu.Unlock()
		if at.id == pid.id && at.life != dying {
			fn(at.extra())
			return nil
		}
	}
	return problem(ErrNoProcess, s.home.Value().node, "%s", pid)
}
