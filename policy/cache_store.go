package policy

import (
	"context"
	"time"

	"github.com/sabir-go/sabir/codec"
)

// Store is where a [Cache] keeps answers: [InMemory], or one of your own that other nodes share. It bounds what it keeps.
// Its methods are called by many goroutines at once.
//
// A store that fails takes nothing down: the cache then does without it, and logs so once a minute.
type Store interface {
	// Codec is the format in which the store wants answers: it gets and gives []byte then. A store in this process returns
	// nil; it gets and gives the answers themselves, as Go values that it must not change.
	Codec() codec.Codec
	// Open makes the place for one action's answers. It is called when a service starts, and again when it starts anew.
	// The form names the Go types of the answers and their questions: answers of different forms must be kept apart.
	Open(action, form string) Place
	// Clean forgets the answers of all actions that pattern takes (see sabir.MatchPattern), for all nodes that share the
	// store, before it returns.
	Clean(ctx context.Context, pattern string) error
}

// Place is where a Store keeps one action's answers.
type Place interface {
	// Get returns the answer that is kept under key, if any. The key is the caller's again when Get returns.
	Get(ctx context.Context, key []byte) (answer any, found bool, err error)
	// Set keeps an answer for as long as ttl at most. The key is the caller's again when Set returns.
	Set(ctx context.Context, key []byte, answer any, ttl time.Duration) error
}

// Locker is a Place that other nodes share and that can see to it that only one of them works out an answer at a time.
// Without it each node's cache does so for its own callers.
type Locker interface {
	// Lock waits until no other holds the lock of the key, or for the context. The lock must end by itself after a while,
	// for nodes that die holding it.
	Lock(ctx context.Context, key []byte) (unlock func(), err error)
}
