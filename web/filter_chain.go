package web

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/isolate"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/web/exchange"
)

// assemble makes the filter chain of the group, once: the check of the Host header, the filters that know other sites (CORS),
// the check of where browsers come from, the other filters, the authentication, and those that run after it.
func (g *routeGroup) assemble(s *hostCheck, keys *httpaccess.Keys) {
	chain := []exchange.Filter{{Name: "host", Before: s.checkHostOf}}
	for _, f := range slices.Concat(g.filters, g.afterAuth) {
		if f.Preflight != nil {
			chain = append(chain, f)
		}
	}
	chain = append(chain, exchange.Filter{Name: "site", Before: checkSite})
	plain := func(filters []exchange.Filter) {
		for _, f := range filters {
			if f.Preflight == nil {
				chain = append(chain, f)
			}
		}
	}
	plain(g.filters)
	g.open = slices.Clone(chain)
	if guard, ok := g.authentication(keys); ok {
		chain = append(chain, guard)
	}
	plain(g.afterAuth)
	g.chain = chain
	g.needsKeep = len(g.authenticators)+len(g.filters)+len(g.afterAuth) > 0
}

// authentication returns the filter that authenticates callers, if the group has one. The key of the server is accepted besides
// the authenticators.
func (g *routeGroup) authentication(keys *httpaccess.Keys) (guard exchange.Filter, ok bool) {
	switch {
	case len(g.authenticators) == 0 && (keys.None() || g.anonymous):
		return guard, false
	case len(g.authenticators) == 0:
		return exchange.Filter{Name: "key", Before: func(x *exchange.Exchange) error {
			if opens(keys, x) {
				return nil
			}
			return badKey(x)
		}}, true
	default:
		guard = principal.Filter(g.authenticators, g.anonymous)
	}
	if keys.None() {
		return guard, true
	}
	others := guard.Before
	guard.Before = func(x *exchange.Exchange) error {
		if opens(keys, x) {
			return nil
		}
		return others(x)
	}
	return guard, true
}

// checkHostOf refuses a request whose Host header does not name this machine.
func (s *hostCheck) checkHostOf(x *exchange.Exchange) error {
	if !s.checkHost || httpaccess.OwnHost(x.Host, s.host) {
		return nil
	}
	return sabir.Errorf(sabir.CodePermissionDenied, errname.CrossOrigin,
		"the Host header says %.100q, but without a key this node answers only to localhost and its own address: "+
			"call it as localhost, or give it a key with gateway.Key", x.Host)
}

// checkSite refuses requests of other sites' pages, which a browser could send in its user's name, unless a filter has allowed
// the origin.
func checkSite(x *exchange.Exchange) error {
	if sameSite(x) || x.Answer.Has("Access-Control-Allow-Origin") {
		return nil
	}
	return sabir.NewError(sabir.CodePermissionDenied, errname.CrossOrigin, "a browser sent this for a page of another site, which this node does not take")
}

// preflight reports whether a filter for the path has answered the request as a browser's question for another site (CORS), or
// has failed over it.
func (s *server) preflight(x *exchange.Exchange) (answered bool) {
	err := isolate.Do(func() error {
		chain := s.groupOf(x.Path).chain
		if to := s.tables.get().protocols[x.Path]; to != nil {
			chain = to.chain // the group of an action, whose address in another protocol may have no prefix
		}
		for _, step := range chain {
			if step.Preflight != nil && step.Preflight(x) {
				answered = true
				break
			}
		}
		return nil
	})
	if err != nil {
		v := requestContext{Exchange: x, server: s}
		v.fail(err)
	}
	return answered || err != nil
}

// under reports whether a path is a prefix itself or below it.
func under(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(prefix, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
