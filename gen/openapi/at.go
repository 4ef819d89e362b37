package openapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web"
)

// Option changes what At serves.
type Option func(*options)

type options struct{ public bool }

// Public lets anyone who reaches the HTTP gateway read the documentation, whatever authentication it demands. Calls that are
// made on the page still have to authenticate.
func Public() Option { return func(o *options) { o.public = true } }

// At serves the documentation of an HTTP gateway at a prefix: a [Page] with the actions that this gateway offers.
//
//	sabir.HTTP(":3000", openapi.At("/docs"))
//
// Callers of the actions may read it. On a gateway with a key (gateway.Key) the page's files, which are the same for every
// API, need none, for browsers cannot send it with an address that is typed in; the page asks for the key and loads the
// description with it. Where callers authenticate in another way, the gateway demands the same for the page: a session
// cookie or basic authentication works in a browser, and Public opens the page to anyone.
func At(prefix string, list ...Option) gateway.HTTPOption {
	var o options
	for _, option := range list {
		option(&o)
	}
	return web.Mounted(prefix, func(site web.Site) (http.Handler, error) { return o.handler(prefix, site) })
}

// handler is the page where the site lets it be read.
func (o options) handler(prefix string, site web.Site) (http.Handler, error) {
	if site.API == nil {
		return nil, errors.New("openapi: the gateway at " + prefix + " does not say what it offers")
	}
	p := newPage(prefix, site.API)
	switch {
	case o.public || site.Open:
		p.open = true
	case site.Key != "":
		p.open, p.allow = true, holds(site.Key)
	}
	return p, nil
}

// holds reports whether a request carries the key. The time it takes does not depend on the key.
func holds(key string) func(*http.Request) bool {
	want := sha256.Sum256([]byte(key))
	return func(r *http.Request) bool {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
	}
}
