package openapi

import (
	"errors"
	"net/http"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web"
)

// At serves the documentation of an HTTP gateway at a prefix, to callers of its actions or, where it is public, to anyone: see package
// gen/openapi.
func At(prefix string, public bool) gateway.HTTPOption {
	return web.Mounted(prefix, func(site web.Site) (http.Handler, error) { return siteHandler(prefix, public, site) })
}

// siteHandler is the page where the site lets it be read.
func siteHandler(prefix string, public bool, site web.Site) (http.Handler, error) {
	if site.API == nil {
		return nil, errors.New("openapi: the gateway at " + prefix + " does not say what it offers")
	}
	p := newPage(prefix, site.API)
	switch {
	case public || site.Open:
		p.open = true
	case !site.Keys.None():
		p.open, p.allow = true, func(r *http.Request) bool { return site.Keys.Opens(r.Header.Get("Authorization")) }
	}
	return p, nil
}
