package actor

import "github.com/sabir-go/sabir"

// Why a process ended. They survive the wire: errors.Is works on them wherever the process was running.
var (
	// ErrNormal: it had nothing more to do. A callback that returns it ends its process; links to it do nothing.
	ErrNormal = sabir.NewError(sabir.CodeCanceled, "Normal", "the process ended normally")
	// ErrShutdown: it was ended by its supervisor, its parent or Stop.
	ErrShutdown = sabir.NewError(sabir.CodeCanceled, "Shutdown", "the process was asked to end")
	// ErrKilled: it was ended by Kill, without another callback.
	ErrKilled = sabir.NewError(sabir.CodeAborted, "Killed", "the process was killed")
)

// What can go wrong with messages and calls.
var (
	// ErrNoProcess: there is no such process, or no more. Of a call: it may have ended before or while it handled it.
	ErrNoProcess = sabir.NewError(sabir.CodeNotFound, "NoProcess", "no such process")
	// ErrNoConnection: the node of the process cannot be reached, or was lost.
	ErrNoConnection = sabir.NewError(sabir.CodeUnavailable, "NoConnection", "no connection to the node of the process").AsRetryable()
	// ErrMailboxFull: as many messages wait as may. The message was not taken.
	ErrMailboxFull = sabir.NewError(sabir.CodeResourceExhausted, "MailboxFull", "the mailbox is full").AsRetryable()
	// ErrNotHandled: the process has no handler for messages or calls of this type.
	ErrNotHandled = sabir.NewError(sabir.CodeUnimplemented, "NotHandled", "the process does not handle this")
	// ErrCallTimeout: no answer came in time. The call may still be handled.
	ErrCallTimeout = sabir.NewError(sabir.CodeDeadlineExceeded, "CallTimeout", "no answer in time")
	// ErrNameTaken: another process has the name.
	ErrNameTaken = sabir.NewError(sabir.CodeAlreadyExists, "NameTaken", "the name is taken")
	// ErrTooMany: a limit of the system was reached.
	ErrTooMany = sabir.NewError(sabir.CodeResourceExhausted, "TooMany", "a limit was reached").AsRetryable()
	// errBadQuery: a Query has an order that there is not. The message lists those that there are.
	errBadQuery = sabir.NewError(sabir.CodeInvalidArgument, "BadQuery", "the query cannot be answered")
	// ErrSystemStopped: the system has stopped, or has not started.
	ErrSystemStopped = sabir.NewError(sabir.CodeUnavailable, "SystemStopped", "the system of processes is not running").AsRetryable()
	// ErrNotPermitted: the other node does not let others do that.
	ErrNotPermitted = sabir.NewError(sabir.CodePermissionDenied, "NotPermitted", "the node does not permit that")
	// errPanic is sabir.ErrPanic, to errors.Is, and says of processes what that says of handlers.
	errPanic = sabir.NewError(sabir.CodeInternal, "Panic", "a callback panicked")
	// errInitTimeout: Init did not end in time.
	errInitTimeout = sabir.NewError(sabir.CodeDeadlineExceeded, "InitTimeout", "Init took too long")
)

// ErrNoReply is returned by a handler of calls that answers later: see Process.Request. It is no failure and reaches no caller.
var ErrNoReply error = noReply{}

type noReply struct{}

func (noReply) Error() string { return "actor: the handler answers later" }

// problem is one of the errors above with what it was about.
func problem(of *sabir.Error, node, format string, args ...any) error {
	e := sabir.Errorf(of.Code, of.Name, of.Message+": "+format, args...)
	e.Node, e.Retryable = node, of.Retryable
	return e
}
