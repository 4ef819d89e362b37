package actortest

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/inspect"
	"github.com/sabir-go/sabir/actor/internal/stepping"
)

// maxSteps bounds the messages that one Run handles: two processes that send to each other for ever end there.
const maxSteps = 200_000

// Kit is a system of processes that the test runs. It ends with the test.
type Kit struct {
	t      testing.TB
	system *actor.System
	clock  clock
	ends   map[actor.PID]error
	starts []Start
	silent []*Probe
}

// Start is a process that was started in a kit.
type Start struct {
	PID, Parent actor.PID // the zero Parent: the test started it
	Behavior    string
}

// New makes a kit. Its clock stands at the beginning of the year 2000, UTC. Its log goes to the test's.
func New(t testing.TB) *Kit {
	k := &Kit{t: t, ends: map[actor.PID]error{}}
	k.clock.now = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	k.system = newSystem(actor.Config{Logger: log}, &k.clock, &stepping.Hooks[actor.PID]{Started: k.started, Ended: k.ended, Stuck: k.stuck})
	t.Cleanup(k.end)
	return k
}

func (k *Kit) started(pid, parent actor.PID, behavior string) {
	if behavior != probes.Name() {
		k.starts = append(k.starts, Start{pid, parent, behavior})
	}
}

func (k *Kit) ended(pid actor.PID, _ string, reason error) { k.ends[pid] = reason }

func (k *Kit) stuck(problem string, to actor.PID) {
	if !slices.ContainsFunc(k.silent, func(p *Probe) bool { return p.pid == to }) {
		k.t.Errorf("actortest: %s", problem)
	}
}

// end kills the processes that are still running, so that nothing the test sent is handled after it.
func (k *Kit) end() {
	for pid := range k.system.Processes() {
		k.system.Kill(pid)
	}
	if err := k.system.Stop(context.Background()); err != nil {
		k.t.Errorf("actortest: %v", err)
	}
}

// System is the kit's system, for what the kit has no function for. What is sent with it is handled by Step, Run or Advance.
func (k *Kit) System() *actor.System { return k.system }

// Step lets the process that became ready first handle one message, and reports whether there was one.
func (k *Kit) Step() bool { return step(k.system) }

// Run steps until no process is ready, and returns how many steps that took. The test fails where there is no end.
func (k *Kit) Run() int {
	k.t.Helper()
	for steps := range maxSteps {
		if !step(k.system) {
			return steps
		}
	}
	k.t.Fatalf("actortest: there is still something to do after %d messages", maxSteps)
	return maxSteps
}

// Now is the time by the kit's clock.
func (k *Kit) Now() time.Time { return k.clock.Now() }

// Advance runs what is ready, and then moves the clock: what becomes due on the way happens in its order, each thing at its
// own time, and what it makes ready is run before the next.
func (k *Kit) Advance(d time.Duration) {
	k.t.Helper()
	k.Run()
	for end := k.clock.now.Add(d); ; {
		due, ok := k.clock.next(end)
		if !ok {
			k.clock.now = end
			return
		}
		due()
		k.Run()
	}
}

// Timers returns how many SendAfter messages and other timers are still to come.
func (k *Kit) Timers() int { return len(k.clock.timers) }

// Spawn starts a process, runs its Init and what that makes ready. The test ends where Init fails: for one that may, there is
// actor.Spawn with [Kit.System].
func Spawn[S, A any](k *Kit, b *actor.Behavior[S, A], args A, config ...actor.SpawnConfig) actor.PID {
	k.t.Helper()
	pid, err := actor.Spawn(k.system, b, args, config...)
	k.Run()
	if err != nil {
		k.t.Fatalf("actortest: %s did not start: %v", b.Name(), err)
	}
	return pid.PID()
}

// Send sends a message and runs until nothing is ready. From a Kit it has no sender; from a Probe, the process sees that as the sender. The
// test ends where it cannot be delivered. To send without running, for [Kit.Step], there is actor.Send with [Kit.System].
func Send[M any, A actor.Address, F *Kit | *Probe](from F, to A, message M) {
	switch from := any(from).(type) {
	case *Kit:
		from.t.Helper()
		if err := actor.Send(from.system, to, message); err != nil {
			from.t.Fatalf("actortest: %T to %v: %v", message, to, err)
		}
		from.Run()
	case *Probe:
		from.k.t.Helper()
		from.Do(func(p *actor.Process) error { return actor.Send(p, to, message) })
	}
}

// Call calls a process, without a sender, and runs until nothing is ready. Without an answer it fails with
// actor.ErrCallTimeout at once, regardless of the clock, and the test fails.
func Call[Out, In any, A actor.Address](k *Kit, to A, in In) (Out, error) {
	k.t.Helper()
	out, err := actor.Call[Out](context.Background(), k.system, to, in)
	k.Run()
	return out, err
}

// Starts is the processes that were started, probes left out, in the order in which they were, also those that have ended.
func (k *Kit) Starts() []Start { return slices.Clone(k.starts) }

// Children returns the running children of a process in the order in which it started them.
func (k *Kit) Children(of actor.PID) []actor.PID {
	var list []actor.PID
	for _, s := range k.starts {
		if s.Parent == of && k.system.Alive(s.PID) {
			list = append(list, s.PID)
		}
	}
	return list
}

// Ended reports whether a process has ended, and why.
func (k *Kit) Ended(pid actor.PID) (reason error, ended bool) {
	reason, ended = k.ends[pid]
	return reason, ended
}

// Info describes a process: its links, monitors, waiting messages. The test ends if the process is not running.
func (k *Kit) Info(pid actor.PID) inspect.Info {
	k.t.Helper()
	info, err := k.system.Info(pid)
	if err != nil {
		k.t.Fatalf("actortest: %v", err)
	}
	return info
}

// Inspect returns the result of the Inspect method of a process's state, which must be a V.
func Inspect[V any](k *Kit, pid actor.PID) V {
	k.t.Helper()
	got, err := k.system.Inspect(context.Background(), pid)
	if err != nil {
		k.t.Fatalf("actortest: %v", err)
	}
	v, ok := got.(V)
	if !ok {
		k.t.Fatalf("actortest: Inspect of %s returned a %T, not a %T", pid, got, v)
	}
	return v
}
