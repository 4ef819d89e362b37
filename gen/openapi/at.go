package openapi

import (
	"errors"
	"net/http"

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
	case !site.Keys.None():
		p.open, p.allow = true, func(r *http.Request) bool { return site.Keys.Opens(r.Header.Get("Authorization")) }
	}
	return p, nil
}
