package auth

import (
	"crypto/sha256"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/internal/recent"
)

// The bounds of what is remembered of credentials that were found valid.
const (
	maxVerified    = 10_000
	maxVerifiedAge = 5 * time.Minute // so that a key that is withdrawn stops working in that time
)

// verified remembers credentials that were found valid, by their SHA-256: two credentials with the same hash cannot be made,
// and a memory dump shows none.
type verified[T any] struct {
	entries *recent.Cache[[sha256.Size]byte, *slot[T]]
}

// slot is the place of one credential, so that what is known of it can be replaced when it has ended.
type slot[T any] struct{ atomic.Pointer[remembered[T]] }

type remembered[T any] struct {
	value T
	until int64 // Unix nanoseconds
}

func newVerified[T any]() *verified[T] {
	return &verified[T]{recent.New[[sha256.Size]byte, *slot[T]](maxVerified)}
}

func (v *verified[T]) get(hash [sha256.Size]byte, now time.Time) (value T, ok bool) {
	s, ok := v.entries.Get(hash)
	if !ok {
		return value, false
	}
	e := s.Load()
	if now.UnixNano() >= e.until {
		return value, false
	}
	return e.value, true
}

func (v *verified[T]) put(hash [sha256.Size]byte, value T, now, until time.Time) {
	if most := now.Add(maxVerifiedAge); until.After(most) {
		until = most
	}
	if !until.After(now) {
		return
	}
	e, s := &remembered[T]{value, until.UnixNano()}, &slot[T]{}
	s.Store(e) // before others can find it
	if known := v.entries.Add(hash, s); known != s {
		known.Store(e)
	}
}

// hashOf is the SHA-256 of a text, without copying it.
func hashOf(text string) [sha256.Size]byte {
	return sha256.Sum256(unsafe.Slice(unsafe.StringData(text), len(text)))
}

// forget makes all credentials be checked again.
func (v *verified[T]) forget() { v.entries.Clear() }
