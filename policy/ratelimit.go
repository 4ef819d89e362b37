package policy

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/ratelimit"
)

// RateOption is an option of [RateLimit].
type RateOption func(*rateLimit)

type rateLimit struct {
	settings
	limit   ratelimit.Limit
	keys    []string
	maxKeys int
}

// PerKey limits the calls of each key by themselves: a key is drawn from fields of the input and from metadata, as for
// [Keys]. Calls that lack the field or the pair share one limit.
func PerKey(keys ...string) RateOption {
	return func(c *rateLimit) {
		c.want(len(keys) > 0, "PerKey was given no key")
		c.keys = append(c.keys, keys...)
	}
}

// MaxKeys bounds how many keys are remembered for each action. Default: 10,000. A key that was not used for long is
// forgotten, and begins with a full burst when it comes back.
func MaxKeys(n int) RateOption {
	return func(c *rateLimit) {
		c.want(n >= 1, "MaxKeys(%d): want at least 1", n)
		c.maxKeys = n
	}
}

// RateLimit lets an action be called rate times a second on average, and burst times at once after a pause. A call above
// that is answered at once with sabir.ErrRateLimited (code ResourceExhausted, retryable), whose data is [RetryAfter], and
// the signal sabir.RateLimited is sent. The rate is above 0 and at most 10,000,000; it may be less than 1.
func RateLimit(rate float64, burst int, options ...RateOption) sabir.Middleware {
	c := &rateLimit{settings: settings{name: "RateLimit"}, maxKeys: 10_000}
	var problems []error
	c.limit, problems = ratelimit.New(rate, burst)
	c.problems = append(c.problems, problems...)
	for _, o := range options {
		o(c)
	}
	return c.middleware(func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		if len(c.keys) > 0 {
			return c.perKey(a, next)
		}
		bucket := c.limit.NewBucket()
		return func(ctx context.Context, r *sabir.Request) error {
			if _, wait := bucket.Take(); wait > 0 {
				return c.limited(a, wait)
			}
			return next(ctx, r)
		}
	})
}

func (c *rateLimit) limited(a *sabir.Action, wait time.Duration) error {
	a.Signal(sabir.RateLimited)
	return &sabir.Error{Code: sabir.CodeResourceExhausted, Name: sabir.ErrRateLimited.Name, Retryable: true, Data: retryAfter(wait), Node: a.Node,
		Message: fmt.Sprintf("%s is called more often than its rate limit allows; try again in %v", a.Name, wait.Round(time.Millisecond))}
}

func (c *rateLimit) perKey(a *sabir.Action, next sabir.Handler) sabir.Handler {
	key, err := newKeys(a, c.keys)
	if err != nil {
		a.Refuse("policy.RateLimit: %w", err)
		return next
	}
	buckets := c.limit.NewBuckets(c.maxKeys)
	return func(ctx context.Context, r *sabir.Request) error {
		w := takeKeyWriter()
		key.of(reflect.TypeOf(r.Input()).Elem()).write(w, ctx, r)
		if w.bad {
			w.buf = w.buf[:0]
		}
		_, wait := buckets.Take(w.buf)
		w.put()
		if wait > 0 {
			return c.limited(a, wait)
		}
		return next(ctx, r)
	}
}
