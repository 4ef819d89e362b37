package store

import (
	"context"

	"github.com/sabir-go/sabir/internal/grainstore"
)

// Entry is a grain's saved state and the revision that it has in the store.
type Entry struct {
	State    []byte
	Revision uint64 // 0: nothing is saved
}

// Store keeps the states of grains. It connects again by itself for as long as it is not closed.
//
// All methods may be called from any number of goroutines at once. Errors are or wrap a *sabir.Error; a context that
// ended is in them too, for errors.Is. An error other than [ErrOutcomeUnknown] means that the operation did nothing.
type Store interface {
	// Load returns what is saved; a zero Entry, and no error, where nothing is. It settles what became of a write of this
	// Store that ended in [ErrOutcomeUnknown], see the package's documentation. The state is the caller's own.
	//
	// It is as new as the last write that was acknowledged before Load was called, as far as the broker promises that of
	// its reads: see the drivers. Where it is not, Save is refused, so that nothing is lost.
	Load(ctx context.Context, kind, key string) (Entry, error)

	// Save replaces the state if its revision in the store is still revision (0: only if nothing is saved), and returns
	// the new revision, which is greater. Else the error is [ErrFenced]: another activation has written since, and this
	// one must stop. With [ErrOutcomeUnknown] the state may have been saved: Load before anything else. Save keeps no
	// reference to state.
	Save(ctx context.Context, kind, key string, state []byte, revision uint64) (uint64, error)

	// Delete removes what is saved under the same condition, with the same errors. With revision 0 it does nothing: it
	// returns nil where nothing is saved, else ErrFenced.
	Delete(ctx context.Context, kind, key string, revision uint64) error

	// Check returns nil if the store takes states now, else why not: [ErrStoreUnreachable] or [ErrStoreFull], as a rule. It asks
	// the broker, within ctx: it is for reports on the node's readiness.
	Check(ctx context.Context) error

	// Close ends the connection. Operations that run end at once, writes with [ErrOutcomeUnknown]; later ones are answered with
	// StoreClosed. Closing again does nothing and returns nil.
	Close() error
}

// entryOf returns what a slot holds.
func entryOf(slot grainstore.Slot) Entry {
	if slot.Gone || slot.Version == 0 {
		return Entry{}
	}
	return Entry{State: slot.State, Revision: slot.Version}
}
