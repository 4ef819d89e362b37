package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
)

const (
	// MinKey is the least number of bytes of a cluster key.
	MinKey = 16
	// MaxKeys is the most keys that a node has at a time. Each is one more offer in a handshake.
	MaxKeys = 3
)

// Keys are the cluster keys of a node: it prefers the first, and accepts each of them. The zero Keys has none. Keys do not show in what
// is printed, logged or written as JSON, wherever they stand: they are behind a function, into which package reflect cannot look.
type Keys struct{ reveal func() []string }

// NewKeys makes Keys of the preferred key and others. Empty ones are left out.
func NewKeys(keys ...string) Keys {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == "" })
	if len(keys) == 0 {
		return Keys{}
	}
	return Keys{func() []string { return keys }}
}

// None reports whether there is no key.
func (k Keys) None() bool { return k.reveal == nil }

// String hides the keys.
func (k Keys) String() string {
	if k.None() {
		return "no cluster key"
	}
	return fmt.Sprintf("%d hidden", len(k.reveal()))
}

// GoString hides the keys.
func (k Keys) GoString() string { return k.String() }

// Validate returns what is wrong with the keys; nil for nothing.
func (k Keys) Validate() error {
	if k.None() {
		return nil
	}
	keys := k.reveal()
	if len(keys) > MaxKeys {
		return fmt.Errorf("there are %d cluster keys, at most %d are allowed: leave out the oldest", len(keys), MaxKeys)
	}
	for i, key := range keys {
		if len(key) < MinKey {
			return fmt.Errorf("cluster key %d has %d bytes, at least %d are needed: make one with `openssl rand -hex 32`", i+1, len(key), MinKey)
		}
		if slices.Index(keys, key) != i {
			return fmt.Errorf("cluster keys %d and %d are the same", slices.Index(keys, key)+1, i+1)
		}
	}
	return nil
}

// Derive returns a secret for a purpose from each key: HMAC-SHA256(key, purpose). No other secret and no key follows from it.
func (k Keys) Derive(purpose string) [][]byte {
	if k.None() {
		return nil
	}
	var secrets [][]byte
	for _, key := range k.reveal() {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(purpose))
		secrets = append(secrets, mac.Sum(nil))
	}
	return secrets
}
