package actor

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/inspect"
	seam "github.com/sabir-go/sabir/actor/internal/stepping"
)

// System is the processes of a node. It works by itself; given to a node as an option it reaches the systems of the other
// nodes of the cluster:
//
//	system := actor.NewSystem(actor.Config{})
//	node := sabir.NewNode(system.Option(), sabir.Join("tcp://:7700"))
//
// All its methods, and all functions that take it, may be used by many goroutines at once.
type System struct {
	home         unique.Handle[home]
	node         *sabir.Node
	log          *slog.Logger
	clock        seam.Clock
	maxProcesses int
	started      time.Time

	processes       processTable
	scheduler       scheduler
	deadlines       deadlines
	waiters         sync.Map // reflect.Type of an answer to *sync.Pool of *waiter
	refs            atomic.Uint64
	names           sync.Map // string to PID
	aliases         sync.Map // Alias to PID
	remote          network
	events          eventTable
	groups          groupTable
	internalProcess atomic.Int64 // processes of the runtime itself
	stopped         atomic.Bool
	stopEnded       chan struct{} // closed when Stop has ended
	awaitsNode      atomic.Bool   // it was given to a node that has not started
	faults          faults
	unhandled       unhandledLog
	dead            struct{ undelivered, dropped, unhandled atomic.Int64 }
}

// Config has the settings of a system. The zero Config is right for most.
type Config struct {
	Logger       *slog.Logger // Default: slog.Default
	MaxProcesses int          // Default: 16 Mi
	Workers      int          // callbacks that run at once, without those that block. Default: GOMAXPROCS

	// Nodes are the nodes whose processes reach those of this one: by patterns of their proven names, as sabir.Allow has
	// them. With the processes of all other nodes nothing is exchanged, in either direction: no message, call, link, monitor or
	// spawn. The log has each link's verdict as "audit". A node with it does not join a cluster where nodes prove no names. Default: all.
	Nodes []string
}

// NewSystem makes a system, which runs until Stop, or with its node.
func NewSystem(config Config) *System { return newSystem(config, seam.Machine{}, nil) }

// newSystem makes a system with a clock, and without workers if there are hooks.
func newSystem(config Config, clock seam.Clock, hooks *seam.Hooks[PID]) *System {
	s := &System{log: config.Logger, clock: clock, maxProcesses: config.MaxProcesses, stopEnded: make(chan struct{})}
	s.remote.allowed = slices.Clone(config.Nodes)
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.maxProcesses <= 0 {
		s.maxProcesses = 16 << 20
	}
	s.remote.system, s.faults.system = s, s
	s.home = unique.Make(home{node: "local", instance: uint64(time.Now().UnixNano())})
	if s.scheduler.size = config.Workers; s.scheduler.size <= 0 {
		s.scheduler.size = runtime.GOMAXPROCS(0)
	}
	if hooks != nil {
		s.scheduler.size, s.scheduler.stepping = 0, &stepping{system: s, hooks: hooks}
	}
	s.deadlines.clock, s.started = s.clock, s.clock.Now()
	s.scheduler.start(s, s.scheduler.size)
	return s
}

func (s *System) running() bool { return !s.stopped.Load() }

// notRunning is why a system that does not run starts nothing.
func (s *System) notRunning() error {
	if s.awaitsNode.Load() {
		return problem(ErrSystemStopped, "", "it starts with its node, before the services: start processes in an OnStart hook of one, or when Node.Start has returned")
	}
	return ErrSystemStopped
}

