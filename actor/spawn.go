package actor

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// SpawnConfig holds the settings of a process that is started. Where there are several, as with [Spec.With], what a later one sets counts, and
// one of its fields that is zero leaves the setting as it was; what they let it inherit adds up.
type SpawnConfig struct {
	// Name registers the process under a name on its node before Init runs. ErrNameTaken where another has it.
	Name string
	// Node starts the process on another node of the cluster, which must permit it; see Behavior.AllowRemoteSpawn. Default: this one.
	Node string
	// Linked links the process with the one that starts it, before Init runs. A system cannot be linked with.
	Linked bool
	// Supervised starts a process for one that supervises it: linked with it before Init runs, a link that the process cannot
	// remove; and System.Stop leaves it to the supervisor to end it, as long as that runs. A process on another node could unlink
	// itself, so it is monitored too. A system cannot supervise.
	Supervised bool
	// Mailbox bounds how many messages wait. Default: 1 Mi.
	Mailbox int
	// Overflow decides what happens to one too many. Default: Reject.
	Overflow Overflow
	// InitTimeout bounds how long Init may take: then the process is killed and Spawn fails with InitTimeout. By default, Init runs
	// on the goroutine of Spawn and has as long as it needs.
	InitTimeout time.Duration
	// LogLevel is the level from which on Process.Log logs in the process and in all that it starts on this node, whatever the
	// level of the system's logger is. With a *slog.LevelVar it can be changed for all of them at any time. Default: that of the process
	// which starts it.
	LogLevel slog.Leveler
	// Inherit gives the process values which it and all that it starts on this node find by Value, and those that they start.
	// The keys are compared like those of a context: types of the package's own.
	Inherit map[any]any
}

// take adds the settings to those before them.
func (o *spawning) take(c *SpawnConfig) {
	o.name, o.node, o.initTimeout = cmp.Or(c.Name, o.name), cmp.Or(c.Node, o.node), cmp.Or(c.InitTimeout, o.initTimeout)
	o.linked = o.linked || c.Linked || c.Supervised
	o.monitored, o.supervised = o.monitored || c.Supervised, o.supervised || c.Supervised
	o.bound, o.rule = cmp.Or(c.Mailbox, o.bound), cmp.Or(c.Overflow, o.rule)
	if c.LogLevel != nil {
		o.settings = &settings{level: c.LogLevel, rest: o.settings}
	}
	for key, value := range c.Inherit {
		o.settings = &settings{key: key, value: value, rest: o.settings}
	}
}

// spawning holds what a process is started with.
type spawning struct {
	name        string
	node        string
	linked      bool
	monitored   bool
	supervised  bool
	settings    *settings
	bound       int
	rule        Overflow
	initTimeout time.Duration
	ref         MonitorRef // with monitored, what Spawn found
	parent      PID        // of a process that another node starts here
	ready       func(PID)  // called after Init, before others can learn of the process; may be nil
}

// Spawn starts a process, passes args to its Init, and returns when Init has: with a reference to the process, or with the
// error of Init.
func Spawn[S, A any](from Sender, b *Behavior[S, A], args A, config ...SpawnConfig) (Ref[S], error) {
	pid, err := startProcess(from, b, args, config)
	return Ref[S]{pid}, err
}

func startProcess[S, A any](from Sender, b *Behavior[S, A], args A, config []SpawnConfig) (PID, error) {
	s, o := from.in(), spawning{bound: defaultMailbox}
	for i := range config {
		o.take(&config[i])
	}
	if o.node != "" && o.node != s.home.Value().node {
		return spawnRemote(s, from.process(), b, args, o)
	}
	pid, err := b.spawn(s, from.process(), args, &o)
	if err == nil {
		return pid, nil
	}
	if o.ref != 0 {
		from.process().Demonitor(o.ref)
	}
	return PID{}, err
}

// Spec describes a process that can be started, and started again. Supervisors and pools take Specs.
type Spec struct {
	behavior string
	start    func(from Sender, config []SpawnConfig) (PID, error)
}

// Spec is the behaviour with what it is started with, to be started by another process.
func (b *Behavior[S, A]) Spec(args A, config ...SpawnConfig) Spec {
	return Spec{b.d.name, func(from Sender, more []SpawnConfig) (PID, error) {
		return startProcess(from, b, args, append(slices.Clip(config), more...))
	}}
}

// Behavior is the name of what is started.
func (s Spec) Behavior() string { return s.behavior }

// Start is Spawn of the process, with more settings.
func (s Spec) Start(from Sender, config ...SpawnConfig) (PID, error) { return s.start(from, config) }

// processPool holds Process values for callbacks that no worker runs: Init.
var processPool = sync.Pool{New: func() any { return new(Process) }}

// spawn starts a process on this node. by is nil if a system starts it.
func (b *Behavior[S, A]) spawn(s *System, by *Process, args A, o *spawning) (PID, error) {
	p, err := s.enter(by, &b.d, new(S), o)
	if p == nil {
		return PID{}, err
	}
	pid := p.pid
	if err == nil && b.init != nil {
		if (o.initTimeout > 0 || o.supervised && by != nil) && s.scheduler.stepping == nil {
			return pid, b.initInGoroutine(p, by, args, o)
		}
		err = b.initialize(p, args, func(err error) { _ = p.started(by, err) })
	}
	o.notifyReady(pid, err)
	return pid, p.started(by, err)
}

