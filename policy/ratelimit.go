package policy

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/ratelimit"
	"github.com/sabir-go/sabir/internal/signal"
)

// RateLimit lets an action be called Rate times a second on average, and Burst times at once after a pause. A call above
// that is answered at once with sabir.ErrRateLimited (code ResourceExhausted, retryable), whose data is [RetryAfter], and
// the signal "rate.limited" is sent.
type RateLimit struct {
	// Rate is the calls per second: above 0 and at most 10,000,000; it may be less than 1. It has no default.
	Rate float64
	// Burst is the calls at once after a pause: at least 1. It has no default.
	Burst int
	// PerKey limits the calls of each key by themselves: a key is made from fields of the input and from metadata, as for
	// [Cached.Keys]. Calls that lack the field or the pair share one limit. Default: one limit for all calls.
	PerKey []string
	// MaxKeys bounds how many keys are remembered for each action. A key that was not used for long is forgotten, and begins
	// with a full burst when it comes back. Default: 10,000.
	MaxKeys int
}

// Middleware makes the middleware.
func (c RateLimit) Middleware() sabir.Middleware {
	s := settings{name: "RateLimit"}
	limit, problems := ratelimit.New(c.Rate, c.Burst)
	s.problems = append(s.problems, problems...)
	s.want(c.MaxKeys >= 0, "MaxKeys is %d: want at least 1", c.MaxKeys)
	c.MaxKeys = cmp.Or(c.MaxKeys, 10_000)
	return s.middleware(func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		if len(c.PerKey) > 0 {
			return c.perKey(a, limit, next)
		}
		bucket := limit.NewBucket()
		return func(ctx context.Context, r *sabir.Request) error {
			if _, wait := bucket.Take(); wait > 0 {
				return tooOften(a, wait)
			}
			return next(ctx, r)
		}
	})
}

func tooOften(a *sabir.Action, wait time.Duration) error {
	a.Signal(signal.RateLimited)
	return &sabir.Error{Code: sabir.CodeResourceExhausted, Name: sabir.ErrRateLimited.Name, Retryable: true, Data: retryAfter(wait), Node: a.Node,
		Message: fmt.Sprintf("%s is called more often than its rate limit allows; try again in %v", a.Name, wait.Round(time.Millisecond))}
}

func (c RateLimit) perKey(a *sabir.Action, limit ratelimit.Limit, next sabir.Handler) sabir.Handler {
	key, err := newKeys(a, c.PerKey)
	if err != nil {
		a.Reject("policy.RateLimit: %w", err)
		return next
	}
	buckets := limit.NewBuckets(c.MaxKeys)
	return func(ctx context.Context, r *sabir.Request) error {
		w := takeKeyWriter()
		key.of(reflect.TypeOf(r.Input()).Elem()).write(w, ctx, r)
		if w.bad {
			w.buf = w.buf[:0]
		}
		_, wait := buckets.Take(w.buf)
		w.put()
		if wait > 0 {
			return tooOften(a, wait)
		}
		return next(ctx, r)
	}
}
