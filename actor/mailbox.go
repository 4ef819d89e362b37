package actor

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// defaultMailbox is the bound of a mailbox, in messages, where Mailbox sets no other bound.
const defaultMailbox = 1 << 20

// sendTimeout bounds the time that a sender waits for space in a mailbox whose rule is Wait.
const sendTimeout = 5 * time.Second

// push gives an envelope to a process, wherever that runs. by is the sending process, or nil; what it sent to the same process
// before must have been pushed before, since this keeps the order. push takes over the envelope: on an error it has been freed
// and a call in it has failed, except for errWaits.
func (s *System) push(to PID, l *envelope, by *Process) error {
	if to.home != s.home && to.id != 0 {
		return s.remote.push(to, l, by)
	}
	at := s.processes.find(to.id)
	if at == nil || to.id == 0 {
		return s.undelivered(l, s.errNoProcess(to))
	}
	at.mu.Lock()
	if at.id != to.id || at.phase == terminated {
		at.mu.Unlock()
		return s.undelivered(l, s.errNoProcess(to))
	}
	if !at.behavior.accepts(l) {
		return s.notAccepted(at, to, l) // it unlocks
	}
	if l.priority >= PriorityNormal && at.waiting.Load()+l.left() > at.bound {
		return s.overflow(at, to, l, by) // it unlocks
	}
	run := l.count > 1
	sleeping := at.put(l)
	at.mu.Unlock() // from here on the envelope may be handled, and freed
	if sleeping {
		s.scheduler.add(at, workerOf(by))
	} else if run && by != nil && by.worker != nil && by.worker.next.Load() == at {
		s.scheduler.promote(by.worker, at) // a whole run: this callback goes on, and there is work for two
	}
	return nil
}

// workerOf returns the worker that runs p's callback, if there is one.
func workerOf(p *Process) *worker {
	if p == nil {
		return nil
	}
	return p.worker
}

// put puts an envelope into its queue and reports whether the process was asleep and is ready now: then the caller gives it to
// the scheduler, after it has unlocked mu. Call it with mu held.
func (s *entry) put(l *envelope) (wasAsleep bool) {
	switch l.priority {
	case PriorityNormal:
		s.normal.add(l)
		s.waiting.Add(l.left())
	case PriorityLog:
		s.queueFor(PriorityLog).add(l)
		s.waiting.Add(l.left())
	default:
		s.queueFor(l.priority).add(l)
		set(&s.signals, sigQueues)
	}
	return s.wake()
}

// wake makes a sleeping process ready and reports whether it did: then the caller gives it to the scheduler. Call it with mu
// held.
func (s *entry) wake() bool {
	if s.phase != idle {
		return false
	}
	s.phase = ready
	return true
}

func set(signals *atomic.Uint32, bits uint32) { signals.Store(signals.Load() | bits) } // writers hold mu

// overflow applies the mailbox's rule to an envelope that does not fit. Of several messages in it, those that fit go in. Call
// it with at.mu held; it unlocks it.
func (s *System) overflow(at *entry, to PID, l *envelope, by *Process) error {
	rule := at.rule
	if rule == Wait && !l.remote && l.from != to {
		if l.known {
			at.mu.Unlock()
			return errWaits
		}
		ctx := context.Background()
		if c, ok := l.body.(callBody); ok && c.context() != nil {
			ctx = c.context()
		}
		return s.waitForSpace(ctx, at, to, l, by)
	}
	if rule == DropOldest {
		at.dropOldest(s, l)
	}
	all, wake := at.putSome(l)
	at.mu.Unlock()
	if wake {
		s.scheduler.add(at, workerOf(by))
	}
	if all {
		return nil
	}
	s.dead.dropped.Add(int64(l.left()))
	if rule == DropNewest && !l.call && !l.known { // a caller waits for an answer, and is notified
		l.body.free()
		return nil
	}
	return s.refuse(l, problem(ErrMailboxFull, s.home.Value().node, "%d messages wait for %s", at.waiting.Load(), to))
}

