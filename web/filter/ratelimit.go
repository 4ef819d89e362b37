package filter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/ratelimit"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// RateLimit lets each caller call Rate times a second on average, and Burst times at once after a pause. A call above that
// gets status 429, sabir.ErrRateLimited and Retry-After; answers report how much is left in RateLimit and RateLimit-Policy
// (draft-ietf-httpapi-ratelimit-headers-10).
//
// A caller is an address. In IPv6 it is a network of 64 bits, since a provider gives a customer at least that. ByPrincipal, ByClaim,
// ByHeader and Together change this. Behind a proxy all callers have its address, unless TrustProxies of web.Config names it.
//
// After a pause Burst calls pass at once, and while they do more become free: in the first second Burst and Rate together, later Rate.
//
// Each node counts by itself: three gateways let a caller call three times as often.
type RateLimit struct {
	Rate  float64 // calls a second: above 0 and at most 10,000,000; it may be less than 1
	Burst int     // calls at once: at least 1

	// ByPrincipal limits the calls of each signed-in principal by themselves, wherever they come from, and of others by address.
	// The filter stands behind the authentication, or the server does not start.
	ByPrincipal bool
	// ByClaim names a claim of the caller's principal, such as "tenant", with dots for claims in claims: all callers with one value of it
	// have one limit, whoever they are and wherever they call from. It is a text, a number or a truth value; callers without it are limited
	// as they are without ByClaim. The filter stands behind the authentication, as for ByPrincipal, and auth.JWT keeps the claim.
	ByClaim string
	// ByHeader names a header whose value distinguishes callers too: only one that the caller cannot choose freely, since a new
	// value begins with a full burst.
	ByHeader string
	// ByRoute limits the calls of each action or path by themselves.
	ByRoute bool
	// Together limits all callers together, instead of each address by itself.
	Together bool
	// MaxCallers bounds how many callers are remembered. Default: 100,000, some 15 MB. A caller that was not seen for long is
	// forgotten and begins with a full burst when it comes back.
	MaxCallers int
	// Name names the limit in the RateLimit headers. Default: "default". A server with several limits gives each its own.
	Name string
	// OnlyWhenLimited leaves the RateLimit headers out of answers to calls that passed, which spares an allocation for each.
	OnlyWhenLimited bool
}

type rateLimit struct {
	RateLimit
	limit   ratelimit.Limit
	policy  string // the header RateLimit-Policy
	callers *ratelimit.Buckets
}

// Filter makes the filter.
func (f RateLimit) Filter() exchange.Filter {
	var wrong problems
	f.MaxCallers, f.Name = cmp.Or(f.MaxCallers, 100_000), cmp.Or(f.Name, "default")
	limit, bad := ratelimit.New(f.Rate, f.Burst)
	for _, p := range bad {
		wrong.want(false, "%w", p)
	}
	wrong.want(f.ByHeader == "" || isToken(f.ByHeader), "RateLimit: ByHeader is %q: want the name of a header", f.ByHeader)
	wrong.want(f.MaxCallers >= 1, "RateLimit: MaxCallers is %d: want at least 1", f.MaxCallers)
	wrong.want(isToken(f.Name), "RateLimit: Name is %q: want a word", f.Name)
	wrong.want(!f.Together || !f.ByPrincipal && f.ByClaim == "" && f.ByHeader == "", "RateLimit: Together excludes ByPrincipal, ByClaim and ByHeader")
	if len(wrong) > 0 {
		return wrong.filter(exchange.Filter{Name: "ratelimit"})
	}
	r := &rateLimit{RateLimit: f, limit: limit, callers: limit.NewBuckets(f.MaxCallers)}
	r.policy = fmt.Sprintf(`"%s";q=%d;w=%d`, f.Name, f.Burst, ceilSeconds(limit.Burst()))
	return exchange.Filter{Name: "ratelimit", Before: r.before, ReadsPrincipal: f.ByPrincipal || f.ByClaim != ""}
}

