// Package httpaccess decides who may reach a server over HTTP: which addresses are this machine's, which keys and certificates are
// enough beyond it. Packages web and admin share it.
package httpaccess

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"net/netip"
	"strings"

	"github.com/sabir-go/sabir/internal/secret"
)

// MinKey is the fewest characters of a key that may guard a node beyond its own machine.
const MinKey = 16

// CheckKey returns an error for a key that no header can carry.
func CheckKey(key secret.Secret) error {
	if strings.ContainsFunc(string(key.Bytes()), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the HTTP key has a space, a line break or a character outside ASCII, which no Authorization header can carry; was it read from a file with its last newline?")
	}
	return nil
}

// CheckTLS returns an error for a configuration with which a server would start and then fail every handshake.
func CheckTLS(config *tls.Config) error {
	if config != nil && len(config.Certificates) == 0 && config.GetCertificate == nil && config.GetConfigForClient == nil {
		return errors.New("the TLS configuration has no certificate: set Certificates or GetCertificate")
	}
	return nil
}

// DemandsCertificates reports whether every client must show a certificate of an authority named for that: without
// ClientCAs any certificate bought anywhere would do.
func DemandsCertificates(config *tls.Config) bool {
	return config != nil && config.ClientAuth == tls.RequireAndVerifyClientCert && config.ClientCAs != nil
}

// OwnHost reports whether a Host header names this machine; configured is the host of the server's address. Nothing is sent by
// HTTP/1.0 probes, never by a browser.
func OwnHost(header, configured string) bool {
	host := header
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	if host == "localhost" || host == "127.0.0.1" || host == "" {
		return true
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.EqualFold(host, configured) {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// Key is a key that requests carry as "Authorization: Bearer <key>", as a hash.
type Key struct{ hash [sha256.Size]byte }

// NewKey makes the Key of a secret.
func NewKey(key secret.Secret) Key { return Key{sha256.Sum256(key.Bytes())} }

// Opens reports whether an Authorization header carries the key. It compares hashes in constant time, so that the time reveals nothing
// about the key.
func (k Key) Opens(authorization string) bool {
	scheme, key, _ := strings.Cut(authorization, " ")
	given := sha256.Sum256([]byte(strings.TrimLeft(key, " ")))
	return subtle.ConstantTimeCompare(given[:], k.hash[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// FailedChecks returns the names of the checks that failed, of the Data of the error of sabir.Node.Ready. Their errors, which have
// addresses in them, are not for everybody.
func FailedChecks(data any) []string {
	fields, _ := data.(map[string]any)
	names, _ := fields["checks"].([]string)
	return names
}
