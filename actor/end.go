package actor

import "errors"

// Exit is sent to a process when a process linked with it has ended, or by Stop to ask it to end. If the behaviour has a
// handler for Exit, it gets it as a message. Otherwise the process ends too, for the same reason, unless that is ErrNormal.
type Exit struct {
	From   PID
	Reason error

	// Event is the event that has ended, where the process has subscribed to it with Subscribe; From is its producer.
	Topic Name

	linked bool // sent by the end of a linked process, not by Stop
	of     *subscription
}

// Down is sent to a process when one that it monitors has ended, or when the node of that process was lost; and when a topic has
// ended, see SubscribeMonitored.
type Down struct {
	Ref    MonitorRef
	PID    PID  // zero if no process had the monitored name
	Name   Name // set if a name or a topic was monitored
	Reason error

	of *subscription // of a topic
}

var (
	exitKind = &messagesOf[Exit]().k
	downKind = &messagesOf[Down]().k
)

// terminator is implemented by states that have something to do when their process ends: see Behavior.
type terminator interface {
	Terminate(p *Process, reason error)
}

// Stop asks a process to end for a reason; nil is ErrShutdown. The process gets an Exit from the sender. If it handles Exits it
// decides by itself, except that an Exit from its parent always ends it.
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
	return s.push(pid, exitEnvelope(e), p)
}

// Kill ends a process without another callback; a running callback ends it when it returns. Links and monitors get ErrKilled.
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

func exitEnvelope(e Exit) *envelope {
	l := &messagesOf[Exit]().envelopeOf(e).head
	l.from, l.priority = e.From, PrioritySystem
	return l
}

// decideExit decides what an Exit does: it ends the process for the reason, is handled as a message, or is ignored.
func (p *Process) decideExit(e Exit) (reason error, handle bool) {
	if e.linked && !p.dropLink(e.From) || e.of != nil && !p.dropSubscription(e.of) {
		return nil, false // it was unlinked before it came to know
	}
	if m := p.entry.cold; m != nil && m.trap == trapParent {
		return nil, true
	}
	normal := errors.Is(e.Reason, ErrNormal)
	if !e.From.Zero() && e.From == p.entry.parent {
		switch {
		case !normal:
			return e.Reason, false
		case p.entry.supervised && !p.system.running():
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

// TrapExit sets whether exits come as messages. By default they do if the behaviour has a handler for Exit.
func (p *Process) TrapExit(on bool) {
	p.entry.mu.Lock()
	p.entry.ensureCold().trap = trapOff
	if on {
		p.entry.cold.trap = trapOn
	}
	p.entry.mu.Unlock()
}

func (p *Process) traps() bool {
	if m := p.entry.cold; m != nil && m.trap != trapIfHandled {
		return m.trap != trapOff
	}
	return p.entry.behavior.exits
}

// end ends the process: it runs Terminate, empties the mailbox, fails open calls, and notifies links and monitors.
//
// The order matters. Names are freed before any other process can notice the end, so that a restarted process finds its name
// free. The entry is given back before the notifications, so that a supervisor can start another process at once. Notifications
// go out without any lock held.
func (p *Process) end(mine *queue, reason error, last bool) {
	s, at := p.system, p.entry
	p.ending, p.reason = terminating, reason
	if t, ok := at.state.(terminator); ok && last {
		p.terminate(t, reason)
	}
	p.box.flush()
	p.ended = nil // in Terminate no process can be stopped

	at.mu.Lock()
	known := at.rareState()
	at.mu.Unlock()
	if known != nil {
		known.forgetNames(s, p.pid) // first, so that its name is free for any process that finds that it has ended
	}
	at.mu.Lock()
	m, behavior := at.cold, at.behavior.name
	queues := []queue{*mine, at.normal}
	if m != nil && m.queues != nil {
		queues = append(queues, m.queues[:]...)
	}
	var parent PID
	if at.linkedToParent {
		parent = at.parent
	}
	if at.behavior.internalProcess {
		s.internalProcess.Add(-1)
	}
	at.normal, at.cold, at.state, at.behavior, at.parent, at.settings = queue{}, nil, nil, nil, PID{}, nil
	at.phase, at.id, at.linkedToParent = terminated, 0, false
	at.signals.Store(0)
	at.waiting.Store(0)
	at.mu.Unlock()
	p.ending, p.reason = ended, nil

	s.processes.give(at) // before any notification, so that a process started in its place finds space
	for i := range queues {
		for l := queues[i].take(); l != nil; l = queues[i].take() {
			s.undelivered(l, s.errNoProcess(p.pid))
		}
	}
	if m != nil && m.rareState != nil {
		m.rareState.release(s, p.pid, reason)
	}
	if !parent.Zero() {
		s.sendLinkExit(parent, p.pid, reason)
	}
	if m != nil {
		m.notifyEnd(s, p.pid, reason)
	}
	s.ended(p.pid, reason)
	if st := s.scheduler.stepping; st != nil && st.hooks.Ended != nil {
		st.hooks.Ended(p.pid, behavior, reason)
	}
}

func (p *Process) terminate(t terminator, reason error) {
	returned := false
	defer func() {
		if !returned {
			_ = p.failed("Terminate", recover()) // the reason stays
		}
	}()
	t.Terminate(p, reason)
	returned = true
}

// release ends the waits, calls, events and memberships in a process's rareState, and its context; not its names.
func (r *rareState) release(s *System, pid PID, reason error) {
	if r.spaceFreed != nil {
		close(r.spaceFreed)
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

// notifyEnd notifies links and monitors of the end of a process.
func (m *coldState) notifyEnd(s *System, pid PID, reason error) {
	for other := range m.links.all() {
		s.sendLinkExit(other, pid, reason)
	}
	for w := range m.watched.all() {
		s.remote.count(w.watcher, -1)
		s.sendDown(w.watcher, Down{Ref: w.ref, PID: pid, Reason: reason})
	}
	for ref, other := range m.watches.all() {
		s.unwatch(other, ref, pid)
	}
}

// TrapParent makes every Exit come as a message, even that of the parent. It is for a process that must end others, by
// messages, before it ends itself. The process has to end by its own decision, which only Kill can replace. Its behaviour needs
// a handler for Exit.
func (p *Process) TrapParent() {
	p.entry.mu.Lock()
	p.entry.ensureCold().trap = trapParent
	p.entry.mu.Unlock()
}

// Linked reports whether the Exit was sent by the end of a linked process; otherwise Stop sent it.
func (e Exit) Linked() bool { return e.linked }