// enter makes a process, with its state, up to where Init is to run; where an error comes with it, Init is not to run. It is the part of
// spawn that a program has once, and not for each behaviour.
func (s *System) enter(by *Process, d *definition, state any, o *spawning) (*Process, error) {
	if !s.running() {
		return nil, s.notRunning()
	}
	at := s.processes.take(s.maxProcesses)
	if at == nil {
		return nil, problem(ErrTooMany, s.home.Value().node, "%d", s.maxProcesses)
	}
	parent := o.parent
	if by != nil {
		parent = by.pid
	}
	started := s.clock.Now().Sub(s.started)
	at.mu.Lock()
	at.generation++
	at.id = uint64(at.generation)<<32 | uint64(at.index)
	at.phase, at.rule, at.bound = initializing, o.rule, int32(min(max(o.bound, 1), 1<<30))
	at.behavior, at.parent, at.state = d, parent, state
	if d.internalProcess {
		s.internalProcess.Add(1)
	}
	at.supervised, at.settings = o.supervised && by != nil, inheritSettings(by, o.settings)
	at.started = started
	pid := PID{s.home, at.id}
	at.mu.Unlock()
	if st := s.scheduler.stepping; st != nil && st.hooks.Started != nil {
		st.hooks.Started(pid, parent, d.name)
	}

	p := processPool.Get().(*Process)
	p.system, p.entry, p.pid, p.worker = s, at, pid, nil
	p.box.owner = p
	return p, o.prepare(s, p, by)
}

// prepare registers, links and monitors the process before Init runs.
func (o *spawning) prepare(s *System, p, by *Process) error {
	if !s.running() { // Stop may not have seen it
		return s.notRunning()
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
	if o.monitored && by != nil && !o.supervised { // of one that is supervised, the link reports it
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

// initialize runs Init. If Init ends its goroutine, initialize does not return and exited is called instead.
func (b *Behavior[S, A]) initialize(p *Process, args A, exited func(error)) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if value := recover(); value != nil {
			err = p.panicked("Init", value)
			return
		}
		err = p.failed("Init", nil)
		p.exit = nil
		exited(err)
	}()
	if err = b.init(p.entry.state.(*S), p, args); err == nil {
		err = p.ended
	}
	returned = true
	return err
}

// started puts the process to work after Init, or ends it if that failed. It gives p back to its pool.
func (p *Process) started(by *Process, err error) error {
	s, at := p.system, p.entry
	p.ended = nil
	p.box.flush()
	at.mu.Lock()
	if err == nil && at.signals.Load()&sigKilled != 0 {
		err = ErrKilled
	}
	if err != nil {
		at.mu.Unlock()
		if by != nil {
			by.dropLink(p.pid) // the error reports it to the process that started it
			p.dropLink(by.pid)
		}
		p.end(&queue{}, err, false)
	} else {
		waits := at.normal.first != nil || at.signals.Load() != 0
		at.phase = idle
		if waits {
			at.phase = ready
		}
		at.mu.Unlock()
		if waits {
			s.scheduler.add(at, workerOf(by))
		}
	}
	p.entry, p.box.owner = nil, nil
	processPool.Put(p)
	return err
}

// initInGoroutine runs Init on a goroutine of its own. That is needed for InitTimeout, and for a child of a supervisor, which
// must survive an Init that ends its goroutine. When the time is over, Spawn returns, and the process ends as soon as Init
// does.
//
// It must not be inlined: large arguments move to the heap here, not in every spawn.
//
//go:noinline
func (b *Behavior[S, A]) initInGoroutine(p, by *Process, args A, o *spawning) error {
	return p.initInGoroutine(by, &b.d, func(ended func(error)) error { return b.initialize(p, args, ended) }, o)
}

func (p *Process) initInGoroutine(by *Process, d *definition, initialize func(ended func(error)) error, o *spawning) error {
	s, pid := p.system, p.pid
	late := make(chan struct{})
	done := make(chan error, 1)
	stop := func() bool { return true }
	if o.initTimeout > 0 {
		stop = s.clock.AfterFunc(o.initTimeout, func() { close(late) })
	}
	if by != nil {
		by.beginBlocking()
		defer by.endBlocking()
	}
	go func() { done <- initialize(func(err error) { done <- err }) }()
	select {
	case err := <-done:
		stop()
		o.notifyReady(pid, err)
		return p.started(by, err)
	case <-late:
	}
	s.Kill(pid)
	if by != nil {
		by.dropLink(pid) // the error reports it to the process that started it
	}
	go func() { p.started(nil, <-done) }()
	return problem(errInitTimeout, s.home.Value().node, "%s has had %s", d.name, o.initTimeout)
}

// With returns the Spec of the same process with more settings, which come after its own.
func (s Spec) With(config ...SpawnConfig) Spec {
	return Spec{s.behavior, func(from Sender, more []SpawnConfig) (PID, error) {
		return s.start(from, append(slices.Clip(config), more...))
	}}
}

// Zero reports whether the Spec is the zero value, which cannot be started.
func (s Spec) Zero() bool { return s.start == nil }
