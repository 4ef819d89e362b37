package store

import "github.com/sabir-go/sabir/internal/grainstore"

// What a [Store] answers, for errors.Is, over the wire too. Other errors have names only, see docs/errors.md.
var (
	// ErrFenced: the revision is not, or no longer, the store's: another activation has written. The one that is
	// refused must stop. Nothing was done, unless the error is [ErrOutcomeUnknown] too.
	ErrFenced = grainstore.ErrFenced
	// ErrOutcomeUnknown: a write may have been done or not, as its answer was lost; Load shows which. Of a call of a grain: it may have been
	// handled or not, since the node of the grain was lost.
	ErrOutcomeUnknown = grainstore.ErrOutcomeUnknown
	// ErrStoreUnreachable: the store cannot be reached now. Nothing was done; retryable.
	ErrStoreUnreachable = grainstore.ErrStoreUnreachable
	// ErrStoreFull: the store has no space. Nothing was done; retryable, once space was freed.
	ErrStoreFull = grainstore.ErrStoreFull
)
