package grainstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
)

// Backend is the interface that a driver implements: it reads a slot, and replaces it if it is still the one that was read.
// Package actor/grain/store makes a Store of it.
//
// A key's slot has versions that only grow and are never used twice, whatever is written. Deleting a grain writes a slot
// that marks that. A backend may let such a slot go after a day, if a slot made later has a greater version all the same.
//
// Read and Write return, at the latest, when ctx ends or the backend is closed. Their errors are, for errors.Is:
//   - [ErrOutcomeUnknown]: it was sent, and there is no answer;
//   - [ErrFenced], of Write: the version in the store is another;
//   - any other, such as [ErrStoreUnreachable], [ErrStoreFull] and [ErrStateTooLarge]: it is certain that nothing was done, and will be done.
//
// Names were checked. All methods but Close may be called from any number of goroutines at once; Close is called once.
type Backend interface {
	// Read returns the slot, the zero Slot where there is none. The state is the caller's own.
	Read(ctx context.Context, kind, key string) (Slot, error)
	// Write replaces the slot if its version is still expect (0: there is none), and returns the new version. It must not
	// use slot.State after it returned, and ignores slot.Version.
	Write(ctx context.Context, kind, key string, expect uint64, slot Slot) (version uint64, err error)
	// Check returns nil if the store takes writes now, else the error that Write would have. It writes to no slot.
	Check(ctx context.Context) error
	// Close ends the connection, and Reads and Writes with it.
	Close() error
}

// Slot is the record of one grain in a [Backend].
type Slot struct {
	Version uint64 // 0: there is none
	Token   Token  // of the write that made it; the zero Token where unknown
	Gone    bool   // the grain was deleted, and there is no state
	State   []byte
}

// Token identifies a write: 128 random bits. Repetitions of a write have the same one.
type Token [16]byte

// NewToken makes the token of a new write.
func NewToken() (t Token) {
	rand.Read(t[:]) // never fails
	return t
}

// String is the token in hexadecimal.
func (t Token) String() string { return hex.EncodeToString(t[:]) }

// ParseToken reads what String wrote; the zero Token where that is something else.
func ParseToken(text string) (t Token) {
	if n, err := hex.Decode(t[:], []byte(text[:min(len(text), 2*len(t))])); err != nil || n != len(t) || len(text) != 2*len(t) {
		return Token{}
	}
	return t
}
