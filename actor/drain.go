package actor

import (
	"fmt"
	"runtime/debug"
)

// quantum is how many messages of one process a worker handles before it is another's turn.
const quantum = 1024

// drain handles what lies in the mailbox of a process, until it is empty, the process has ended or has had its turn.
func (w *worker) drain(s *slot) {
	p := &w.self
	s.mu.Lock()
	s.life = busy
	p.slot, p.pid = s, PID{w.crew.system.home, s.id}
	mine := s.takeNormal()
	s.mu.Unlock()
	w.turn.Add(1)
	w.over.Store(false)
	turn := quantum
	if w.crew.stepping != nil {
		turn = 1
	}
	for handled := 0; ; {
		w.beat.Add(1)
		var l *letter
		if s.signals.Load() != 0 {
			urgent, killed := p.attend()
			if killed != nil {
				p.end(&mine, killed, false)
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
			if l, more = p.refill(&mine); !more {
				return
			}
			if l == nil {
				continue
			}
		}
		handled += int(l.count)
		if reason := p.receive(l, &mine); reason != nil {
			p.end(&mine, reason, true)
			return
		}
		if handled >= turn || p.tired || w.over.Load() {
			p.tired = false
			p.yield(&mine)
			return
		}
	}
}

// refill takes what has come in the meantime, a letter of the log where there is nothing else. Where there is nothing at
// all, the process sleeps.
func (p *Process) refill(mine *lane) (log *letter, more bool) {
	s := p.slot
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
	s.life = idle
	return nil, false
}

// yield puts back what is left: it is another's turn. Where nothing is left, the process sleeps.
func (p *Process) yield(mine *lane) {
	p.box.flush()
	s := p.slot
	s.mu.Lock()
	if mine.first != nil {
		s.normal.addFirst(mine.first, mine.last)
	}
	s.life = ready
	if s.normal.first == nil && s.signals.Load() == 0 && !s.waits(PriorityLog) {
		s.life = idle
	}
	again := s.life == ready
	s.mu.Unlock()
	if again {
		p.system.crew.add(s, nil)
	}
}

// attend looks at the signals: a letter that goes before the others, or why the process was killed.
func (p *Process) attend() (l *letter, killed error) {
	s := p.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.signals.Load()&sigKilled != 0 {
		return nil, ErrKilled
	}
	if l = s.takeFrom(PriorityUrgent); l == nil {
		l = s.takeFrom(PrioritySystem)
	}
	left := s.signals.Load() &^ sigLanes
	if s.waits(PriorityUrgent) || s.waits(PrioritySystem) {
		left |= sigLanes
	}
	if r := s.rare(); r != nil && r.room != nil && s.waiting.Load() <= s.bound/2 {
		close(r.room)
		r.room = nil
		left &^= sigWaiters
	}
	s.signals.Store(left)
	return l, nil
}

// receive handles a letter, or the first messages of it: then it goes back to the front of mine. It returns why the process
// is to end.
func (p *Process) receive(l *letter, mine *lane) error {
	k, s := l.body.kind(), p.slot
	before := l.at
	h := s.behavior.find(k, l.call)
	if k == exitKind {
		reason, handle := p.exited(l.body.(*batch[Exit]).items[0])
		if reason != nil || !handle {
			p.done(l)
			return reason
		}
	}
	if k == downKind && !p.downed(&l.body.(*batch[Down]).items[0]) || k == eventDownKind && !p.dropSubscription(l.body.(*batch[EventDown]).items[0].of) {
		p.done(l)
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
		p.system.notHandled(p.pid, l)
		p.done(l)
		return nil
	}
	bounded := l.lane >= PriorityNormal
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
		if l.lane == PriorityNormal {
			mine.addFirst(l, l)
		} else {
			s.mu.Lock()
			s.lane(l.lane).addFirst(l, l)
			if l.lane < PriorityNormal {
				set(&s.signals, sigLanes)
			}
			s.mu.Unlock()
		}
		return err
	}
	l.body.free()
	return err
}

// done is the end of a letter that no callback gets.
func (p *Process) done(l *letter) {
	if l.lane >= PriorityNormal {
		p.slot.waiting.Add(l.at - l.count)
	}
	l.body.free()
}

// guarded runs a handler. A panic is why the process ends, and the answer to the call that was handled.
func (p *Process) guarded(h handler, l *letter) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = p.panicked("a handler", value)
			if c, ok := l.body.(asked); ok {
				c.asks().fail(err)
			}
		}
	}()
	return h.handle(p, l)
}

// panicked makes an error of a panic, and logs it.
func (p *Process) panicked(what string, value any) error {
	err := problem(ErrPanic, p.pid.Node(), "%s of %s %s: %v", what, p.slot.behavior.name, p.pid, value)
	p.system.log.Error("panic in a process", "pid", p.pid.String(), "behavior", p.slot.behavior.name, "in", what, "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
	return err
}
