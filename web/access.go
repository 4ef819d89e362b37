package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/sabir-go/sabir"
)

// minKey is the fewest characters of a key that may guard a node beyond its own machine.
const minKey = 16

// checkAccess refuses to listen where nobody said who may call.
func checkAccess(where address, config sabir.HTTPConfig) error {
	if err := checkTLS(config.TLS); err != nil {
		return err
	}
	if strings.ContainsFunc(config.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the HTTP key has a space, a line break or a character outside ASCII, which no Authorization header can carry; was it read from a file with its last newline?")
	}
	switch {
	case where.loopback(), demandsCertificates(config.TLS):
		return nil
	case config.Key == "":
		return fmt.Errorf("refusing to listen on %s, where other machines could call without a key: "+
			"add sabir.HTTPKey(…) or sabir.HTTPTLS with ClientAuth tls.RequireAndVerifyClientCert and ClientCAs, "+
			"or leave out the host (%q) to be reached from this machine only", where.at, fmt.Sprintf(":%d", where.at.Port()))
	case len(config.Key) < minKey:
		return fmt.Errorf("refusing to listen on %s with a key of %d characters: use at least %d random ones (openssl rand -hex 16)", where.at, len(config.Key), minKey)
	}
	return nil
}

// demandsCertificates tells whether every client must show a certificate of an authority named for that: without
// ClientCAs any certificate bought anywhere would do.
func demandsCertificates(config *tls.Config) bool {
	return config != nil && config.ClientAuth == tls.RequireAndVerifyClientCert && config.ClientCAs != nil
}

// access decides who may ask the face for anything.
type access struct {
	keyHash   [sha256.Size]byte
	keyed     bool
	checkHost bool
	host      string // the configured one
	origin    *http.CrossOriginProtection
}

func newAccess(where address, config sabir.HTTPConfig) *access {
	return &access{
		keyHash:   sha256.Sum256([]byte(config.Key)),
		keyed:     config.Key != "",
		checkHost: where.loopback() && config.Key == "",
		host:      where.host,
		origin:    http.NewCrossOriginProtection(),
	}
}

// checkSite keeps web pages of other sites out, which a user's browser could otherwise make call this machine. A page can
// be bound to 127.0.0.1 by its own DNS name (DNS rebinding), so that name must be one of ours; and it can send requests
// that need no preflight, so the browser's own statement of where it comes from is read.
func (a *access) checkSite(r *http.Request) *sabir.Error {
	if a.checkHost && !a.ownHost(r.Host) {
		return sabir.Errorf(sabir.PermissionDenied, sabir.ErrWrongSite.Name,
			"the Host header says %.100q, but without a key this node answers only to localhost and its own address: "+
				"call it as localhost, or give it a key with sabir.HTTPKey", r.Host)
	}
	if err := a.origin.Check(r); err != nil {
		return sabir.NewError(sabir.PermissionDenied, sabir.ErrWrongSite.Name, "a browser sent this for a page of another site, which this node does not take")
	}
	return nil
}

// ownHost tells whether a Host header names this machine. Nothing is sent by HTTP/1.0 probes, never by a browser.
func (a *access) ownHost(header string) bool {
	host := header
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.EqualFold(host, a.host) {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// checkKey compares hashes, so that the time it takes tells nothing of the key.
func (a *access) checkKey(r *http.Request) *sabir.Error {
	if !a.keyed {
		return nil
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given := sha256.Sum256([]byte(strings.TrimLeft(key, " ")))
	if subtle.ConstantTimeCompare(given[:], a.keyHash[:]) == 1 && strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	return sabir.NewError(sabir.Unauthenticated, sabir.ErrBadKey.Name, `this node wants a key: send it as "Authorization: Bearer <key>"`)
}
