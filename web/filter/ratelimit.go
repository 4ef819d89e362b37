package filter

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/ratelimit"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// RateOption is an option of [RateLimit].
type RateOption func(*rateLimit)

// ByPrincipal limits the calls of each signed-in principal by themselves, wherever they come from, and of others by address.
// The filter must stand behind the authentication.
func ByPrincipal() RateOption { return func(r *rateLimit) { r.byPrincipal = true } }

// ByHeader limits calls by the value of a header too: only for one that the caller cannot choose freely, since a new value
// begins with a full burst.
func ByHeader(name string) RateOption {
	return func(r *rateLimit) {
		r.wrong.want(isToken(name), "RateLimit: ByHeader(%q): want the name of a header", name)
		r.header = name
	}
}

// ByRoute limits the calls of each action or path by themselves.
func ByRoute() RateOption { return func(r *rateLimit) { r.byRoute = true } }

// Together limits all callers together, instead of each address by itself.
func Together() RateOption { return func(r *rateLimit) { r.together = true } }

// MaxCallers bounds how many callers are remembered. Default: 100,000, some 15 MB. A caller that was not seen for long is
// forgotten and begins with a full burst when it comes back.
func MaxCallers(n int) RateOption {
	return func(r *rateLimit) {
		r.wrong.want(n >= 1, "RateLimit: MaxCallers(%d): want at least 1", n)
		r.maxCallers = n
	}
}

// PolicyName names the limit in the RateLimit headers. Default: "default". A server with several limits gives each its own.
func PolicyName(name string) RateOption {
	return func(r *rateLimit) {
		r.wrong.want(isToken(name), "RateLimit: PolicyName(%q): want a word", name)
		r.name = name
	}
}

// OnlyWhenLimited leaves the RateLimit headers out of answers to calls that passed, which spares an allocation for each.
func OnlyWhenLimited() RateOption { return func(r *rateLimit) { r.quiet = true } }

type rateLimit struct {
	wrong       problems
	limit       ratelimit.Limit
	byPrincipal bool
	byRoute     bool
	together    bool
	header      string
	maxCallers  int
	name        string
	quiet       bool

	policy  string // the header RateLimit-Policy
	callers *ratelimit.Buckets
}

// RateLimit lets each caller call rate times a second on average, and burst times at once after a pause. A call above that
// gets status 429, sabir.ErrRateLimited and Retry-After; answers report how much is left in RateLimit and RateLimit-Policy
// (draft-ietf-httpapi-ratelimit-headers-10). The rate is above 0 and at most 10,000,000; it may be less than 1.
//
// A caller is an address. In IPv6 it is a network of 64 bits, since a provider gives a customer at least that. Options change
// this. Behind a proxy all callers have its address, unless web.TrustProxies names it.
//
// Each node counts by itself.
func RateLimit(rate float64, burst int, options ...RateOption) exchange.Filter {
	r := &rateLimit{maxCallers: 100_000, name: "default"}
	for _, o := range options {
		o(r)
	}
	limit, problems := ratelimit.New(rate, burst)
	for _, p := range problems {
		r.wrong.want(false, "%w", p)
	}
	r.wrong.want(!r.together || !r.byPrincipal && r.header == "", "RateLimit: Together excludes ByPrincipal and ByHeader")
	if len(r.wrong) > 0 {
		return r.wrong.filter(exchange.Filter{Name: "ratelimit"})
	}
	r.limit = limit
	r.policy = fmt.Sprintf(`"%s";q=%d;w=%d`, r.name, burst, ceilSeconds(limit.Burst()))
	r.callers = limit.NewBuckets(r.maxCallers)
	return exchange.Filter{Name: "ratelimit", Before: r.before}
}

func (r *rateLimit) before(x *exchange.Exchange) error {
	var space [256]byte
	left, wait := r.callers.Take(r.appendKey(space[:0], x))
	if wait > 0 {
		r.setHeaders(x, 0, wait)
		x.Answer.Set("Retry-After", strconv.FormatInt(ceilSeconds(wait), 10))
		return r.limited(wait)
	}
	if !r.quiet {
		interval := r.limit.Interval()
		r.setHeaders(x, int64(left/interval), interval-left%interval)
	}
	return nil
}

// setHeaders sets how many calls are left, and when there will be one more.
func (r *rateLimit) setHeaders(x *exchange.Exchange, left int64, until time.Duration) {
	text := make([]byte, 0, 48)
	text = append(text, '"')
	text = append(text, r.name...)
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
	if r.byRoute {
		if action := actionOf(x); action != nil {
			buf = append(buf, action.Name...)
		} else {
			buf = append(buf, x.Path...)
		}
	}
	buf = append(buf, 0)
	if r.header != "" {
		buf = append(buf, x.Header.Get(r.header)...)
	}
	buf = append(buf, 0)
	switch {
	case r.together:
	case r.byPrincipal && isPrincipal(x):
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
