// Package redact prints values and URLs without the secrets in them.
package redact

import (
	"fmt"
	"net/url"
)

// Hidden is the text that is shown in the place of a secret.
const Hidden = "(hidden)"

// Print prints a value as fmt does, for the method Format of a type of which it is a copy without secrets.
func Print(f fmt.State, verb rune, v any) { fmt.Fprintf(f, fmt.FormatString(f, verb), v) }

// URL is a URL without its password. A text that is no URL is hidden as a whole.
func URL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return Hidden
	}
	return u.Redacted()
}
