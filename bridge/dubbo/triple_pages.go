package dubbo

import (
	"net/http"

	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

// pages are those of other sites that may call.
type pages struct {
	policy filter.CORS
	filter exchange.Filter
}

// newPages adds to a policy the headers that clients for web pages send.
func newPages(policy filter.CORS) *pages {
	if policy.Headers == nil || len(policy.Headers) > 0 {
		policy.Headers = append([]string{headerProtocol, headerVersion, headerGroup, headerTimeout}, policy.Headers...)
	}
	return &pages{policy, policy.Filter()}
}

// ofCORS are the headers by which browsers say what a page asks for.
var ofCORS = []string{"Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers", "Access-Control-Request-Private-Network"}

// answer writes the headers for which a browser hands an answer to a page. Where the browser only asks whether the page may call, that is the
// whole answer, and done.
func (p *pages) answer(w http.ResponseWriter, r *http.Request) (done bool) {
	if p == nil {
		return false
	}
	x := &exchange.Exchange{Context: r.Context(), Method: r.Method, Host: r.Host}
	for _, name := range ofCORS {
		for _, value := range r.Header[name] {
			x.Header.Add(name, value)
		}
	}
	if done = p.filter.Preflight(x); !done {
		_ = p.filter.Before(x) // it refuses nothing
	}
	for _, field := range x.Answer.Fields() {
		w.Header().Add(field.Name, field.Value)
	}
	if done {
		w.WriteHeader(x.Status)
	}
	return done
}

// fromOtherSite reports whether a page of another site that may not call makes a browser ask: what GET calls may change something.
func (p *pages) fromOtherSite(h http.Header) bool {
	origin, site := h.Get("Origin"), h.Get("Sec-Fetch-Site")
	if p != nil && origin != "" && p.policy.Allows(origin) {
		return false
	}
	return origin != "" || site != "" && site != "none" && site != "same-origin"
}
