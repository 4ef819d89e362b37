package web

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// assemble makes, once, the list of what every request of the door passes: the check of the Host header, then the filters
// that know other sites (CORS), then the check of where browsers come from, then the other filters, among them the
// authentication where its option stood.
func (d *door) assemble(s *site, key string) {
	steps := []exchange.Filter{{Name: "host", Before: s.checkHostOf}}
	for _, f := range d.filters {
		if f.Preflight != nil {
			steps = append(steps, f)
		}
	}
	steps = append(steps, exchange.Filter{Name: "site", Before: checkSite})
	for _, f := range d.filters {
		switch {
		case isAuth(f):
			d.open = append([]exchange.Filter(nil), steps...)
			if guard, ok := d.authentication(key); ok {
				steps = append(steps, guard)
			}
		case f.Preflight == nil:
			steps = append(steps, f)
		}
	}
	d.steps = steps
	d.shows = len(d.authenticators) > 0 || slices.ContainsFunc(d.filters, func(f exchange.Filter) bool { return !isAuth(f) })
}

// authentication is the step that finds out who calls, if there is any. The key of the face is as good as everything else.
func (d *door) authentication(key string) (guard exchange.Filter, ok bool) {
	switch {
	case len(d.authenticators) == 0 && (key == "" || d.anonymous):
		return guard, false
	case len(d.authenticators) == 0:
		return exchange.Filter{Name: "key", Before: newFaceKey(key).check}, true
	case d.anonymous:
		guard = auth.Optional(d.authenticators...)
	default:
		guard = auth.Filter(d.authenticators...)
	}
	if key == "" {
		return guard, true
	}
	own, others := newFaceKey(key), guard.Before
	guard.Before = func(x *exchange.Exchange) error {
		if own.opens(x) {
			return nil
		}
		return others(x)
	}
	return guard, true
}

// checkHostOf keeps pages out that were bound to this machine by a DNS name of their own (DNS rebinding).
func (s *site) checkHostOf(x *exchange.Exchange) error {
	if !s.checkHost || s.ownHost(x.Host) {
		return nil
	}
	return sabir.Errorf(sabir.PermissionDenied, sabir.ErrWrongSite.Name,
		"the Host header says %.100q, but without a key this node answers only to localhost and its own address: "+
			"call it as localhost, or give it a key with sabir.HTTPKey", x.Host)
}

// checkSite keeps pages of other sites out, which a user's browser could otherwise make call this node, unless a filter has
// said that theirs may.
func checkSite(x *exchange.Exchange) error {
	if sameSite(x) || x.Answer.Has("Access-Control-Allow-Origin") {
		return nil
	}
	return sabir.NewError(sabir.PermissionDenied, sabir.ErrWrongSite.Name, "a browser sent this for a page of another site, which this node does not take")
}

// preflight tells whether a filter of the door has answered the request as a browser's question for another site (CORS).
func (d *door) preflight(x *exchange.Exchange) bool {
	for _, f := range d.steps {
		if f.Preflight != nil && f.Preflight(x) {
			return true
		}
	}
	return false
}

// under tells whether a path is a prefix itself or below it.
func under(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(prefix, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
