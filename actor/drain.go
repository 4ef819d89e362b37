package actor

import (
	"fmt"
	"runtime/debug"
)

// quantum is the number of messages that a process may handle in one turn, before others have theirs.
const quantum = 1024

// drain handles the mailbox of a process until it is empty, the process has ended, or its turn is over.
func (w *worker) drain(s *entry) {
	p := &w.self
	s.mu.Lock()
	s.phase = busy
	p.entry, p.pid, p.ending = s, PID{w.scheduler.system.home, s.id}, notEnding
	mine := &w.mine // not of this call: it is needed after a callback that ends the goroutine
	*mine = s.takeNormal()
	s.mu.Unlock()
	w.turn.Add(1)
	w.over.Store(false)
	turn := quantum
	if w.scheduler.stepping != nil {
		turn = 1
	}
	for handled := 0; ; {
		w.beat.Add(1)
		var l *envelope
		if s.signals.Load() != 0 {
			urgent, killed := p.takeSignals()
			if killed != nil {
				p.end(mine, killed, false)
				return
			}
			l = urgent
		}
		if l == nil {
			l = mine.take()
		}
		if l == nil {
			p.box.flush() // before the process sleeps: what it sends next may go by another worker
			var more bool
			if l, more = p.refill(mine); !more {
				return
			}
			if l == nil {
				continue
			}
		}
		handled += int(l.count)
		if reason := p.receive(l, mine); reason != nil {
			p.end(mine, reason, true)
			return
		}
		if handled >= turn || p.tired || w.over.Load() {
			p.tired = false
			p.yield(mine)
			return
		}
	}
}

// refill takes the messages that have arrived meanwhile: the normal queue into mine, or one envelope of log priority if there
// is nothing else. If there is nothing at all, the process sleeps and more is false; another worker may run it from then on.
func (p *Process) refill(mine *queue) (log *envelope, more bool) {
	s := p.entry
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.normal.first != nil {
		*mine = s.takeNormal()
		return nil, true
	}
	if s.signals.Load()&^sigWaiters != 0 {
		return nil, true
	}
	if l := s.takeFrom(PriorityLog); l != nil {
		return l, true
	}
	s.phase = idle
	return nil, false
}

// yield ends the turn: it puts back what is left and schedules the process behind the others. If nothing is left, the process
// sleeps.
func (p *Process) yield(mine *queue) {
	p.box.flush()
	s := p.entry
	s.mu.Lock()
	if mine.first != nil {
		s.normal.addFirst(mine.first, mine.last)
	}
	s.phase = ready
	if s.normal.first == nil && s.signals.Load() == 0 && !s.waits(PriorityLog) {
		s.phase = idle
	}
	again := s.phase == ready
	s.mu.Unlock()
	if again {
		p.system.scheduler.add(s, nil)
	}
}

// takeSignals looks at the signals. It returns an envelope that goes before all others, or ErrKilled.
func (p *Process) takeSignals() (l *envelope, killed error) {
	s := p.entry
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.signals.Load()&sigKilled != 0 {
		return nil, ErrKilled
	}
	if l = s.takeFrom(PriorityUrgent); l == nil {
		l = s.takeFrom(PrioritySystem)
	}
	left := s.signals.Load() &^ sigQueues
	if s.waits(PriorityUrgent) || s.waits(PrioritySystem) {
		left |= sigQueues
	}
	if r := s.rareState(); r != nil && r.spaceFreed != nil && s.waiting.Load() <= s.bound/2 {
		close(r.spaceFreed)
		r.spaceFreed = nil
		left &^= sigWaiters
	}
	s.signals.Store(left)
	return l, nil
}

