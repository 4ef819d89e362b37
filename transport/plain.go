package transport

import (
	"fmt"
	"net/url"
	"strings"
)

// CheckPlain returns an error where there is a TLS configuration. Drivers that do not encrypt call it, so that a mistake in one
// address does not send data in the clear that was meant to be encrypted. The error names the schemes to use instead.
func (c Config) CheckPlain(at *url.URL, instead ...string) error {
	if c.TLS == nil {
		return nil
	}
	other := make([]string, len(instead))
	for i, scheme := range instead {
		other[i] = scheme + "://" + at.Host
	}
	return fmt.Errorf("the address %q is not encrypted, but there is a TLS configuration: use %s, or leave the configuration out",
		at.Redacted(), strings.Join(other, " or "))
}
