package grainstore

import "github.com/sabir-go/sabir"

// What a store of grains answers, for errors.Is, over the wire too. Those that programs tell apart are in package actor/grain/store too.
var (
	// ErrFenced: the revision is not, or no longer, the store's: another activation has written. The one that is
	// refused must stop. Nothing was done, unless the error is [ErrOutcomeUnknown] too.
	ErrFenced = sabir.NewError(sabir.CodeAborted, "Fenced", "another activation of the grain has written since")
	// ErrOutcomeUnknown: a write may have been done or not, as its answer was lost; Load shows which. Of a call of a grain: it may have been
	// handled or not, since the node of the grain was lost.
	ErrOutcomeUnknown = sabir.NewError(sabir.CodeUnknown, "OutcomeUnknown", "the store did not answer: the write may have been done or not; load the grain again")
	// ErrStoreUnreachable: the store cannot be reached now. Nothing was done; retryable.
	ErrStoreUnreachable = sabir.NewError(sabir.CodeUnavailable, "StoreUnreachable", "the store of grains cannot be reached").AsRetryable()
	// ErrStoreFull: the store has no space. Nothing was done; retryable, once space was freed.
	ErrStoreFull = sabir.NewError(sabir.CodeResourceExhausted, "StoreFull", "the store of grains has no room").AsRetryable()
	// ErrStateTooLarge: a state is larger than the limit MaxState of store.Config, or than the broker takes.
	ErrStateTooLarge = sabir.NewError(sabir.CodeInvalidArgument, "StateTooLarge", "the state of the grain is too large")
	// ErrBadGrainName: a kind or a key is not one. A kind is words of a-z, 0-9 and '-', joined by dots, up to 128 bytes, and a key has 1 byte to 1 KiB.
	ErrBadGrainName = sabir.NewError(sabir.CodeInvalidArgument, "BadGrainName", "that is no grain's name")
	// ErrStoreClosed: the store was closed. Nothing was done.
	ErrStoreClosed = sabir.NewError(sabir.CodeFailedPrecondition, "StoreClosed", "the store of grains was closed")
)
