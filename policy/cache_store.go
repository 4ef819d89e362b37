package policy

import (
	"context"
	"errors"
	"time"

	"github.com/sabir-go/sabir/codec"
)

// Store keeps the answers of a [Cache]: [InMemory], or one of your own that nodes share. It bounds what it keeps.
type Store interface {
	// Codec is the format in which the store wants answers: it gets and gives []byte then. A store in this process returns
	// nil; it gets and gives the answers themselves, as Go values that it must not change.
	Codec() codec.Codec
	// Open makes the bucket for one action's answers. It is called when a service starts, and again when it starts anew.
	// The form names the Go types of the answers and their questions: answers of different forms must be kept apart.
	Open(action, form string) Bucket
	// Invalidate forgets the answers of all actions that pattern takes (as those of events do, see sabir.On), for all nodes that share the
	// store, before it returns.
	Invalidate(ctx context.Context, pattern string) error
}

// Bucket keeps one action's answers in a Store.
type Bucket interface {
	// Get returns the answer that is kept under key, if any. The key is the caller's again when Get returns.
	Get(ctx context.Context, key []byte) (Entry, error)
	// Set keeps an answer for as long as ttl at most. The generation is the one that Get or Lock returned before the handler
	// began: an answer from before an invalidation must not be found after it, even if it is set after it. A store that does
	// not take an answer, for its size or otherwise, returns an error with [ErrNotStored] in it. The caller may use the key
	// again when Set returns.
	Set(ctx context.Context, key []byte, answer any, ttl time.Duration, generation uint64) error
}

// Entry is the entry of a [Bucket] under a key.
type Entry struct {
	// Answer is the answer, if one was Found.
	Answer any
	Found  bool
	// Generation changes whenever the action's answers are invalidated. It is returned whether or not an answer was found. Calls that are
	// given different ages do not share an answer that is being worked out.
	Generation uint64
	// Err is the reason why what is there is no answer. It is logged, and the next Set replaces it.
	Err error
}

// ErrNotStored is wrapped in the error of a Set whose answer the store does not keep. It is logged once for each action.
var ErrNotStored = errors.New("the store does not keep it")

// Locker is a Bucket that other nodes share and that can see to it that only one of them works out an answer at a time.
// Without it each node's cache does so for its own callers.
type Locker interface {
	// Lock is Get for a call that is going to work out the answer. It returns as soon as there is an answer, whichever call
	// worked it out; or with the lock of the key, when no other holds it; or when the context ends. The caller calls unlock
	// once unless there was an error, and it must not block. The lock must end by itself after a while, for nodes that die
	// holding it.
	Lock(ctx context.Context, key []byte) (kept Entry, unlock func(), err error)
}
