package actor

import (
	"context"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/internal/sender"
)

// Process is a process as its own callbacks see it: what they send, call, start and ask for comes from here. It is valid
// until the callback returns and is used by the goroutine that the callback runs on; give other goroutines PID, System
// and Context.
type Process struct {
	system     *System
	entry      *entry
	pid        PID
	current    *envelope // being handled; nil in Init and Terminate
	box        outbox
	worker     *worker // nil while Init runs
	recent     [4]typedKind
	recentNext uint8           // index in recent to replace next
	ended      error           // reason to end after this callback, see Stop
	called     context.Context // what Context has returned for this message; nil if it was not called
	release    func()          // ends called; nil if there is nothing to release
	tired      bool            // end the turn after this callback
	forwarded  bool            // the call that is being handled
	exit       error           // error of a callback that ended its goroutine; nil if none did
	ending     ending          // how far end has come
	reason     error           // with terminating, why
}

// ending is the progress of Process.end.
type ending uint8

const (
	notEnding   ending = iota
	terminating        // Terminate runs
	ended              // the entry may belong to another process
)

// PID returns the PID of this process.
func (p *Process) PID() PID { return p.pid }

// System returns the system that runs this process.
func (p *Process) System() *System { return p.system }

// Parent returns the process that started this one; the zero PID if a system did.
func (p *Process) Parent() PID { return p.entry.parent }

// Sender returns the process that sent the message or call being handled; the zero PID if no process did.
func (p *Process) Sender() PID {
	if p.current == nil {
		return PID{}
	}
	return p.current.from
}

// Behavior returns the name of the process's behaviour.
func (p *Process) Behavior() string { return p.entry.behavior.name }

// Log returns the system's logger with the PID and the behaviour of the process. LogLevel sets its level.
func (p *Process) Log() *slog.Logger {
	return p.entry.settings.logger(p.system.log).With("pid", p.pid.String(), "behavior", p.entry.behavior.name)
}

// Stop ends the process after this callback, for a reason; nil is ErrNormal. Terminate is called then.
func (p *Process) Stop(reason error) {
	if reason == nil {
		reason = ErrNormal
	}
	p.ended = reason
}

// Node returns the node of the system, for calls of services; nil if there is none.
//
//	user, err := sabir.Call[User](p.Context(), p.Node(), "users.get", id)
func (p *Process) Node() *sabir.Node { return p.system.node }

func (p *Process) in() *System       { return p.system }
func (p *Process) process() *Process { return p }

// Now returns the time of the system's clock.
func (p *Process) Now() time.Time { return p.system.clock.Now() }

var _ Sender = (*Process)(nil)

// Sender is the origin of messages and calls: a *Process in its own callbacks, a *System anywhere else.
type Sender interface {
	in() *System
	process() *Process // nil for a system
}

func init() { sender.System = func(from Sender) *System { return from.in() } }

// beginBlocking announces that the callback is about to wait, so that another worker takes over until endBlocking. Without
// them, a few waiting callbacks would stop all processes.
func (p *Process) beginBlocking() {
	if p.worker != nil {
		p.worker.scheduler.beginBlocking(p.worker)
	}
}

func (p *Process) endBlocking() {
	if p.worker != nil {
		p.worker.scheduler.endBlocking(p.worker)
	}
}

// SenderIsRemote reports whether the message or call being handled came from another node, even if its sender is not a process.
func (p *Process) SenderIsRemote() bool { return p.current != nil && p.current.remote }
