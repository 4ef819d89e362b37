package store

import "github.com/sabir-go/sabir"

// What a [Store] answers, for errors.Is, over the wire too.
var (
	// ErrFenced means that the revision is not, or no longer, the store's: another activation has written. The one that is
	// refused must stop. Nothing was done, unless the error is [ErrUnknown] too.
	ErrFenced = sabir.NewError(sabir.CodeAborted, "Fenced", "another activation of the grain has written since")
	// ErrUnknown means that a write may have been done or not, as its answer was lost. Load shows which.
	ErrUnknown = sabir.NewError(sabir.CodeUnknown, "OutcomeUnknown", "the store did not answer: the write may have been done or not; load the grain again")
	// ErrAway means that the store cannot be reached now. Nothing was done; retryable.
	ErrAway = sabir.NewError(sabir.CodeUnavailable, "StoreAway", "the store of grains cannot be reached").AsRetryable()
	// ErrFull means that the store has no space. Nothing was done; retryable, once space was freed.
	ErrFull = sabir.NewError(sabir.CodeResourceExhausted, "StoreFull", "the store of grains has no room").AsRetryable()
	// ErrTooLarge means that a state is larger than the limit of [Config], or than the broker takes.
	ErrTooLarge = sabir.NewError(sabir.CodeInvalidArgument, "StateTooLarge", "the state of the grain is too large")
	// ErrBadName means that a kind or a key is not one: see [CheckName].
	ErrBadName = sabir.NewError(sabir.CodeInvalidArgument, "BadGrainName", "that is no grain's name")
	// ErrClosed means that the Store was closed. Nothing was done.
	ErrClosed = sabir.NewError(sabir.CodeFailedPrecondition, "StoreClosed", "the store of grains was closed")
)
