package actor

import (
	"context"
	"log/slog"
	"runtime"
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
//	node := sabir.NewNode(system.Extension(), sabir.Join("tcp://:7700"))
//
// All its methods, and all functions that take it, may be used by many goroutines at once.
type System struct {
	home         unique.Handle[home]
	node         *sabir.Node
	log          *slog.Logger
	clock        Clock
	maxProcesses int
	begun        time.Time

	table     table
	crew      crew
	deadlines deadlines
	waiters   sync.Map // reflect.Type of an answer to *sync.Pool of *waiter
	refs      atomic.Uint64
	names     sync.Map // string to PID
	aliases   sync.Map // Alias to PID
	away      network
	events    eventTable
	groups    groupTable
	unlisted  atomic.Int64 // processes of the runtime itself
	stopped   atomic.Bool
	dead      struct{ letters, dropped, unhandled atomic.Int64 }
}

// DefaultMaxProcesses is how many processes a system has at most, where MaxProcesses does not say otherwise.
const DefaultMaxProcesses = 16 << 20

// Option is an option of NewSystem.
type Option func(*System)

// Logger is where the system logs; slog.Default without it.
func Logger(log *slog.Logger) Option { return func(s *System) { s.log = log } }

// MaxProcesses bounds how many processes live at once. DefaultMaxProcesses without it.
func MaxProcesses(n int) Option { return func(s *System) { s.maxProcesses = n } }

// Workers is how many callbacks run at once, those that wait not counted; as many as GOMAXPROCS without it.
func Workers(n int) Option { return func(s *System) { s.crew.size = max(n, 1) } }

// WithClock gives the system another clock, for tests.
func WithClock(c Clock) Option { return func(s *System) { s.clock = c } }

// NewSystem makes a system, which runs until Stop, or with its node.
func NewSystem(options ...Option) *System {
	s := &System{log: slog.Default(), clock: machineClock{}, maxProcesses: DefaultMaxProcesses}
	s.home = unique.Make(home{node: "local", instance: uint64(time.Now().UnixNano())})
	s.crew.size = runtime.GOMAXPROCS(0)
	for _, option := range options {
		option(s)
	}
	s.deadlines.clock, s.begun = s.clock, s.clock.Now()
	if s.crew.stepping != nil {
		s.crew.size = 0
	}
	s.crew.start(s, s.crew.size)
	return s
}

func (s *System) running() bool { return !s.stopped.Load() }

// Alive tells whether a process of this node has not ended.
func (s *System) Alive(pid PID) bool {
	at := s.table.find(pid.id)
	if at == nil || pid.home != s.home || pid.id == 0 {
		return false
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.id == pid.id && at.life != dying
}

// Count is how many processes live on this node, without those of the runtime itself, as it has for events and groups.
func (s *System) Count() int { return s.table.count() - int(s.unlisted.Load()) }

// Lost is what became of messages that no process handled.
type Lost struct {
	Undelivered int64 `json:"undelivered"` // to processes that had ended, or ended before they handled them
	Overflowed  int64 `json:"overflowed"`  // to full mailboxes
	NotHandled  int64 `json:"notHandled"`  // of a type that the process has no handler for
}

// Lost counts messages since the start.
func (s *System) Lost() Lost {
	return Lost{s.dead.letters.Load(), s.dead.dropped.Load(), s.dead.unhandled.Load()}
}

func (s *System) notHandled(pid PID, l *letter) {
	if c, ok := l.body.(asked); ok {
		c.asks().fail(problem(ErrNotHandled, s.home.Value().node, "%s takes no calls with %s", pid, l.body.kind().name))
		return
	}
	s.dead.unhandled.Add(int64(l.count - l.at))
	s.log.Debug("message not handled", "pid", pid.String(), "type", l.body.kind().name, "from", l.from.String())
}

func (s *System) ended(pid PID, reason error) {
	switch reason {
	case error(ErrNormal), error(ErrShutdown), error(ErrKilled):
		return
	}
	s.log.Debug("process ended", "pid", pid.String(), "reason", reason)
}

// Stop ends all processes, in no order but that which supervisors and applications keep: everybody gets the Exit that Stop
// sends, and who has not ended when ctx does is killed.
func (s *System) Stop(ctx context.Context) error {
	if !s.stopped.CompareAndSwap(false, true) {
		return nil
	}
	for pid := range s.all() {
		if !s.leftToParent(pid) {
			s.push(pid, exitLetter(Exit{Reason: ErrShutdown}), nil)
		}
	}
	if s.crew.stepping != nil && s.table.count() > 0 {
		return s.stepToEnd()
	}
	select {
	case <-s.table.emptied():
	case <-ctx.Done():
		for pid := range s.all() {
			s.Kill(pid)
		}
		s.crew.dismiss()
		return ctx.Err()
	}
	s.crew.stop()
	return nil
}

// all is the processes that live.
func (s *System) all() func(yield func(PID) bool) {
	return func(yield func(PID) bool) {
		s.table.mu.Lock()
		used := s.table.used
		s.table.mu.Unlock()
		for i := range used {
			at := s.table.find(uint64(i))
			at.mu.Lock()
			id := at.id
			at.mu.Unlock()
			if id != 0 && !yield(PID{s.home, id}) {
				return
			}
		}
	}
}

func (s *System) homeName() string { return s.home.Value().node }

func (s *System) process() *Process { return nil }

func (s *System) in() *System { return s }

var _ Sender = (*System)(nil)
