// Package meta connects processes with what blocks: sockets, commands of the operating system, web requests.
//
// A meta process is a process with a goroutine of its own, which reads, waits and sends what it finds to other processes as
// messages. [Start] starts one; [ListenTCP], [DialTCP], [ListenUDP] and [Command] are ready-made, and [Handler] answers web
// requests by calls.
//
// The process that starts a meta process owns it: when the owner ends, for whatever reason, the meta process does, and with it
// the socket or command. What a system starts ends with the system.
package meta

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

// ErrConnectionClosed: the connection of a process has ended. It is the exit reason of that process, around the network's error if
// there is one.
var ErrConnectionClosed = sabir.NewError(sabir.CodeUnavailable, "ConnectionClosed", "the connection has ended").AsRetryable()

// Meta is a meta process, for its goroutine.
type Meta struct {
	System *actor.System
	PID    actor.PID
	Owner  actor.PID // zero where a system started it

	log *slog.Logger
}

// Device is the work of a meta process.
type Device[In any] struct {
	// Run does the blocking work, on a goroutine of its own. It must return soon after ctx has ended, which happens with the
	// process. When it returns, the process ends: with its error, or actor.ErrNormal where that is nil.
	Run func(ctx context.Context, m Meta) error
	// Handle gets the messages that are sent to the process; nil for none. An error ends the process.
	Handle func(p *actor.Process, in In) error

	down func(down actor.Down) // of what the process monitors beside its owner
}

// Start starts a meta process. name is that of its behaviour, for logs and lists.
func Start[In any](from actor.Sender, name string, d Device[In], spawn ...actor.SpawnConfig) (actor.PID, error) {
	if d.Run == nil {
		return actor.PID{}, errors.New("meta: a device without Run has nothing to do")
	}
	b := actor.Define(name, (*device[In]).Init, actor.OnMessage((*device[In]).In), actor.OnMessage((*device[In]).Down), actor.OnMessage((*device[In]).Over))
	return b.Spec(beginning[In]{d, owner(from)}, spawn...).Start(from)
}

// beginning is the argument of a device's process.
type beginning[In any] struct {
	device Device[In]
	owner  actor.PID
}

type device[In any] struct {
	Device[In]
	owner actor.MonitorRef
}

// over is the message of the goroutine that it has ended.
type over struct{ reason error }

func (d *device[In]) Init(p *actor.Process, b beginning[In]) error {
	d.Device = b.device
	if !b.owner.Zero() {
		d.owner = p.Monitor(b.owner)
	}
	m := Meta{p.System(), p.PID(), b.owner, p.Log()}
	ctx := p.Context()
	go func() {
		err := guarded(func() error { return b.device.Run(ctx, m) })
		if err == nil {
			err = actor.ErrNormal
		}
		// Unless it has ended already: what ends the goroutine, usually. Its mailbox may be full.
		_ = Deliver(context.Background(), m.System, m.PID, math.MaxInt, over{err})
	}()
	return nil
}

// guarded makes an error of a panic.
func guarded(run func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%w: in the goroutine of a meta process: %v\n%s", sabir.ErrPanic, value, debug.Stack())
		}
	}()
	return run()
}

func (d *device[In]) In(p *actor.Process, in In) error {
	if d.Handle == nil {
		return nil
	}
	return d.Handle(p, in)
}

func (d *device[In]) Down(_ *actor.Process, down actor.Down) error {
	if down.Ref == d.owner {
		return actor.ErrShutdown
	}
	if d.down != nil {
		d.down(down)
	}
	return nil
}

func (d *device[In]) Over(_ *actor.Process, o over) error { return o.reason }

// defaultWindow bounds the messages that may wait for a process before a meta process stops reading for it.
const defaultWindow = 256

// Deliver sends a message to a process as soon as fewer than window messages wait for it, and so keeps the reader from
// reading more than is handled. It looks again every millisecond, until ctx ends. What waits on other nodes it does not know.
func Deliver[M any](ctx context.Context, s *actor.System, to actor.PID, window int, message M) error {
	var look *time.Ticker
	for {
		if s.Waiting(to) < window {
			err := actor.Send(s, to, message)
			if !errors.Is(err, actor.ErrMailboxFull) {
				return err
			}
		}
		if look == nil {
			look = time.NewTicker(time.Millisecond)
			defer look.Stop()
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func owner(from actor.Sender) actor.PID {
	if p, ok := from.(*actor.Process); ok {
		return p.PID()
	}
	return actor.PID{}
}

func systemOf(from actor.Sender) *actor.System {
	if p, ok := from.(*actor.Process); ok {
		return p.System()
	}
	return from.(*actor.System)
}