// Alive reports whether a process of this node exists. It is false from the moment the process has ended.
func (s *System) Alive(pid PID) bool {
	at := s.processes.find(pid.id)
	if at == nil || pid.home != s.home || pid.id == 0 {
		return false
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.id == pid.id && at.phase != terminated
}

// Count returns the number of processes on this node, without those that the runtime starts for events and groups.
func (s *System) Count() int { return s.processes.count() - int(s.internalProcess.Load()) }

// Stats counts the messages that no process handled, since the start.
func (s *System) Stats() inspect.Stats {
	return inspect.Stats{Undelivered: s.dead.undelivered.Load(), Overflowed: s.dead.dropped.Load(), NotHandled: s.dead.unhandled.Load()}
}

func (s *System) ended(pid PID, reason error) {
	switch reason {
	case error(ErrNormal), error(ErrShutdown), error(ErrKilled):
		return
	}
	s.log.Debug("process ended", "pid", pid.String(), "reason", reason)
}

// Stop ends all processes. Each gets an Exit with ErrShutdown, except for those that a supervisor ends. Processes that have not
// ended when ctx does are killed. A second Stop waits for the first one, which alone reports that. A callback that waits for Stop keeps it
// waiting: call it from a goroutine.
func (s *System) Stop(ctx context.Context) error {
	if s.awaitsNode.Load() {
		return nil // it has not begun
	}
	if !s.stopped.CompareAndSwap(false, true) {
		select {
		case <-s.stopEnded:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer close(s.stopEnded)
	return s.stop(ctx)
}

func (s *System) stop(ctx context.Context) error {
	for pid := range s.all() {
		if !s.leftToParent(pid) {
			s.push(pid, exitEnvelope(Exit{Reason: ErrShutdown}), nil)
		}
		s.endInit(pid)
	}
	if s.scheduler.stepping != nil && s.processes.count() > 0 {
		return s.scheduler.stepping.runToEnd()
	}
	select {
	case <-s.processes.emptied():
	case <-ctx.Done():
		for pid := range s.all() {
			s.Kill(pid)
		}
		s.scheduler.dismiss()
		return ctx.Err()
	}
	s.scheduler.stop()
	return nil
}

// endInit ends the context of a process whose Init still runs: it gets no Exit before that has returned, and who started it waits for it too.
func (s *System) endInit(pid PID) {
	at := s.processes.find(pid.id)
	at.mu.Lock()
	defer at.mu.Unlock()
	if r := at.rareState(); at.id == pid.id && at.phase == initializing && r != nil && r.context != nil {
		r.context.cancel(ErrShutdown)
	}
}

// all yields the PIDs of the processes that exist.
func (s *System) all() func(yield func(PID) bool) {
	return func(yield func(PID) bool) {
		s.processes.mu.Lock()
		used := s.processes.used
		s.processes.mu.Unlock()
		for i := range used {
			at := s.processes.find(uint64(i))
			at.mu.Lock()
			id := at.id
			at.mu.Unlock()
			if id != 0 && !yield(PID{s.home, id}) {
				return
			}
		}
	}
}

func (s *System) nodeName() string { return s.home.Value().node }

func (s *System) process() *Process { return nil }

func (s *System) in() *System { return s }

var _ Sender = (*System)(nil)

// leftToParent reports whether a supervisor of this node will end the process.
func (s *System) leftToParent(pid PID) bool {
	at := s.processes.find(pid.id)
	at.mu.Lock()
	parent, supervised := at.parent, at.supervised && at.id == pid.id
	at.mu.Unlock()
	return supervised && s.Alive(parent)
}

// Waiting returns the number of messages in the mailbox of a process, without the one being handled; 0 if this node has no such
// process. It takes no lock, so it may count for the next process in the same place if one has just ended.
func (s *System) Waiting(pid PID) int {
	at := s.processes.find(pid.id)
	if at == nil || pid.home != s.home || pid.id == 0 {
		return 0
	}
	return int(at.waiting.Load())
}

// Whereis returns the process that has a name on this node.
func (s *System) Whereis(name string) (PID, bool) {
	pid, ok := s.names.Load(name)
	if !ok {
		return PID{}, false
	}
	return pid.(PID), true
}

// Members returns the members of a group that this node knows, first those of this node, in no further order.
func (s *System) Members(group string) []PID {
	t := &s.groups
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.members(group)
}

// Nodes returns the other nodes whose processes can be reached, sorted.
func (s *System) Nodes() []string {
	var nodes []string
	for node := range s.remote.byNode.Range {
		nodes = append(nodes, node.(string))
	}
	slices.Sort(nodes)
	return nodes
}

// Kill is the function Kill, from the system.
func (s *System) Kill(pid PID) error {
	if pid.home != s.home {
		return s.remote.kill(pid)
	}
	at := s.processes.find(pid.id)
	if at == nil {
		return problem(ErrNoProcess, s.home.Value().node, "%s", pid)
	}
	at.mu.Lock()
	if at.id != pid.id || at.phase == terminated {
		at.mu.Unlock()
		return problem(ErrNoProcess, s.home.Value().node, "%s", pid)
	}
	set(&at.signals, sigKilled)
	if r := at.rareState(); r != nil && r.context != nil {
		r.context.cancel(ErrKilled)
	}
	wake := at.wake()
	at.mu.Unlock()
	if wake {
		s.scheduler.add(at, nil)
	}
	return nil
}
