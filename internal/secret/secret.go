// Package secret keeps keys and passwords out of what is printed, logged and dumped.
package secret

import (
	"fmt"
	"net/url"
)

// Hidden is the text that is shown in the place of a secret.
const Hidden = "(hidden)"

// Secret is a key or a password that does not show in what is printed, logged or written as JSON, wherever it stands: it is behind a function,
// into which package reflect cannot look. A type with methods for fmt alone would show in unexported fields, whose methods fmt cannot call. The
// zero Secret is none.
type Secret struct{ reveal func() []byte }

// New makes a Secret; of nothing it is none. The bytes must not be changed afterwards.
func New(b []byte) Secret {
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
	return Hidden
}

// GoString hides the secret.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Print prints a value as fmt does, for the method Format of a type of which it is a copy without secrets.
func Print(f fmt.State, verb rune, v any) { fmt.Fprintf(f, fmt.FormatString(f, verb), v) }

// Redacted is a URL without its password. A text that is no URL is hidden as a whole.
func Redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return Hidden
	}
	return u.Redacted()
}