func (r *rateLimit) before(x *exchange.Exchange) error {
	var space [256]byte
	left, wait := r.callers.Take(r.appendKey(space[:0], x))
	if wait > 0 {
		r.setHeaders(x, 0, wait)
		x.Answer.Set("Retry-After", strconv.FormatInt(ceilSeconds(wait), 10))
		return r.limited(wait)
	}
	if !r.OnlyWhenLimited {
		interval := r.limit.Interval()
		r.setHeaders(x, int64(left/interval), interval-left%interval)
	}
	return nil
}

// setHeaders sets how many calls are left, and when there will be one more.
func (r *rateLimit) setHeaders(x *exchange.Exchange, left int64, until time.Duration) {
	text := make([]byte, 0, 48)
	text = append(text, '"')
	text = append(text, r.Name...)
	text = append(text, `";r=`...)
	text = strconv.AppendInt(text, left, 10)
	text = append(text, ";t="...)
	text = strconv.AppendInt(text, ceilSeconds(until), 10)
	x.Answer.Add("RateLimit-Policy", r.policy)
	x.Answer.Add("RateLimit", string(text))
}

func ceilSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// limited is sabir.ErrRateLimited with data as policy.RetryAfter has it, so that policy.Retry waits as long.
func (r *rateLimit) limited(wait time.Duration) error {
	return sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrRateLimited.Name, "too many calls; try again in %v", wait.Round(time.Millisecond)).
		WithData(retryAfter{wait.Seconds()}).AsRetryable()
}

type retryAfter struct {
	Seconds float64 `json:"retryAfter"`
}

// appendKey appends the key of the caller's bucket.
func (r *rateLimit) appendKey(buf []byte, x *exchange.Exchange) []byte {
	if r.ByRoute {
		if action := actionOf(x); action != nil {
			buf = append(buf, action.Name...)
		} else {
			buf = append(buf, x.Path...)
		}
	}
	buf = append(buf, 0)
	if r.ByHeader != "" {
		buf = append(buf, x.Header.Get(r.ByHeader)...)
	}
	buf = append(buf, 0)
	if r.ByClaim != "" && isPrincipal(x) {
		if with, ok := appendClaim(buf, x.Principal.(*auth.Principal).Claim(r.ByClaim)); ok {
			return with
		}
	}
	switch {
	case r.Together:
	case r.ByPrincipal && isPrincipal(x):
		p := x.Principal.(*auth.Principal)
		buf = append(buf, 'p')
		buf = append(buf, p.Scheme...)
		buf = append(buf, 0)
		buf = append(buf, p.Subject...)
	default:
		buf = append(buf, 'a')
		buf = appendCaller(buf, x.Client())
	}
	return buf
}

// appendClaim appends a claim that has one value. Others, such as lists, are none that callers share: the order of a list may differ.
func appendClaim(buf []byte, claim any) ([]byte, bool) {
	switch claim := claim.(type) {
	case string:
		return append(append(buf, 't'), claim...), claim != ""
	case bool, int, int64, uint64, float64, json.Number:
		return fmt.Append(append(buf, 'v'), claim), true
	}
	return buf, false
}

func isPrincipal(x *exchange.Exchange) bool {
	p, ok := x.Principal.(*auth.Principal)
	return ok && p != nil
}

// appendCaller appends the part of an address that distinguishes callers.
func appendCaller(buf []byte, client netip.Addr) []byte {
	if client.Is6() {
		bytes := client.As16()
		return append(buf, bytes[:8]...)
	}
	if client.Is4() {
		bytes := client.As4()
		return append(buf, bytes[:]...)
	}
	return buf
}

// actionOf is the action that the exchange's route calls; nil for none.
func actionOf(x *exchange.Exchange) *sabir.Action {
	if route, ok := x.Route.(interface{ Action() *sabir.Action }); ok {
		return route.Action()
	}
	return nil
}
