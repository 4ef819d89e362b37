package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/secret"
	"github.com/sabir-go/sabir/web/exchange"
)

// minKey is the fewest characters of a key that may guard a node beyond its own machine.
const minKey = 16

// checkAccess refuses to listen where no option restricts the callers.
func checkAccess(where address, config gateway.HTTPConfig, s *settings) error {
	if err := checkTLS(config.TLS); err != nil {
		return err
	}
	if err := checkKey(string(config.Key.Bytes())); err != nil {
		return err
	}
	switch {
	case where.loopback(), demandsCertificates(config.TLS), s.open:
		return nil
	case config.Key.None() && !s.root.guarded():
		return fmt.Errorf("refusing to listen on %s, where other machines could call without a key: "+
			"add gateway.Key(…), web.Auth(…) or gateway.TLS with ClientAuth tls.RequireAndVerifyClientCert and ClientCAs, "+
			"or web.Open() if anyone may call, or leave out the host (%q) to be reached from this machine only", where.at, fmt.Sprintf(":%d", where.at.Port()))
	case !config.Key.None() && len(config.Key.Bytes()) < minKey:
		return fmt.Errorf("refusing to listen on %s with a key of %d characters: use at least %d random ones (openssl rand -hex 16)", where.at, len(config.Key.Bytes()), minKey)
	}
	return nil
}

func checkKey(key string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the HTTP key has a space, a line break or a character outside ASCII, which no Authorization header can carry; was it read from a file with its last newline?")
	}
	return nil
}

// checkTLS returns an error for a configuration with which a server would start and then fail every handshake.
func checkTLS(config *tls.Config) error {
	if config != nil && len(config.Certificates) == 0 && config.GetCertificate == nil && config.GetConfigForClient == nil {
		return errors.New("the TLS configuration has no certificate: set Certificates or GetCertificate")
	}
	return nil
}

// demandsCertificates reports whether every client must show a certificate of an authority named for that: without
// ClientCAs any certificate bought anywhere would do.
func demandsCertificates(config *tls.Config) bool {
	return config != nil && config.ClientAuth == tls.RequireAndVerifyClientCert && config.ClientCAs != nil
}

// hostCheck protects a server without a key from web pages, which a browser could make call this machine. A page can bind its
// own DNS name to 127.0.0.1 (DNS rebinding), so the Host header must name this machine.
type hostCheck struct {
	checkHost bool
	host      string // the configured one
}

// sameSite reports whether the request comes from no other site's page: it only reads, or no browser sent it, or the browser
// reports so (Fetch Metadata; before that, the Origin header). The rules are those of net/http.CrossOriginProtection.
func sameSite(x *exchange.Exchange) bool {
	if x.Method == "GET" || x.Method == "HEAD" || x.Method == "OPTIONS" {
		return !x.Header.Has("Upgrade") || sameOrigin(x) // a WebSocket begins with GET and has no preflight
	}
	switch x.Header.Get("Sec-Fetch-Site") {
	case "":
		return sameOrigin(x)
	case "same-origin", "none":
		return true
	}
	return false
}

func sameOrigin(x *exchange.Exchange) bool {
	origin := x.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == x.Host
}

// ownHost reports whether a Host header names this machine. Nothing is sent by HTTP/1.0 probes, never by a browser.
func (s *hostCheck) ownHost(header string) bool {
	host := header
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	if host == "localhost" || host == "127.0.0.1" || host == "" {
		return true
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.EqualFold(host, s.host) {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// serverKey is the key of gateway.Key, as a hash.
type serverKey struct{ hash [sha256.Size]byte }

func newServerKey(key secret.Secret) *serverKey { return &serverKey{sha256.Sum256(key.Bytes())} }

// opens reports whether the request carries the key. It compares hashes in constant time, so that the time reveals nothing about
// the key.
func (k *serverKey) opens(x *exchange.Exchange) bool {
	scheme, key, _ := strings.Cut(x.Header.Get("Authorization"), " ")
	given := sha256.Sum256([]byte(strings.TrimLeft(key, " ")))
	return subtle.ConstantTimeCompare(given[:], k.hash[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

func (k *serverKey) check(x *exchange.Exchange) error {
	if k.opens(x) {
		return nil
	}
	x.Answer.Add("WWW-Authenticate", `Bearer realm="sabir"`)
	return sabir.NewError(sabir.CodeUnauthenticated, sabir.ErrBadKey.Name, `this node wants a key: send it as "Authorization: Bearer <key>"`)
}

// keyScheme is the server's key for documents.
var keyScheme = api.Scheme{Type: "http", Scheme: "bearer", Description: "The key of the node."}
