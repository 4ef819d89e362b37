package filter

import (
	"time"

	"github.com/sabir-go/sabir/internal/httpcache"
	"github.com/sabir-go/sabir/web/exchange"
)

// Cache gives answers to GET and HEAD an ETag, a hash of the body, and answers with 304 and no body to callers that have it
// (RFC 9110, section 13.1.2). Cache-Control states how long the action's own cache keeps its answers, as it noted with
// gateway.CacheNote: "private, max-age=60", or "no-cache" for those that keep none; an answer that has the header already, or
// sets a cookie, is not changed in this. Errors are "no-store".
//
// The call is made all the same: what a 304 spares is sending the answer. An answer that was kept here for a while may be
// kept elsewhere as long again.
type Cache struct {
	// Shared lets proxies and CDNs keep answers of cached actions to callers without a principal, for any later caller: only for
	// answers that depend on the address alone.
	Shared bool
	// MaxAge is the time for which answers are valid whose action has no cache of its own. Default: 0, clients keep them, but
	// ask each time whether they still hold.
	MaxAge time.Duration
}

// Filter makes the filter.
func (c Cache) Filter() exchange.Filter {
	var wrong problems
	wrong.want(c.MaxAge >= 0, "Cache: MaxAge is %v", c.MaxAge)
	headers := &httpcache.Headers{Shared: c.Shared, MaxAge: c.MaxAge}
	return wrong.filter(exchange.Filter{Name: "cache", After: headers.After})
}
