package actor

import (
	"sync"
	"time"
)

// SpawnOption is an option of Spawn.
type SpawnOption func(*spawning)

// spawning is what a process is started with beside its behaviour.
type spawning struct {
	name        string
	node        string
	linked      bool
	monitored   bool
	supervised  bool
	heritage    *heritage
	bound       int
	rule        Overflow
	initTimeout time.Duration
	ref         Ref       // with monitored, what Spawn found
	parent      PID       // on another node, where that starts it
	ready       func(PID) // called after Init, before anything else of the process can be known; may be nil
}

// Named registers the process under a name on its node before Init runs. ErrNameTaken where another has it.
func Named(name string) SpawnOption { return func(o *spawning) { o.name = name } }

// Linked links the process with the one that starts it, before Init runs. A system cannot be linked with.
func Linked() SpawnOption { return func(o *spawning) { o.linked = true } }

// Mailbox bounds how many messages wait, and says what happens to one too many. DefaultMailbox and Reject without it.
func Mailbox(messages int, rule Overflow) SpawnOption {
	return func(o *spawning) { o.bound, o.rule = messages, rule }
}

// InitTimeout bounds how long Init may take: then the process is killed and Spawn fails with ErrInit. Without it, Init runs
// on the goroutine of Spawn and has as long as it needs.
func InitTimeout(d time.Duration) SpawnOption { return func(o *spawning) { o.initTimeout = d } }

// OnNode starts the process on another node of the cluster, which must permit it; see Permit.
func OnNode(node string) SpawnOption { return func(o *spawning) { o.node = node } }

// Spawn starts a process and returns when its Init has: with the PID, or the error of Init. args is what Init gets.
func Spawn[S, A any](from Sender, b *Behavior[S, A], args A, options ...SpawnOption) (PID, error) {
	s, o := from.in(), spawning{bound: DefaultMailbox}
	for _, option := range options {
		option(&o)
	}
	if o.node != "" && o.node != s.home.Value().node {
		return spawnAway(s, from.process(), b, args, o)
	}
	pid, err := b.spawn(s, from.process(), args, &o)
	if err != nil && o.ref != 0 {
		from.process().Demonitor(o.ref)
	}
	return pid, err
}

// Spec is a process that can be started, and started again: what supervisors and pools are given.
type Spec struct {
	behavior string
	start    func(from Sender, options []SpawnOption) (PID, error)
}

// Spec is the behaviour with what it is started with, to be started by somebody else.
func (b *Behavior[S, A]) Spec(args A, options ...SpawnOption) Spec {
	return Spec{b.d.name, func(from Sender, more []SpawnOption) (PID, error) {
		return Spawn(from, b, args, append(options[:len(options):len(options)], more...)...)
	}}
}

// Behavior is the name of what is started.
func (s Spec) Behavior() string { return s.behavior }

// Start is Spawn of the process, with more options.
func (s Spec) Start(from Sender, options ...SpawnOption) (PID, error) { return s.start(from, options) }

// handles is Process values for callbacks that no worker runs.
var handles = sync.Pool{New: func() any { return new(Process) }}

// spawn starts a process here; by is nil where a system starts it.
func (b *Behavior[S, A]) spawn(s *System, by *Process, args A, o *spawning) (PID, error) {
	if !s.running() {
		return PID{}, ErrStopped
	}
	at := s.table.take(s.maxProcesses)
	if at == nil {
		return PID{}, problem(ErrTooMany, s.home.Value().node, "%d", s.maxProcesses)
	}
	parent := o.parent
	if by != nil {
		parent = by.pid
	}
	begun := s.clock.Now().Sub(s.begun)
	at.mu.Lock()
	at.generation++
	at.id = uint64(at.generation)<<32 | uint64(at.index)
	at.life, at.rule, at.bound = born, o.rule, int32(min(max(o.bound, 1), 1<<30))
	at.behavior, at.parent, at.state = &b.d, parent, any(new(S))
	if b.d.unlisted {
		s.unlisted.Add(1)
	}
	at.supervised, at.heritage = o.supervised && by != nil, inherited(by, o.heritage)
	at.begun = begun
	pid := PID{s.home, at.id}
	at.mu.Unlock()
	if st := s.crew.stepping; st != nil && st.tell.Started != nil {
		st.tell.Started(pid, parent, b.d.name)
	}

	p := handles.Get().(*Process)
	p.system, p.slot, p.pid, p.worker = s, at, pid, nil
	p.box.owner = p
	err := s.prepare(p, by, o)
	if err == nil && b.begin != nil {
		if o.initTimeout > 0 && s.crew.stepping == nil {
			return pid, b.beginWithin(p, by, args, o)
		}
		err = b.initialize(p, args)
	}
	o.tellReady(pid, err)
	return pid, p.begun(by, err)
}

// prepare does what must be done before Init runs.
func (s *System) prepare(p, by *Process, o *spawning) error {
	if !s.running() { // Stop may not have seen it
		return ErrStopped
	}
	if o.name != "" {
		if err := p.Register(o.name); err != nil {
			return err
		}
	}
	if o.linked && by != nil {
		by.addLink(p.pid)
		p.addLink(by.pid)
	}
	if o.monitored && by != nil && !o.supervised { // of one that is supervised, the link tells
		o.ref = by.Monitor(p.pid)
	}
	if o.linked && by == nil && !o.parent.Zero() {
		p.addLink(o.parent)
	}
	if o.monitored && by == nil && !o.parent.Zero() {
		return s.monitor(p.pid, o.ref, o.parent)
	}
	return nil
}

func (b *Behavior[S, A]) initialize(p *Process, args A) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = p.panicked("Init", value)
		}
	}()
	if err = b.begin(p.slot.state.(*S), p, args); err == nil {
		err = p.ended
	}
	return err
}

// begun lets the process begin its work after Init, or ends it. It gives p back.
func (p *Process) begun(by *Process, err error) error {
	s, at := p.system, p.slot
	p.ended = nil
	p.box.flush()
	at.mu.Lock()
	if err == nil && at.signals.Load()&sigKilled != 0 {
		err = ErrKilled
	}
	if err != nil {
		at.mu.Unlock()
		if by != nil {
			by.dropLink(p.pid) // who started it is told by the error
			p.dropLink(by.pid)
		}
		p.end(&lane{}, err, false)
	} else {
		waits := at.normal.first != nil || at.signals.Load() != 0
		at.life = idle
		if waits {
			at.life = ready
		}
		at.mu.Unlock()
		if waits {
			s.crew.add(at, workerOf(by))
		}
	}
	p.slot, p.box.owner = nil, nil
	handles.Put(p)
	return err
}

// beginWithin runs Init on a goroutine of its own. When the time is over, the process is ended as soon as Init returns.
func (b *Behavior[S, A]) beginWithin(p, by *Process, args A, o *spawning) error {
	s, pid := p.system, p.pid
	late := make(chan struct{})
	done := make(chan error, 1)
	stop := s.clock.AfterFunc(o.initTimeout, func() { close(late) })
	if by != nil {
		by.leave()
		defer by.enter()
	}
	go func() { done <- b.initialize(p, args) }()
	select {
	case err := <-done:
		stop()
		o.tellReady(pid, err)
		return p.begun(by, err)
	case <-late:
	}
	s.Kill(pid)
	if by != nil {
		by.dropLink(pid) // who started it is told by the error
	}
	go func() { p.begun(nil, <-done) }()
	return problem(ErrInit, s.home.Value().node, "%s has had %s", b.d.name, o.initTimeout)
}
