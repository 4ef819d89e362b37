package filter

import (
	"fmt"
	"hash/maphash"
	"math"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/sabir-go/sabir"
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

// MaxCallers is how many callers are remembered; 100,000 without it, some 15 MB. One that was not seen for long is forgotten,
// and begins with a full burst when it comes back.
func MaxCallers(n int) RateOption {
	return func(r *rateLimit) {
		r.wrong.want(n >= 1, "RateLimit: MaxCallers(%d): want at least 1", n)
		r.maxCallers = n
	}
}

// Behind takes the address of the client behind these proxies instead of the connection's.
func Behind(proxies Proxies) RateOption { return func(r *rateLimit) { r.proxies = proxies } }

// PolicyName names the limit in the RateLimit headers; "default" without it. A face with several limits gives each its own.
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
	interval    int64 // nanoseconds between calls at the full rate
	room        int64 // the burst, in nanoseconds
	byPrincipal bool
	byRoute     bool
	together    bool
	header      string
	maxCallers  int
	proxies     Proxies
	name        string
	quiet       bool

	policy  string // the header RateLimit-Policy
	start   time.Time
	seed    maphash.Seed
	callers *otter.Cache[uint64, *bucket]
}

// maxRate bounds the rate: above it, nanoseconds are too coarse.
const maxRate = 10_000_000

// RateLimit lets each caller call rate times a second on average, and burst times at once after a pause. A call above that
// gets status 429, sabir.ErrRateLimited and Retry-After; answers say how much is left in RateLimit and RateLimit-Policy
// (draft-ietf-httpapi-ratelimit-headers-10). The rate is above 0 and at most 10,000,000; it may be less than 1.
//
// A caller is an address, of IPv6 a network of 64 bits, which is what one customer gets; options say otherwise. Behind a
// proxy all callers have its address, unless [Behind] names it.
//
// It is the generic cell rate algorithm (ITU-T I.371): one number for each caller, the time at which the bucket will be full
// again, changed with one atomic operation. Limits of several nodes are apart.
func RateLimit(rate float64, burst int, options ...RateOption) exchange.Filter {
	r := &rateLimit{maxCallers: 100_000, name: "default", start: time.Now(), seed: maphash.MakeSeed()}
	for _, o := range options {
		o(r)
	}
	interval := float64(time.Second) / rate
	r.wrong.want(rate > 0 && rate <= maxRate, "RateLimit(%v, …): want more than 0, at most %d calls a second", rate, maxRate)
	r.wrong.want(burst >= 1, "RateLimit(…, %d): want a burst of at least 1", burst)
	r.wrong.want(!(rate > 0) || interval*float64(burst) < math.MaxInt64/4, "RateLimit(%v, %d): it would take centuries to fill the bucket", rate, burst)
	r.wrong.want(!r.together || !r.byPrincipal && r.header == "", "RateLimit: Together excludes ByPrincipal and ByHeader")
	err := r.proxies.check()
	r.wrong.want(err == nil, "RateLimit: %w", err)
	if len(r.wrong) > 0 {
		return r.wrong.filter(exchange.Filter{Name: "ratelimit"})
	}
	r.interval = int64(math.Round(interval))
	r.room = r.interval * int64(burst)
	r.policy = fmt.Sprintf(`"%s";q=%d;w=%d`, r.name, burst, ceilSeconds(r.room))
	r.callers = otter.Must(&otter.Options[uint64, *bucket]{MaximumSize: r.maxCallers, Executor: inPlace})
	return exchange.Filter{Name: "ratelimit", Before: r.before}
}

// inPlace runs otter's upkeep on the goroutine that made it necessary, so that there are no goroutines to stop.
func inPlace(fn func()) { fn() }

// bucket holds the time, in nanoseconds since the filter was made, at which it will be full again.
type bucket struct{ full atomic.Int64 }

func (r *rateLimit) before(x *exchange.Exchange) error {
	key := r.key(x)
	b, ok := r.callers.GetIfPresent(key)
	if !ok {
		b, _ = r.callers.SetIfAbsent(key, &bucket{})
	}
	now := int64(time.Since(r.start))
	full, wait := r.take(b, now)
	if wait > 0 {
		r.say(x, 0, wait)
		x.Answer.Set("Retry-After", strconv.FormatInt(ceilSeconds(wait), 10))
		return r.limited(wait)
	}
	if !r.quiet {
		room := r.room - (full - now)
		r.say(x, room/r.interval, r.interval-room%r.interval)
	}
	return nil
}

// take takes one call out of the bucket, or tells how long until there is one.
func (r *rateLimit) take(b *bucket, now int64) (full, wait int64) {
	for {
		old := b.full.Load()
		full := max(old, now) + r.interval
		if wait := full - now - r.room; wait > 0 {
			return old, wait
		}
		if b.full.CompareAndSwap(old, full) {
			return full, 0
		}
	}
}

// say tells how many calls are left, and when there will be one more.
func (r *rateLimit) say(x *exchange.Exchange, left, until int64) {
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

func ceilSeconds(nanoseconds int64) int64 {
	return (nanoseconds + int64(time.Second) - 1) / int64(time.Second)
}

// limited is sabir.ErrRateLimited with data as policy.RetryAfter has it, so that policy.Retry waits as long.
func (r *rateLimit) limited(wait int64) error {
	after := time.Duration(wait)
	return sabir.Errorf(sabir.ResourceExhausted, sabir.ErrRateLimited.Name, "too many calls; try again in %v", after.Round(time.Millisecond)).
		WithData(retryAfter{after.Seconds()})
}

type retryAfter struct {
	Seconds float64 `json:"retryAfter"`
}

// key is who calls, as a hash with a secret seed: nobody can choose an address that shares another's bucket.
func (r *rateLimit) key(x *exchange.Exchange) uint64 {
	var room [256]byte
	buf := room[:0]
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
		p := x.Caller.(*auth.Principal)
		buf = append(buf, 'p')
		buf = append(buf, p.Scheme...)
		buf = append(buf, 0)
		buf = append(buf, p.Subject...)
	default:
		buf = append(buf, 'a')
		buf = appendCaller(buf, r.proxies.Client(x))
	}
	return maphash.Bytes(r.seed, buf)
}

func isPrincipal(x *exchange.Exchange) bool {
	p, ok := x.Caller.(*auth.Principal)
	return ok && p != nil
}

// appendCaller appends what of an address tells callers apart.
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
