package actor

// readyList collects processes that have become ready, to schedule many at once.
type readyList struct {
	first, last *entry
	length      int
}

func (c *readyList) add(s *System, at *entry) {
	if c.first == nil {
		c.first = at
	} else {
		c.last.next = at
	}
	c.last = at
	if c.length++; c.length == readyAtOnce {
		c.flush(s)
	}
}

func (c *readyList) flush(s *System) {
	if c.first != nil {
		s.scheduler.addAll(c.first, c.last)
		*c = readyList{}
	}
}

// put is System.push for many processes of this node. It never waits.
func (c *readyList) put(s *System, id uint64, l *envelope) {
	at := s.processes.find(id)
	at.mu.Lock()
	if at.id != id || at.phase == terminated {
		at.mu.Unlock()
		l.body.free()
		return
	}
	if l.priority >= PriorityNormal && at.waiting.Load()+l.count > at.bound {
		l.remote = true // nothing waits
		s.overflow(at, PID{s.home, id}, l, nil)
		return
	}
	wakes := at.put(l)
	at.mu.Unlock()
	if wakes {
		c.add(s, at)
	}
}

// notify puts an envelope into a mailbox even if that is full, because the end of a topic must not be lost.
func (c *readyList) notify(s *System, sub *subscription, l *envelope) {
	at := s.processes.find(sub.pid.id)
	at.mu.Lock()
	if at.id != sub.pid.id || at.phase == terminated {
		at.mu.Unlock()
		l.body.free()
		return
	}
	wakes := at.put(l)
	at.mu.Unlock()
	if wakes {
		c.add(s, at)
	}
}
