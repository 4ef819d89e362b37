package auth

import (
	"crypto/sha256"
	"time"
	"unsafe"

	"github.com/maypok86/otter/v2"
)

// The bounds of what is remembered of credentials that were found valid.
const (
	maxVerified    = 10_000
	verifiedAtMost = 5 * time.Minute // so that a key that is withdrawn stops working in that time
)

// verified remembers credentials that were found valid, by their SHA-256: two with the same hash cannot be made, and a dump
// of the memory shows none.
type verified[T any] struct {
	entries *otter.Cache[[sha256.Size]byte, remembered[T]]
}

type remembered[T any] struct {
	value T
	until int64 // Unix nanoseconds
}

func newVerified[T any]() *verified[T] {
	return &verified[T]{otter.Must(&otter.Options[[sha256.Size]byte, remembered[T]]{MaximumSize: maxVerified, Executor: inPlace})}
}

// inPlace runs otter's upkeep on the goroutine that made it necessary, so that there are no goroutines to stop.
func inPlace(fn func()) { fn() }

func (v *verified[T]) get(hash [sha256.Size]byte, now time.Time) (value T, ok bool) {
	e, ok := v.entries.GetIfPresent(hash)
	if !ok || now.UnixNano() >= e.until {
		return value, false
	}
	return e.value, true
}

func (v *verified[T]) put(hash [sha256.Size]byte, value T, now, until time.Time) {
	if most := now.Add(verifiedAtMost); until.After(most) {
		until = most
	}
	if until.After(now) {
		v.entries.Set(hash, remembered[T]{value, until.UnixNano()})
	}
}

// hashOf is the SHA-256 of a text, without copying it.
func hashOf(text string) [sha256.Size]byte {
	return sha256.Sum256(unsafe.Slice(unsafe.StringData(text), len(text)))
}
