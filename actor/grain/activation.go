package grain

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

// activation is an active grain: its entry in the directory, and what its process knows of itself.
//
// pins counts the messages that lie in its mailbox, are being put there or are being handled. With the bit closing no more
// are put there; what comes then waits in parked until the process has ended. The caller that brings pins to closing alone
// ensures that the process ends: so none is lost between an activation and the next.
type activation struct {
	grains  *Grains
	kind    *kind
	address Address
	pid     actor.PID
	pins    atomic.Int64
	used    atomic.Uint32 // the look at which it was used last

	parked []parked // guarded by the shard's mu

	// The process's own.
	revision uint64
	failure  error // what those get that still wait; set with closing
	spoiled  error // why the state is to be loaded again
	ready    bool  // the state is loaded
	wrote    bool  // the handler that runs has saved
	resting  bool  // it is to rest as soon as nothing waits
	ended    bool
}

const closing = 1 << 62

// pinned is the result of pin.
type pinned uint8

const (
	pinOpen    pinned = iota // the caller may put a message into the mailbox, and must, or unpin
	pinClosing               // the activation is ending
	pinFull                  // as many messages wait as may
)

func (a *activation) pin() pinned {
	n := a.pins.Add(1)
	switch {
	case n > closing:
		a.unpin()
		return pinClosing
	case n > int64(a.grains.mailbox):
		a.unpin()
		return pinFull
	}
	return pinOpen
}

func (a *activation) unpin() {
	if a.pins.Add(-1) == closing {
		// Nothing is sent where the process has ended already, which does no harm.
		_ = actor.SendPriority(a.grains.system, a.pid, actor.PrioritySystem, closeNow{})
	}
}

// The messages that this package sends to the process.
type (
	restIdle struct{} // to rest, if it is still idle
	evict    struct{} // to end: it belongs to another node
	closeNow struct{} // to look whether it is time to end
)

// close lets no more messages in. Callers that wait in the mailbox get err.
func (a *activation) close(err error) {
	a.failure = err
	a.pins.Or(closing)
}

// turn is one handler's turn. It loads the state where that has not been done, and undoes what a failure has left.
func (a *activation) turn(s stateful, p *actor.Process, run func() error) error {
	if a.failure != nil {
		return a.failure
	}
	a.wrote = false
	if !a.ready {
		if err := a.load(s, p); err != nil {
			a.forget(s)
			a.close(err)
			return err
		}
		a.ready = true
	}
	err := a.guard(p, "a handler", run)
	if a.spoiled == nil {
		return handedOut(err, a.wrote)
	}
	if err == nil || !errors.Is(err, a.spoiled) {
		err = a.spoiled
	}
	a.forget(s)
	if !a.grains.view.Load().mine(a.address) {
		a.close(errGrainMoved)
	}
	return handedOut(err, a.wrote)
}

// forget makes the grain as new.
func (a *activation) forget(s stateful) {
	a.kind.zero(s)
	s.attach(a)
	a.ready, a.spoiled, a.revision = false, nil, 0
}

// guard runs a callback; a panic spoils the state, and is the error.
func (a *activation) guard(p *actor.Process, what string, run func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = a.spoil(problem(sabir.ErrPanic, a.grains.self, "%s of grain %s: %v", what, a.address, v))
			a.logPanic(p, what, v, debug.Stack())
		}
	}()
	return run()
}

func (a *activation) logPanic(p *actor.Process, what string, value any, stack []byte) {
	p.Log().Error("panic in a grain", "grain", a.address.String(), "in", what, "panic", fmt.Sprint(value), "stack", string(stack))
}

// done is the end of every callback. pinned reports whether it has handled a message that was counted.
func (a *activation) done(s stateful, p *actor.Process, pinned bool) {
	var left int64
	if pinned {
		a.used.Store(a.grains.look.Load())
		left = a.pins.Add(-1)
	} else {
		left = a.pins.Load()
	}
	if left == closing || a.resting && left == 0 && a.pins.CompareAndSwap(0, closing) {
		a.finish(s, p)
	}
}

// finish ends the activation: nothing waits, and nothing is let in.
func (a *activation) finish(s stateful, p *actor.Process) {
	if a.ended {
		return
	}
	a.ended = true
	if h, ok := s.(interface{ Deactivate(*actor.Process) }); ok && a.ready {
		err := a.guard(p, "Deactivate", func() error { h.Deactivate(p); return a.spoiled })
		if err != nil {
			p.Log().Warn("a grain has ended without what Deactivate saves", "grain", a.address.String(), "error", err)
		}
	}
	if a.failure == nil {
		a.failure = errGrainMoved
	}
	a.grains.directory.gone(a)
	p.Stop(nil)
}

// rest is restIdle.
func (a *activation) rest(s stateful, p *actor.Process) {
	if a.grains.idle(a) && a.pins.CompareAndSwap(0, closing) {
		a.finish(s, p)
	}
}

// leave is moveAway.
func (a *activation) leave(s stateful, p *actor.Process) {
	if a.failure == nil {
		a.close(errGrainMoved)
	}
	a.done(s, p, false)
}

// takes reports whether the grain has a handler for a type.
func (a *activation) takes(of reflect.Type, call bool) error {
	types, what := a.kind.messages, "messages"
	if call {
		types, what = a.kind.calls, "calls"
	}
	if slices.Contains(types, of) {
		return nil
	}
	return problem(actor.ErrNotHandled, a.grains.self, "grains of kind %s take no %s with %s", a.kind.name, what, of)
}
