package actor

// chain is processes that have become ready and that no worker knows of yet.
type chain struct {
	first, last *slot
	length      int
}

func (c *chain) add(s *System, at *slot) {
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

func (c *chain) flush(s *System) {
	if c.first != nil {
		s.crew.addAll(c.first, c.last)
		*c = chain{}
	}
}

// put is System.push for many processes, and never waits.
func (c *chain) put(s *System, id uint64, l *letter) {
	at := s.table.find(id)
	at.mu.Lock()
	if at.id != id || at.life == dying {
		at.mu.Unlock()
		l.body.free()
		return
	}
	if l.lane >= PriorityNormal && at.waiting.Load()+l.count > at.bound {
		l.away = true // nobody waits
		s.overflow(at, PID{s.home, id}, l, nil)
		return
	}
	wakes := at.put(l)
	at.mu.Unlock()
	if wakes {
		c.add(s, at)
	}
}

// tell puts a letter into a mailbox even if it is full: the end of an event is not lost.
func (c *chain) tell(s *System, sub *subscription, l *letter) {
	at := s.table.find(sub.pid.id)
	at.mu.Lock()
	if at.id != sub.pid.id || at.life == dying {
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