// putSome puts as many messages of the envelope into the mailbox as fit. all reports whether those were all, wake whether the
// caller has to schedule the process. Call it with mu held.
func (at *entry) putSome(l *envelope) (all, wake bool) {
	capacity := at.bound - at.waiting.Load()
	if l.left() <= capacity {
		return true, at.put(l)
	}
	if run, ok := l.body.(splitting); ok && capacity > 0 {
		return false, at.put(run.split(capacity))
	}
	return false, false
}

// dropOldest makes space for l by dropping the oldest envelopes of its queue that no worker has taken yet; if that is not
// enough, l loses its own oldest messages. Call it with mu held.
func (at *entry) dropOldest(s *System, l *envelope) {
	q := &at.normal
	if l.priority == PriorityLog {
		q = at.queueFor(PriorityLog)
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

// errWaits is returned by push for an envelope whose sender waits to learn whether it was accepted and now has to wait for
// space. The envelope was neither taken nor freed: pushKnown waits with it, under the context of the sender.
var errWaits = errors.New("the mailbox is full, and its senders wait")

// pushKnown is push for a sender that learns whether its message was accepted. If the mailbox is full and its rule is Wait, it
// waits no longer than ctx.
func (s *System) pushKnown(ctx context.Context, to PID, l *envelope, by *Process) error {
	l.known = true
	err := s.push(to, l, by)
	if err != errWaits {
		return err
	}
	at := s.processes.find(to.id)
	at.mu.Lock()
	if at.id != to.id || at.phase == terminated {
		at.mu.Unlock()
		return s.undelivered(l, s.errNoProcess(to))
	}
	return s.waitForSpace(ctx, at, to, l, by)
}

// waitForSpace waits until the envelope fits. Call it with at.mu held; it unlocks it.
func (s *System) waitForSpace(ctx context.Context, at *entry, to PID, l *envelope, by *Process) error {
	late := make(chan struct{})
	stop := s.clock.AfterFunc(sendTimeout, func() { close(late) })
	defer stop()
	if by != nil {
		by.beginBlocking()
		defer by.endBlocking()
	}
	for {
		all, wake := at.putSome(l)
		m := at.ensureRare()
		if m.spaceFreed == nil {
			m.spaceFreed = make(chan struct{})
		}
		spaceFreed := m.spaceFreed
		if !all {
			set(&at.signals, sigWaiters)
		}
		at.mu.Unlock()
		if wake {
			s.scheduler.add(at, nil)
		}
		if all {
			return nil
		}
		if err := s.awaitSpace(ctx, to, spaceFreed, late); err != nil {
			s.dead.dropped.Add(int64(l.left()))
			return s.refuse(l, err)
		}
		at.mu.Lock()
		if at.id != to.id || at.phase == terminated {
			at.mu.Unlock()
			return s.undelivered(l, s.errNoProcess(to))
		}
	}
}

// awaitSpace waits until messages were taken from a full mailbox.
func (s *System) awaitSpace(ctx context.Context, to PID, spaceFreed, late <-chan struct{}) error {
	if s.scheduler.stepping != nil && s.step() {
		return nil // there may be
	} else if s.scheduler.stepping == nil {
		select {
		case <-spaceFreed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
		}
	}
	return problem(ErrMailboxFull, s.home.Value().node, "there was no room for %s within %s", to, sendTimeout)
}

func (s *System) errNoProcess(pid PID) error {
	return problem(ErrNoProcess, s.nodeName(), "%s", pid)
}

// undelivered counts and frees an envelope to a process that does not exist, or is not reached.
func (s *System) undelivered(l *envelope, err error) error {
	if l.priority != PrioritySystem { // no notification that another has ended is lost
		s.dead.undelivered.Add(int64(l.count - l.at))
	}
	return s.refuse(l, err)
}

// refuse frees an envelope that was not accepted. A call in it fails with err.
func (s *System) refuse(l *envelope, err error) error {
	if c, ok := l.body.(callBody); ok {
		c.replyTo().fail(err)
	}
	l.body.free()
	return err
}