// receive handles an envelope, or its first messages: the rest goes back to the front of its queue. A non-nil error is the
// reason for which the process has to end.
func (p *Process) receive(l *envelope, mine *queue) error {
	k, s := l.body.kind(), p.entry
	before := l.at
	h := s.behavior.find(k, l.call)
	if l.call && callEnded(l) {
		if h = s.behavior.canceledCall; h == nil {
			p.discard(l)
			return nil
		}
	}
	if k == exitKind {
		reason, handle := p.decideExit(l.body.(*batch[Exit]).items[0])
		if reason != nil || !handle {
			p.discard(l)
			return reason
		}
	}
	if k == downKind && !p.acceptsDown(&l.body.(*batch[Down]).items[0]) {
		p.discard(l)
		return nil
	}
	if h == nil {
		if k == inspectKind {
			p.inspected(l)
			return nil
		}
		h = s.behavior.any
		if l.call {
			h = s.behavior.anyCall
		}
	}
	if h == nil {
		p.system.notHandled(p.pid, s.behavior, l)
		p.discard(l)
		return nil
	}
	bounded := l.priority >= PriorityNormal
	if bounded {
		s.waiting.Add(-1) // what is being handled does not wait
	}
	p.current = l
	err := p.guarded(h, l)
	p.current = nil
	if p.release != nil {
		p.release()
		p.release = nil
	}
	p.called = nil
	if p.ended != nil {
		err, p.ended = p.ended, nil
	}
	if more := l.at - before - 1; bounded && more > 0 {
		s.waiting.Add(-more)
	}
	if l.at < l.count {
		if l.priority == PriorityNormal {
			mine.addFirst(l, l)
		} else {
			s.mu.Lock()
			s.queueFor(l.priority).addFirst(l, l)
			if l.priority < PriorityNormal {
				set(&s.signals, sigQueues)
			}
			s.mu.Unlock()
		}
		return err
	}
	l.body.free()
	return err
}

// discard frees an envelope that no callback gets.
func (p *Process) discard(l *envelope) {
	if l.priority >= PriorityNormal {
		p.entry.waiting.Add(l.at - l.count)
	}
	l.body.free()
}

// guarded runs a handler. If that panics, or ends its goroutine, the process ends for that reason, and a call that was being
// handled fails with it; see worker.goOn.
func (p *Process) guarded(h handler, l *envelope) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if err = p.failed("a handler", recover()); err != nil {
			if c, ok := l.body.(callBody); ok {
				c.replyTo().fail(err)
			}
		}
	}()
	err = h.handle(p, l)
	returned = true
	return err
}

// failed makes the error of a callback that did not return: it panicked with value, or ended its goroutine if value is nil.
func (p *Process) failed(what string, value any) error {
	if value != nil {
		return p.panicked(what, value)
	}
	p.exit = problem(errPanic, p.pid.Node(), "%s of %s %s ended its goroutine", what, p.entry.behavior.name, p.pid)
	p.system.log.Error("a process ended its goroutine", "pid", p.pid.String(), "behavior", p.entry.behavior.name, "in", what, "stack", string(debug.Stack()))
	return p.exit
}

// endAfterExit ends a process whose callback ended the goroutine of its worker. It runs on the worker's next goroutine.
func (p *Process) endAfterExit(mine *queue) {
	reason := p.exit
	if reason == nil {
		reason = problem(errPanic, p.system.nodeName(), "%s ended its goroutine", p.pid)
	}
	p.exit = nil
	if l := p.current; l != nil {
		p.current = nil
		if l.at < l.count {
			mine.addFirst(l, l)
		} else {
			l.body.free()
		}
	}
	if p.release != nil {
		p.release()
		p.release = nil
	}
	p.called, p.ended, p.forwarded, p.tired = nil, nil, false, false
	switch p.ending {
	case notEnding:
		p.end(mine, reason, true)
	case terminating:
		p.end(mine, p.reason, false)
	} // else nothing of the process is left
}

// panicked logs a panic and makes an error of it.
func (p *Process) panicked(what string, value any) error {
	err := problem(errPanic, p.pid.Node(), "%s of %s %s: %v", what, p.entry.behavior.name, p.pid, value)
	p.system.log.Error("panic in a process", "pid", p.pid.String(), "behavior", p.entry.behavior.name, "in", what, "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
	return err
}
