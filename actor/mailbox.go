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
	if to.home != s.home && to.id != 0 {
		return s.pushAway(to, l, by)
	}
	at := s.table.find(to.id)
	if at == nil || to.id == 0 {
		return s.undelivered(to, l)
	}
	at.mu.Lock()
	if at.id != to.id || at.life == dying {
		at.mu.Unlock()
		return s.undelivered(to, l)
	}
	if l.lane >= PriorityNormal && at.waiting.Load()+l.left() > at.bound {
		return s.overflow(at, to, l, by) // it unlocks
	}
	run := l.count > 1
	sleeping := at.put(l)
	at.mu.Unlock() // from here on the letter may be handled, and freed
	if sleeping {
		s.crew.add(at, workerOf(by))
	} else if run && by != nil && by.worker != nil && by.worker.next.Load() == at {
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
		s.waiting.Add(l.left())
	case PriorityLog:
		s.lane(PriorityLog).add(l)
		s.waiting.Add(l.left())
	default:
		s.lane(l.lane).add(l)
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
	rule := at.rule
	if rule == Wait && !l.away && l.from != to {
		return s.waitForRoom(at, to, l, by)
	}
	if rule == DropOldest {
		at.dropOldest(s, l)
	}
	all, wake := at.putSome(l)
	at.mu.Unlock()
	if wake {
		s.crew.add(at, workerOf(by))
	}
	if all {
		return nil
	}
	s.dead.dropped.Add(int64(l.left()))
	if rule == DropNewest && !l.call { // who calls waits for an answer, and is told
		l.body.free()
		return nil
	}
	return s.refuse(l, problem(ErrMailboxFull, s.home.Value().node, "%d messages wait for %s", at.waiting.Load(), to))
}

// putSome is put for as many messages of the letter as there is room for, and tells whether that was all. It runs under mu.
func (at *slot) putSome(l *letter) (all, wake bool) {
	room := at.bound - at.waiting.Load()
	if l.left() <= room {
		return true, at.put(l)
	}
	if run, ok := l.body.(splitting); ok && room > 0 {
		return false, at.put(run.split(room))
	}
	return false, false
}

// dropOldest makes room for l in its lane, as far as letters that no worker has taken yet allow; then l loses its own
// oldest. It runs under mu.
func (at *slot) dropOldest(s *System, l *letter) {
	q := &at.normal
	if l.lane == PriorityLog {
		q = at.lane(PriorityLog)
	}
	excess := at.waiting.Load() + l.left() - at.bound
	for excess > 0 && q.first != nil {
		old := q.first
		lost := min(excess, old.left())
		excess -= lost
		at.waiting.Add(-lost)
		s.dead.dropped.Add(int64(lost))
		if lost == old.left() {
			s.refuse(q.take(), ErrMailboxFull)
		} else {
			old.at += lost
		}
	}
	if excess > 0 && excess < l.left() {
		l.at += excess
		s.dead.dropped.Add(int64(excess))
	}
}

// waitForRoom runs under at.mu and unlocks it.
func (s *System) waitForRoom(at *slot, to PID, l *letter, by *Process) error {
	late := make(chan struct{})
	stop := s.clock.AfterFunc(SendTimeout, func() { close(late) })
	defer stop()
	ctx := context.Background()
	if c, ok := l.body.(asked); ok && c.context() != nil {
		ctx = c.context()
	}
	if by != nil {
		by.leave()
		defer by.enter()
	}
	for {
		all, wake := at.putSome(l)
		m := at.rarely()
		if m.room == nil {
			m.room = make(chan struct{})
		}
		room := m.room
		if !all {
			set(&at.signals, sigWaiters)
		}
		at.mu.Unlock()
		if wake {
			s.crew.add(at, nil)
		}
		if all {
			return nil
		}
		if err := s.roomIn(ctx, to, room, late); err != nil {
			s.dead.dropped.Add(int64(l.left()))
			return s.refuse(l, err)
		}
		at.mu.Lock()
		if at.id != to.id || at.life == dying {
			at.mu.Unlock()
			return s.undelivered(to, l)
		}
	}
}

// roomIn waits until there is room in the mailbox of a process.
func (s *System) roomIn(ctx context.Context, to PID, room, late <-chan struct{}) error {
	if s.crew.stepping != nil && s.Step() {
		return nil // there may be
	} else if s.crew.stepping == nil {
		select {
		case <-room:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
		}
	}
	return problem(ErrMailboxFull, s.home.Value().node, "there was no room for %s within %s", to, SendTimeout)
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
