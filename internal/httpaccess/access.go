// Package httpaccess decides who may reach a server over HTTP: which addresses are this machine's, which keys and certificates are
// enough beyond it. Packages web and admin share it.
package httpaccess

import (
	"crypto/tls"
	"errors"
	"net/netip"
	"strings"
)

// MinKey is the fewest characters of a key that may guard a node beyond its own machine.
const MinKey = 16

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

// FailedChecks returns the names of the checks that failed, of the Data of the error of sabir.Node.Ready. Their errors, which have
// addresses in them, are not for everybody.
func FailedChecks(data any) []string {
	fields, _ := data.(map[string]any)
	names, _ := fields["checks"].([]string)
	return names
}
