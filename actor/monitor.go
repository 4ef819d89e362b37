package actor

// Ref names a monitor of the process that made it.
type Ref uint64

// Monitor tells this process by a Down when another ends, once. Where there is no such process, or no way to its node, the
// Down comes at once. Every call makes a monitor of its own.
func (p *Process) Monitor(other PID) Ref {
	s, ref := p.system, Ref(p.system.refs.Add(1))
	p.slot.mu.Lock()
	p.slot.extra().watches.set(ref, other)
	p.slot.mu.Unlock()
	if err := s.monitor(other, ref, p.pid); err != nil {
		s.tellDown(p.pid, Down{Ref: ref, PID: other, Reason: err})
	}
	return ref
}

// Demonitor takes a monitor back. No Down of it comes after that.
func (p *Process) Demonitor(ref Ref) {
	p.slot.mu.Lock()
	var other PID
	if m := p.slot.more; m != nil {
		other, _ = m.watches.get(ref)
		m.watches.drop(ref)
	}
	p.slot.mu.Unlock()
	if !other.Zero() {
		p.system.unwatch(other, ref, p.pid)
	}
}

// monitor tells a process that it is monitored.
func (s *System) monitor(to PID, ref Ref, watcher PID) error {
	if to.home != s.home {
		return s.watchAway(to, ref, watcher)
	}
	return s.with(to, func(at *slot) {
		if at.extra().watched.set(watched{ref, watcher}, struct{}{}) {
			s.hold(watcher, 1)
		}
	})
}

func (s *System) unwatch(to PID, ref Ref, watcher PID) {
	if to.home != s.home {
		s.unwatchAway(to, ref, watcher)
		return
	}
	s.with(to, func(at *slot) {
		if at.more != nil && at.more.watched.drop(watched{ref, watcher}) {
			s.hold(watcher, -1)
		}
	})
}

// watched is a monitor, as the process knows it that is monitored.
type watched struct {
	ref     Ref
	watcher PID
}

func (s *System) tellDown(to PID, d Down) {
	l := &messagesOf[Down]().letterOf(d).head
	l.from, l.lane = d.PID, PrioritySystem
	s.push(to, l, nil)
}

// downed tells whether the process still wants to know. It says so in d where a name was monitored.
func (p *Process) downed(d *Down) bool {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	if p.slot.more == nil {
		return false
	}
	if other, ok := p.slot.more.watches.get(d.Ref); ok && other.home.Value().name != "" {
		h := other.home.Value()
		d.Name = Name{Name: h.name, Node: h.node}
		if d.PID == other {
			d.PID = PID{}
		}
	}
	return p.slot.more.watches.drop(d.Ref)
}
