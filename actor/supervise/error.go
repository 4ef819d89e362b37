package supervise

import "github.com/sabir-go/sabir"

// What supervisors end with, and what their calls may return.
var (
	// ErrRestartIntensity: more restarts were needed within Config.Period than Config.Intensity allows. It is the reason for which
	// the supervisor ends.
	ErrRestartIntensity = sabir.NewError(sabir.CodeAborted, "RestartIntensity", "too many restarts")
	// errChildNotStarted: a child could not be started. It wraps the reason.
	errChildNotStarted = sabir.NewError(sabir.CodeAborted, "ChildNotStarted", "a child did not start")
	// errSupervisorConfig: what the supervisor was given makes no sense.
	errSupervisorConfig = sabir.NewError(sabir.CodeInvalidArgument, "SupervisorConfig", "a supervisor cannot be like that")
	// ErrChildExists: there is a child with that ID.
	ErrChildExists = sabir.NewError(sabir.CodeAlreadyExists, "ChildExists", "the supervisor has such a child")
	// ErrNoChild: there is no child with that ID or PID.
	ErrNoChild = sabir.NewError(sabir.CodeNotFound, "NoChild", "the supervisor has no such child")
	// errChildRuns: the child runs, is being restarted or is about to end. TerminateChild comes first.
	errChildRuns = sabir.NewError(sabir.CodeFailedPrecondition, "ChildRuns", "the child runs")
	// errSupervisorEnding: the supervisor is about to end and starts nothing.
	errSupervisorEnding = sabir.NewError(sabir.CodeUnavailable, "SupervisorEnding", "the supervisor is about to end").AsRetryable()
)

// problem is one of the errors above with what it was about.
func problem(of *sabir.Error, format string, args ...any) error {
	e := sabir.Errorf(of.Code, of.Name, of.Message+": "+format, args...)
	e.Retryable = of.Retryable
	return e
}
