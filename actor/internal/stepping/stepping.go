// Package stepping lets package actortest make systems that programs cannot make: with a clock that a test moves, and
// without workers. Package actor sets the two functions; their types name its own, which this package cannot import.
package stepping

import "time"

// Clock is the time of a system: that of the machine, or one that a test moves.
type Clock interface {
	Now() time.Time
	// AfterFunc calls fn on a goroutine of its own after d. stop prevents that and reports whether it did.
	AfterFunc(d time.Duration, fn func()) (stop func() bool)
}

// Machine is the clock of the machine.
type Machine struct{}

// Now is time.Now.
func (Machine) Now() time.Time { return time.Now() }

// AfterFunc is time.AfterFunc.
func (Machine) AfterFunc(d time.Duration, fn func()) func() bool {
	return time.AfterFunc(d, fn).Stop
}

// Hooks are callbacks for the code that steps a system; each may be nil. They run on the goroutine that steps or starts a
// process, and must not use the system.
type Hooks[PID any] struct {
	// Started is called when a process was started, before its Init runs.
	Started func(pid, parent PID, behavior string)
	// Ended is called when a process has ended, also one whose Init has failed.
	Ended func(pid PID, behavior string, reason error)
	// Stuck reports that a call of a process cannot be answered, because no process is ready. The call fails with
	// ErrCallTimeout.
	Stuck func(problem string, to PID)
}

var (
	// NewSystem is a func(actor.Config, Clock, *Hooks[actor.PID]) *actor.System. With hooks the system has no workers.
	NewSystem any
	// Step is a func(*actor.System) bool. It lets the process that became ready first handle one message, and reports whether
	// there was one.
	Step any
)
