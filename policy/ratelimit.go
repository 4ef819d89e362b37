package policy

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/sabir-go/sabir"
)

// RateOption is an option of [RateLimit].
type RateOption func(*rateLimit)

type rateLimit struct {
	settings
	interval int64 // nanoseconds between calls at the full rate
	room     int64 // the burst, in nanoseconds
	keys     []string
	maxKeys  int
}

// PerKey limits the calls of each key by themselves: a key is drawn from fields of the input and from metadata, as for
// [Keys]. Calls that lack the field or the pair share one limit.
func PerKey(keys ...string) RateOption {
	return func(c *rateLimit) {
		c.want(len(keys) > 0, "PerKey was given no key")
		c.keys = append(c.keys, keys...)
	}
}

// MaxKeys bounds how many keys are remembered for each action; 10,000 without it. A key that was not used for long is
// forgotten, and begins with a full burst when it comes back.
func MaxKeys(n int) RateOption {
	return func(c *rateLimit) {
		c.want(n >= 1, "MaxKeys(%d): want at least 1", n)
		c.maxKeys = n
	}
}

// maxRate bounds the rate: above it, nanoseconds are too coarse to tell it within one percent.
const maxRate = 10_000_000

// RateLimit lets an action be called rate times a second on average, and burst times at once after a pause. A call above
// that is answered at once with sabir.ErrRateLimited (code ResourceExhausted, retryable), whose data is [RetryAfter], and
// the signal sabir.RateLimited is sent. The rate is above 0 and at most 10,000,000; it may be less than 1.
//
// It is the generic cell rate algorithm (ITU-T I.371): one number per action or key, the time at which the bucket will be
// full again, changed with one atomic operation.
func RateLimit(rate float64, burst int, options ...RateOption) sabir.Middleware {
	c := &rateLimit{settings: settings{name: "RateLimit"}, maxKeys: 10_000}
	interval := float64(time.Second) / rate
	c.want(rate > 0 && rate <= maxRate, "RateLimit(%v, …): want more than 0, at most %d calls a second", rate, maxRate)
	c.want(burst >= 1, "RateLimit(…, %d): want a burst of at least 1", burst)
	c.want(rate <= 0 || interval*float64(burst) < math.MaxInt64/4, "RateLimit(%v, %d): it would take centuries to fill the bucket", rate, burst)
	if len(c.problems) == 0 {
		c.interval = int64(math.Round(interval))
		c.room = c.interval * int64(burst)
	}
	for _, o := range options {
		o(c)
	}
	return c.middleware(func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		if len(c.keys) > 0 {
			return c.perKey(a, next)
		}
		start, b := time.Now(), &bucket{}
		return func(ctx context.Context, r *sabir.Request) error {
			if wait := c.take(b, int64(time.Since(start))); wait > 0 {
				return c.limited(a, wait)
			}
			return next(ctx, r)
		}
	})
}

// bucket holds the time, in nanoseconds since the limit was made, at which it will be full again.
type bucket struct{ full atomic.Int64 }

// take takes one call out of the bucket, or tells how long until there is one.
func (c *rateLimit) take(b *bucket, now int64) (wait int64) {
	for {
		full := b.full.Load()
		then := max(full, now) + c.interval
		if wait := then - now - c.room; wait > 0 {
			return wait
		}
		if b.full.CompareAndSwap(full, then) {
			return 0
		}
	}
}

func (c *rateLimit) limited(a *sabir.Action, wait int64) error {
	a.Signal(sabir.RateLimited)
	after := time.Duration(wait)
	return &sabir.Error{Code: sabir.ResourceExhausted, Name: sabir.ErrRateLimited.Name, Retryable: true, Data: retryAfter(after), Node: a.Node,
		Message: fmt.Sprintf("%s is called more often than its rate limit allows; try again in %v", a.Name, after.Round(time.Millisecond))}
}

func (c *rateLimit) perKey(a *sabir.Action, next sabir.Handler) sabir.Handler {
	key, err := newKeys(a, c.keys)
	if err != nil {
		a.Refuse("policy.RateLimit: %w", err)
		return next
	}
	start, seed := time.Now(), maphash.MakeSeed()
	buckets := otter.Must(&otter.Options[uint64, *bucket]{MaximumSize: c.maxKeys, Executor: inPlace})
	return func(ctx context.Context, r *sabir.Request) error {
		w := takeKeyWriter()
		key.of(reflect.TypeOf(r.Input()).Elem()).write(w, ctx, r)
		if w.bad {
			w.buf = w.buf[:0]
		}
		hash := maphash.Bytes(seed, w.buf)
		w.put()
		b, ok := buckets.GetIfPresent(hash)
		if !ok {
			b, _ = buckets.SetIfAbsent(hash, &bucket{})
		}
		if wait := c.take(b, int64(time.Since(start))); wait > 0 {
			return c.limited(a, wait)
		}
		return next(ctx, r)
	}
}

// inPlace runs otter's upkeep on the goroutine that made it necessary, so that a store has no goroutines to stop.
func inPlace(fn func()) { fn() }
