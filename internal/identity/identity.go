// Package identity holds the rules for the id and the address of a node, for all packages that read those of other nodes.
package identity

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxID bounds a node's id, in bytes.
const MaxID = 200

// BadID returns the fault of a node's id, or "" for a good one.
func BadID(id string) string {
	switch {
	case id == "":
		return "is empty"
	case len(id) > MaxID:
		return fmt.Sprintf("is %d bytes long; %d is the limit", len(id), MaxID)
	case !utf8.ValidString(id):
		return "is not valid UTF-8"
	case strings.ContainsFunc(id, unicode.IsControl):
		return "has a control character"
	case strings.Contains(id, "*"):
		return "has a *, which stands for any text where nodes are named"
	}
	return ""
}

// CheckURL refuses an address that no transport could dial.
func CheckURL(addr string) error {
	_, rest, found := strings.Cut(addr, "://")
	if u, err := url.Parse(addr); err != nil || u.Scheme == "" || !found || rest == "" {
		return fmt.Errorf("the address %.200q is not a URL such as \"tcp://10.0.0.1:7700\"", addr)
	}
	return nil
}

// MaxMembers bounds the nodes of a cluster that a node knows; nodes beyond are ignored.
const MaxMembers = 10_000

// Meta describes a node to the others, as JSON. The names are short because memberlist allows 512 bytes.
type Meta struct {
	Addr       string `json:"a,omitempty"`
	ClientOnly bool   `json:"g,omitempty"`
	Instance   uint64 `json:"i"`
}

// PrincipalKey is the metadata under which the principal of a caller travels with a call, as JSON.
const PrincipalKey = "sabir.principal"

// NamesOf returns the names of a node's certificate: its URIs, such as a SPIFFE ID, and its DNS names; without any of these its common name. It
// is not nil where there are none, which is not the same as having shown no certificate.
func NamesOf(certificate *x509.Certificate) []string {
	names := []string{}
	for _, u := range certificate.URIs {
		names = append(names, u.String())
	}
	names = append(names, certificate.DNSNames...)
	if len(names) == 0 && certificate.Subject.CommonName != "" {
		names = append(names, certificate.Subject.CommonName)
	}
	return names
}

// Takes reports whether one of the patterns, in which "*" stands for any text without a slash, takes one of the names that a node has proven.
func Takes(patterns, names []string) bool {
	for _, p := range patterns {
		for _, name := range names {
			if ok, _ := path.Match(p, name); ok {
				return true
			}
		}
	}
	return false
}
