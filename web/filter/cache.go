package filter

import (
	"time"

	"github.com/sabir-go/sabir/internal/httpcache"
	"github.com/sabir-go/sabir/web/exchange"
)

// CacheOption is an option of [Cache].
type CacheOption func(*cacheSettings)

type cacheSettings struct {
	wrong   problems
	headers httpcache.Headers
}

// Shared lets proxies and CDNs keep answers of cached actions to callers without a principal, for any later caller:
// only for answers that depend on the address alone.
func Shared() CacheOption { return func(c *cacheSettings) { c.headers.Shared = true } }

// MaxAge sets how long answers are valid whose action has no cache of its own. Default: 0, clients keep them, but ask each
// time whether they still hold.
func MaxAge(d time.Duration) CacheOption {
	return func(c *cacheSettings) {
		c.wrong.want(d >= 0, "Cache: MaxAge(%v)", d)
		c.headers.MaxAge = d
	}
}

// Cache gives answers to GET and HEAD an ETag, a hash of the body, and answers with 304 and no body to callers that have it
// (RFC 9110, section 13.1.2). Cache-Control states how long the action's own cache keeps its answers, as it noted with
// sabir.CacheNote: "private, max-age=60", or "no-cache" for those that keep none; an answer that has the header already, or
// sets a cookie, is not changed in this. Errors are "no-store".
//
// The call is made all the same: what a 304 spares is sending the answer. An answer that was kept here for a while may be
// kept elsewhere as long again.
func Cache(options ...CacheOption) exchange.Filter {
	c := &cacheSettings{}
	for _, o := range options {
		o(c)
	}
	return c.wrong.filter(exchange.Filter{Name: "cache", After: c.headers.After})
}
