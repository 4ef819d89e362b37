package actor

import (
	"context"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir"
)

// Process is a process as its own callbacks see it: what they send, call, start and ask for comes from here. It is valid
// until the callback returns and is used by the goroutine that the callback runs on; give other goroutines PID, System
// and Context.
type Process struct {
	system    *System
	slot      *slot
	pid       PID
	current   *letter // being handled; nil in Init and Terminate
	box       outbox
	worker    *worker // nil in Init
	recent    [4]typedKind
	place     uint8           // in recent that is replaced next
	ended     error           // why the process is to end after this callback, see Stop
	called    context.Context // what Context has returned in this call; nil for nothing
	release   func()          // of what belongs to this callback, see Context; nil for nothing
	tired     bool            // it is another's turn after this callback
	forwarded bool            // the call that is being handled
}

// PID is the process's own.
func (p *Process) PID() PID { return p.pid }

// System is the one that the process lives in.
func (p *Process) System() *System { return p.system }

// Parent is who started the process; the zero PID for a system.
func (p *Process) Parent() PID { return p.slot.parent }

// Sender is who sent the message or call that is being handled; the zero PID where it was not a process.
func (p *Process) Sender() PID {
	if p.current == nil {
		return PID{}
	}
	return p.current.from
}

// Behavior is the name of the process's behaviour.
func (p *Process) Behavior() string { return p.slot.behavior.name }

// Log is the system's logger with the process's PID and behaviour, from the level on that LogLevel has set.
func (p *Process) Log() *slog.Logger {
	return p.slot.heritage.logger(p.system.log).With("pid", p.pid.String(), "behavior", p.slot.behavior.name)
}

// Stop ends the process after this callback, with the reason; nil is ErrNormal. Terminate is called then.
func (p *Process) Stop(reason error) {
	if reason == nil {
		reason = ErrNormal
	}
	p.ended = reason
}

// Node is the node that the system runs on, for calls of services; nil where it runs on none.
//
//	user, err := sabir.Call[User](p.Context(), p.Node(), "users.get", id)
func (p *Process) Node() *sabir.Node { return p.system.node }

func (p *Process) in() *System       { return p.system }
func (p *Process) process() *Process { return p }

// Now is the time by the system's clock.
func (p *Process) Now() time.Time { return p.system.clock.Now() }

var _ Sender = (*Process)(nil)

// Sender is who sends and calls: a *Process in its callbacks, or a *System anywhere else.
type Sender interface {
	in() *System
	process() *Process // nil for a system
}

// leave says that the callback is going to wait, and enter that it is over: meanwhile another worker takes its place.
func (p *Process) leave() {
	if p.worker != nil {
		p.worker.crew.leave(p.worker)
	}
}

func (p *Process) enter() {
	if p.worker != nil {
		p.worker.crew.enter(p.worker)
	}
}
