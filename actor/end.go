package actor

import "errors"

// Exit is the word that a process has ended, to those that are linked with it, or that it should end, from Stop. A process
// whose behaviour has a handler for it gets it as a message. Else it ends the process too, with the same reason, unless that
// is ErrNormal.
type Exit struct {
	From   PID
	Reason error

	// Event is the event that has ended, where the process has subscribed to it with LinkEvent; From is its producer.
	Event Name

	linked bool // sent by the end of a process
	of     *subscription
}

// Down is the word that a process which was monitored has ended, or that its node was lost.
type Down struct {
	Ref    Ref
	PID    PID  // zero where a name was monitored that nobody had
	Name   Name // where a name was monitored
	Reason error
}

var (
	exitKind = &messagesOf[Exit]().k
	downKind = &messagesOf[Down]().k
)

// Terminator is implemented by states that have something to do when their process ends.
type Terminator interface {
	// Terminate runs as the last callback, not after Kill. It may send, but not start anything.
	Terminate(p *Process, reason error)
}

// Stop tells a process to end, with the reason; nil is ErrShutdown. It is an Exit from the sender: a process that handles
// those decides by itself, but for that of its parent, which ends it in any case.
func Stop[A Address](from Sender, to A, reason error) error {
	if reason == nil {
		reason = ErrShutdown
	}
	s, p := from.in(), from.process()
	pid, err := resolve(s, to)
	if err != nil {
		return err
	}
	e := Exit{Reason: reason}
	if p != nil {
		p.box.flush()
		e.From = p.pid
	}
	return s.push(pid, exitLetter(e), p)
}

// Kill ends a process without another callback; one that is running ends when it returns. Links and monitors are told
// ErrKilled.
func Kill[A Address](from Sender, to A) error {
	pid, err := resolve(from.in(), to)
	if err != nil {
		return err
	}
	if p := from.process(); p != nil {
		p.box.flush()
	}
	return from.in().Kill(pid)
}

// Kill is the function Kill, from the system.
func (s *System) Kill(pid PID) error {
	if pid.home != s.home {
		return s.killAway(pid)
	}
	at := s.table.find(pid.id)
	if at == nil {
		return problem(ErrNoProcess, s.home.Value().node, "%s", pid)
	}
	at.mu.Lock()
	if at.id != pid.id || at.life == dying {
		at.mu.Unlock()
		return problem(ErrNoProcess, s.home.Value().node, "%s", pid)
	}
	set(&at.signals, sigKilled)
	if r := at.rare(); r != nil && r.context != nil {
		r.context.cancel(ErrKilled)
	}
	wake := at.rouse()
	at.mu.Unlock()
	if wake {
		s.crew.add(at, nil)
	}
	return nil
}

func exitLetter(e Exit) *letter {
	l := &messagesOf[Exit]().letterOf(e).head
	l.from, l.lane = e.From, PrioritySystem
	return l
}

// exited decides about an exit: it ends the process for the reason, is to be handled, or neither.
func (p *Process) exited(e Exit) (reason error, handle bool) {
	if e.linked && !p.dropLink(e.From) || e.of != nil && !p.dropSubscription(e.of) {
		return nil, false // it was unlinked before it came to know
	}
	if m := p.slot.more; m != nil && m.trap == trapParent {
		return nil, true
	}
	normal := errors.Is(e.Reason, ErrNormal)
	if !e.From.Zero() && e.From == p.slot.parent {
		switch {
		case !normal:
			return e.Reason, false
		case p.slot.supervised && !p.system.running():
			return ErrShutdown, false // System.Stop has left it to the parent, which is not there any more
		}
	}
	if p.traps() {
		return nil, true
	}
	if normal && e.From != p.pid {
		return nil, false
	}
	return e.Reason, false
}

// TrapExit says whether exits come as messages. Without it they do if the behaviour has a handler for Exit.
func (p *Process) TrapExit(on bool) {
	p.slot.mu.Lock()
	p.slot.extra().trap = trapOff
	if on {
		p.slot.more.trap = trapOn
	}
	p.slot.mu.Unlock()
}

func (p *Process) traps() bool {
	if m := p.slot.more; m != nil && m.trap != trapIfHandled {
		return m.trap != trapOff
	}
	return p.slot.behavior.exits
}

// end ends the process: its last callback, and word to all who are to know. What lay in its mailbox is lost, and who
// waits for an answer is told.
func (p *Process) end(mine *lane, reason error, last bool) {
	s, at := p.system, p.slot
	if t, ok := at.state.(Terminator); ok && last {
		p.terminate(t, reason)
	}
	p.box.flush()
	p.ended = nil // in Terminate nobody can be stopped

	at.mu.Lock()
	known := at.rare()
	at.mu.Unlock()
	if known != nil {
		s.forget(p.pid, known) // first, so that its name is free for who finds that it has ended, in whatever way
	}
	at.mu.Lock()
	m, behavior := at.more, at.behavior.name
	lanes := []lane{*mine, at.normal}
	if m != nil && m.lanes != nil {
		lanes = append(lanes, m.lanes[:]...)
	}
	var parent PID
	if at.bonded {
		parent = at.parent
	}
	if at.behavior.unlisted {
		s.unlisted.Add(-1)
	}
	at.normal, at.more, at.state, at.behavior, at.parent, at.heritage = lane{}, nil, nil, nil, PID{}, nil
	at.life, at.id, at.bonded = dying, 0, false
	at.signals.Store(0)
	at.waiting.Store(0)
	at.mu.Unlock()

	s.table.give(at) // before anybody is told, so that who starts another instead finds room
	for i := range lanes {
		for l := lanes[i].take(); l != nil; l = lanes[i].take() {
			s.undelivered(p.pid, l)
		}
	}
	if m != nil && m.rare != nil {
		s.endRare(p.pid, m.rare, reason)
	}
	if !parent.Zero() {
		s.tellLink(parent, p.pid, reason)
	}
	if m != nil {
		s.tellEnd(p.pid, m, reason)
	}
	s.ended(p.pid, reason)
	if st := s.crew.stepping; st != nil && st.tell.Ended != nil {
		st.tell.Ended(p.pid, behavior, reason)
	}
}

func (p *Process) terminate(t Terminator, reason error) {
	defer func() {
		if value := recover(); value != nil {
			p.panicked("Terminate", value)
		}
	}()
	t.Terminate(p, reason)
}

// endRare ends what a process has in rare, but for its names.
func (s *System) endRare(pid PID, r *rare, reason error) {
	if r.room != nil {
		close(r.room)
	}
	if r.context != nil {
		r.context.cancel(reason)
	}
	for _, later := range r.later {
		later.fail(problem(ErrNoProcess, s.home.Value().node, "%s has ended before it answered: %v", pid, reason))
	}
	if r.events != nil {
		r.events.ended(s, pid, reason)
	}
	for _, group := range r.groups {
		s.groups.leave(s, group, pid)
	}
}

// tellEnd tells links and monitors that a process has ended.
func (s *System) tellEnd(pid PID, m *more, reason error) {
	for other := range m.links.all() {
		s.tellLink(other, pid, reason)
	}
	for w := range m.watched.all() {
		s.hold(w.watcher, -1)
		s.tellDown(w.watcher, Down{Ref: w.ref, PID: pid, Reason: reason})
	}
	for ref, other := range m.watches.all() {
		s.unwatch(other, ref, pid)
	}
}

func (s *System) tellLink(other, ended PID, reason error) {
	s.hold(other, -1)
	s.push(other, exitLetter(Exit{From: ended, Reason: reason, linked: true}), nil)
}
