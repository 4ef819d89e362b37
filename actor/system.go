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
)

// System is the processes of a node. It works by itself; given to a node as an option it reaches the systems of the other
// nodes of the cluster:
//
//	system := actor.NewSystem()
//	node := sabir.NewNode(system.Option(), sabir.Join("tcp://:7700"))
//
// All its methods, and all functions that take it, may be used by many goroutines at once.
type System struct {
	home         unique.Handle[home]
	node         *sabir.Node
	log          *slog.Logger
	clock        Clock
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
	faults          faults
	unhandled       unhandledLog
	dead            struct{ undelivered, dropped, unhandled atomic.Int64 }
}

// DefaultMaxProcesses bounds the processes of a system without the option MaxProcesses.
const DefaultMaxProcesses = 16 << 20

// Option is an option of NewSystem.
type Option func(*System)

// Logger sets the logger of the system. Default: slog.Default.
func Logger(log *slog.Logger) Option { return func(s *System) { s.log = log } }

// MaxProcesses bounds the number of processes. Default: DefaultMaxProcesses.
func MaxProcesses(n int) Option { return func(s *System) { s.maxProcesses = n } }

// Workers sets how many callbacks run at once, without those that block. Default: GOMAXPROCS.
func Workers(n int) Option { return func(s *System) { s.scheduler.size = max(n, 1) } }

// WithClock gives the system another clock, for tests.
func WithClock(c Clock) Option { return func(s *System) { s.clock = c } }

// NewSystem makes a system, which runs until Stop, or with its node.
func NewSystem(options ...Option) *System {
	s := &System{log: slog.Default(), clock: machineClock{}, maxProcesses: DefaultMaxProcesses}
	s.remote.system, s.faults.system = s, s
	s.home = unique.Make(home{node: "local", instance: uint64(time.Now().UnixNano())})
	s.scheduler.size = runtime.GOMAXPROCS(0)
	for _, option := range options {
		option(s)
	}
	s.deadlines.clock, s.started = s.clock, s.clock.Now()
	if s.scheduler.stepping != nil {
		s.scheduler.size = 0
	}
	s.scheduler.start(s, s.scheduler.size)
	return s
}

func (s *System) running() bool { return !s.stopped.Load() }

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

// Lost counts messages that no process handled.
type Lost struct {
	Undelivered int64 `json:"undelivered"` // to processes that had ended, or ended before they handled them
	Overflowed  int64 `json:"overflowed"`  // to full mailboxes
	NotHandled  int64 `json:"notHandled"`  // of a type that the process has no handler for
}

// Lost counts messages since the start.
func (s *System) Lost() Lost {
	return Lost{s.dead.undelivered.Load(), s.dead.dropped.Load(), s.dead.unhandled.Load()}
}

func (s *System) ended(pid PID, reason error) {
	switch reason {
	case error(ErrNormal), error(ErrShutdown), error(ErrKilled):
		return
	}
	s.log.Debug("process ended", "pid", pid.String(), "reason", reason)
}

// Stop ends all processes. Each gets an Exit with ErrShutdown, except for those that a supervisor ends. Processes that have not
// ended when ctx does are killed.
func (s *System) Stop(ctx context.Context) error {
	if !s.stopped.CompareAndSwap(false, true) {
		return nil
	}
	for pid := range s.all() {
		if !s.leftToParent(pid) {
			s.push(pid, exitEnvelope(Exit{Reason: ErrShutdown}), nil)
		}
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
