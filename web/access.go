package web

import (
	"fmt"
	"net/url"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/web/exchange"
)

// checkAccess refuses to listen where no option restricts the callers.
func checkAccess(where httpaccess.Address, config httpaccess.Config, s *settings) error {
	if err := httpaccess.CheckTLS(config.TLS); err != nil {
		return err
	}
	if err := config.Keys.Check(); err != nil {
		return err
	}
	switch {
	case where.Loopback(), httpaccess.DemandsCertificates(config.TLS), s.open:
		return nil
	case config.Keys.None() && !s.root.guarded():
		return fmt.Errorf("refusing to listen on %s, where other machines could call without a key: "+
			"add gateway.Key(…), authenticators (Auth of web.Config) or gateway.TLS with ClientAuth tls.RequireAndVerifyClientCert and ClientCAs, "+
			"or AllowUnauthenticated of web.Config if anyone may call, or leave out the host (%q) to be reached from this machine only", where.At, fmt.Sprintf(":%d", where.At.Port()))
	case !config.Keys.None() && config.Keys.Shortest() < httpaccess.MinKey:
		return fmt.Errorf("refusing to listen on %s with a key of %d characters: use at least %d random ones (openssl rand -hex 16)", where.At, config.Keys.Shortest(), httpaccess.MinKey)
	}
	return nil
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

// opens reports whether the request carries one of the keys.
func opens(keys *httpaccess.Keys, x *exchange.Exchange) bool {
	return keys.Opens(x.Header.Get("Authorization"))
}

func badKey(x *exchange.Exchange) error {
	x.Answer.Add("WWW-Authenticate", `Bearer realm="sabir"`)
	return sabir.NewError(sabir.CodeUnauthenticated, errname.BadKey, `this node wants a key: send it as "Authorization: Bearer <key>"`)
}

// keyScheme is the server's key for documents.
var keyScheme = api.Scheme{Type: "http", Scheme: "bearer", Description: "The key of the node."}
