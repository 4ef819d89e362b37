package actor

// Supervised starts the process for one that looks after it, such as a supervisor: linked with it from before Init runs,
// which the process cannot take back, and System.Stop leaves the end of the process to it as long as it lives. A process on
// another node can unlink itself; so it is monitored too. A system cannot look after one.
func Supervised() SpawnOption {
	return func(o *spawning) { o.linked, o.monitored, o.supervised = true, true, true }
}

// leftToParent tells whether the end of a process is its parent's business.
func (s *System) leftToParent(pid PID) bool {
	at := s.table.find(pid.id)
	at.mu.Lock()
	parent, supervised := at.parent, at.supervised && at.id == pid.id
	at.mu.Unlock()
	return supervised && s.Alive(parent)
}

// TrapParent makes every Exit come as a message, that of the parent too: for a process that has to end others, which takes
// messages, before it ends itself. The process must see to its end, which nothing but Kill does any more. Its behaviour
// needs a handler for Exit.
func (p *Process) TrapParent() {
	p.slot.mu.Lock()
	p.slot.extra().trap = trapParent
	p.slot.mu.Unlock()
}

// Linked tells whether the Exit is the word that a linked process has ended; without that it is from Stop.
func (e Exit) Linked() bool { return e.linked }

// With is the same process with more options, which come after its own.
func (s Spec) With(options ...SpawnOption) Spec {
	return Spec{s.behavior, func(from Sender, more []SpawnOption) (PID, error) {
		return s.start(from, append(options[:len(options):len(options)], more...))
	}}
}

// Zero tells whether the Spec was made by no behaviour: it cannot be started.
func (s Spec) Zero() bool { return s.start == nil }

// SenderAway tells whether the message or call that is being handled came from another node, also where its sender is no
// process.
func (p *Process) SenderAway() bool { return p.current != nil && p.current.away }
