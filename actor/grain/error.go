package grain

import (
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

// What can go wrong with grains, beside the errors of package actor, of package store and of handlers. They survive the wire.
var (
	// ErrNoOwner: no node was found in time that serves the grain. Nothing was done; retryable.
	ErrNoOwner = sabir.NewError(sabir.CodeUnavailable, "NoOwner", "no node serves the grain now").AsRetryable()
	// errOutcomeUnknown is store.ErrOutcomeUnknown, to errors.Is: the call may have been handled or not, since its node was lost.
	errOutcomeUnknown = sabir.NewError(sabir.CodeUnknown, "OutcomeUnknown", "the call of the grain may have been handled or not")
	// errTooManyGrains: as many grains are active on the owner as may be. Nothing was done; retryable.
	errTooManyGrains = sabir.NewError(sabir.CodeResourceExhausted, "TooManyGrains", "as many grains are active as the node may have").AsRetryable()
	// errBadGrainState: what is saved cannot be read as the type of the state, or the state cannot be written.
	errBadGrainState = sabir.NewError(sabir.CodeDataLoss, "BadGrainState", "the saved state of the grain cannot be read")
	// errGrainsNotStarted: the system has no grains, or they have stopped.
	errGrainsNotStarted = sabir.NewError(sabir.CodeFailedPrecondition, "GrainsNotStarted", "the system of processes has no grains: see grain.New and Grains.Start")
)

// errGrainMoved is the answer to a message that the grain's activation has not handled: it is not here, or not any more. Callers
// never see it.
var errGrainMoved = sabir.NewError(sabir.CodeUnavailable, "GrainMoved", "the grain is not here").AsRetryable()

// hostName is the name of the process on each node that takes what is for its grains.
const hostName = "$grains"

// problem is one of the errors above with what it was about.
func problem(of *sabir.Error, node, format string, args ...any) *sabir.Error {
	e := sabir.Errorf(of.Code, of.Name, of.Message+": "+format, args...)
	e.Node, e.Retryable = node, of.Retryable
	return e
}

func moved(err error) bool {
	e, ok := err.(*sabir.Error)
	return ok && e.Name == errGrainMoved.Name && e.Code == errGrainMoved.Code
}

// unhandled reports whether a call's error means that nothing was done, since the grain was not reached at its owner. A
// handler's own error never looks like that, see handedOut.
func (g *Grains) unhandled(err error, owner string) bool {
	e, ok := err.(*sabir.Error)
	if !ok {
		return false
	}
	switch e.Name {
	case errGrainMoved.Name:
		return e.Code == errGrainMoved.Code
	case actor.ErrNoConnection.Name:
		return owner != g.self && e.Node == g.self && e.Retryable
	case actor.ErrNoProcess.Name:
		return e.Node == owner && strings.Contains(e.Message, `"`+hostName+`"`)
	}
	return false
}

// lost reports whether a call's error means that the owner was lost while it may have handled the call.
func (g *Grains) lost(err error, owner string) bool {
	e, ok := err.(*sabir.Error)
	return ok && e.Name == actor.ErrNoConnection.Name && owner != g.self && e.Node == g.self && !e.Retryable
}

// handedOut is a handler's error as its caller gets it. Retryable promises that nothing was done, which a handler that has
// saved cannot, nor one inside of which a connection has failed.
func handedOut(err error, saved bool) error {
	e := sabir.AsError(err)
	if e == nil || !e.Retryable || !saved && e.Name != actor.ErrNoConnection.Name {
		return err
	}
	c := *e
	c.Retryable = false
	return &c
}
