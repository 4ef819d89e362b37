// Package secret keeps keys and passwords out of what is printed, logged and dumped.
package secret

import "github.com/sabir-go/sabir/internal/redact"

// Secret is a key or a password that does not show in what is printed, logged or written as JSON, wherever it stands: it is behind a function,
// into which package reflect cannot look. A type with methods for fmt alone would show in unexported fields, whose methods fmt cannot call. The
// zero Secret is none.
type Secret struct{ reveal func() []byte }

// New makes a Secret of a text or of bytes, which must not be changed afterwards; of nothing it is none.
func New[T string | []byte](text T) Secret {
	b := []byte(text)
	if len(b) == 0 {
		return Secret{}
	}
	return Secret{func() []byte { return b }}
}

// None reports whether there is no secret.
func (s Secret) None() bool { return s.reveal == nil }

// Bytes returns the secret, nil for none. They must not be changed.
func (s Secret) Bytes() []byte {
	if s.None() {
		return nil
	}
	return s.reveal()
}

// String hides the secret.
func (s Secret) String() string {
	if s.None() {
		return ""
	}
	return redact.Hidden
}

// GoString hides the secret.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
