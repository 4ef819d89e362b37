package actor

import (
	"context"
	"sync/atomic"
	"time"
)

// DefaultMailbox is how many messages may wait in a mailbox where Mailbox does not say otherwise.
const DefaultMailbox = 1 << 20

// SendTimeout is how long a sender waits at most for room in a mailbox whose rule is Wait.
const SendTimeout = 5 * time.Second

// push gives a letter to a process, wherever it lives. by is the process that sends, nil for none; what it has sent to the
// same process before was pushed before. On error the letter was not taken, and is freed.
func (s *System) push(to PID, l *letter, by *Process) error {
	if to.home != s.home || to.id == 0 {
		return s.pushAway(to, l)
	}
	at := s.table.find(to.id)
	if at == nil {
		return s.undelivered(to, l)
	}
	at.mu.Lock()
	if at.id != to.id || at.life == dying {
		at.mu.Unlock()
		return s.undelivered(to, l)
	}
	if l.lane >= PriorityNormal && at.waiting.Load()+l.count > at.bound {
		return s.overflow(at, to, l, by) // it unlocks
	}
	sleeping := at.put(l)
	at.mu.Unlock()
	if sleeping {
		s.crew.add(at, workerOf(by))
	} else if by != nil && by.worker != nil && l.count > 1 && by.worker.next.Load() == at {
		s.crew.promote(by.worker, at) // a whole run: this callback goes on, and there is work for two
	}
	return nil
}

func workerOf(p *Process) *worker {
	if p == nil {
		return nil
	}
	return p.worker
}

// put puts a letter into its lane, and tells whether the process was asleep and is now ready. It runs under mu.
func (s *slot) put(l *letter) (wasAsleep bool) {
	switch l.lane {
	case PriorityNormal:
		s.normal.add(l)
		s.waiting.Add(l.count)
	case PriorityLog:
		s.extra().lanes[PriorityLog].add(l)
		s.waiting.Add(l.count)
	default:
		s.extra().lanes[l.lane].add(l)
		set(&s.signals, sigLanes)
	}
	return s.rouse()
}

// rouse makes a process that sleeps ready, and tells whether it did. Whoever is told has to give it to the crew. It runs
// under mu.
func (s *slot) rouse() bool {
	if s.life != idle {
		return false
	}
	s.life = ready
	return true
}

func set(signals *atomic.Uint32, bits uint32) { signals.Store(signals.Load() | bits) } // writers hold mu

// overflow does what the mailbox's rule says. The letter may hold several messages; what there is room for goes in. It
// runs under at.mu and unlocks it.
func (s *System) overflow(at *slot, to PID, l *letter, by *Process) error {
	switch at.rule {
	case DropNewest:
		at.mu.Unlock()
		s.dead.dropped.Add(int64(l.count))
		l.body.free()
		return nil
	case DropOldest:
		at.dropOldest(s, l)
		if at.waiting.Load()+l.count <= at.bound {
			sleeping := at.put(l)
			at.mu.Unlock()
			if sleeping {
				s.crew.add(at, workerOf(by))
			}
			return nil
		}
	case Wait:
		if !l.away && l.from != to {
			return s.waitForRoom(at, to, l, by)
		}
	}
	at.mu.Unlock()
	s.dead.dropped.Add(int64(l.count))
	return s.refuse(l, problem(ErrMailboxFull, s.home.Value().node, "%d messages wait for %s", at.waiting.Load(), to))
}

// dropOldest makes room for l in its lane, as far as letters that no worker has taken yet allow. It runs under mu.
func (at *slot) dropOldest(s *System, l *letter) {
	q := &at.normal
	if l.lane == PriorityLog {
		q = &at.extra().lanes[PriorityLog]
	}
	for at.waiting.Load()+l.count > at.bound {
		old := q.take()
		if old == nil {
			return
		}
		at.waiting.Add(old.at - old.count)
		s.dead.dropped.Add(int64(old.count - old.at))
		s.refuse(old, ErrMailboxFull)
	}
}

// waitForRoom runs under at.mu and unlocks it.
func (s *System) waitForRoom(at *slot, to PID, l *letter, by *Process) error {
	late, cancel := context.WithTimeout(context.Background(), SendTimeout)
	defer cancel()
	if by != nil {
		by.leave()
		defer by.enter()
	}
	for {
		m := at.extra()
		if m.room == nil {
			m.room = make(chan struct{})
		}
		room := m.room
		set(&at.signals, sigWaiters)
		at.mu.Unlock()
		select {
		case <-room:
		case <-late.Done():
			s.dead.dropped.Add(int64(l.count))
			return s.refuse(l, problem(ErrMailboxFull, s.home.Value().node, "there was no room for %s within %s", to, SendTimeout))
		}
		at.mu.Lock()
		if at.id != to.id || at.life == dying {
			at.mu.Unlock()
			return s.undelivered(to, l)
		}
		if waiting := at.waiting.Load(); waiting+l.count <= at.bound || waiting == 0 {
			sleeping := at.put(l)
			at.mu.Unlock()
			if sleeping {
				s.crew.add(at, nil)
			}
			return nil
		}
	}
}

// undelivered is what becomes of a letter to a process that is not there.
func (s *System) undelivered(to PID, l *letter) error {
	if l.lane != PrioritySystem { // nobody misses the word that another has ended
		s.dead.letters.Add(int64(l.count - l.at))
	}
	return s.refuse(l, problem(ErrNoProcess, s.home.Value().node, "%s", to))
}

// refuse frees a letter that was not taken; who waits for its answer gets the error.
func (s *System) refuse(l *letter, err error) error {
	if c, ok := l.body.(asked); ok {
		c.asks().fail(err)
	}
	l.body.free()
	return err
}
