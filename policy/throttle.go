package policy

import (
	"cmp"
	"context"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/ratelimit"
)

// Throttle has a handler handle one event at once and the next no sooner than Every later. It is for handlers of events and consumers of channels:
//
//	sabir.On(screen, "price.*", draw, sabir.Use(policy.Throttle{Every: 100 * time.Millisecond}))
//
// Events that come in between are left out for this handler, and their emitters do not notice: it is for what shows the latest state. Of a
// channel nothing is left out: messages wait for their turn, and those that the node has not fetched stay with the broker.
type Throttle struct {
	// Every is the time between two events that are handled: from 1 µs to 24 hours. It has no default.
	Every time.Duration
	// Key says which events count together. It is called by many goroutines at once. Default: all events of the handler.
	Key func(*sabir.Event) string
	// MaxKeys bounds how many keys are remembered. Default: 10,000.
	MaxKeys int
}

// Middleware makes the middleware.
func (t Throttle) Middleware() sabir.Middleware {
	s := settings{name: "Throttle"}
	s.want(t.Every >= time.Microsecond && t.Every <= 24*time.Hour, "Every is %v: want a time from 1 µs to 24 hours", t.Every)
	s.want(t.MaxKeys >= 0, "MaxKeys is %d: want at least 1", t.MaxKeys)
	return s.forHandlers(t.handler)
}

func (t Throttle) handler(s *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
	limit, _ := ratelimit.New(float64(time.Second)/float64(t.Every), 1)
	bucket := limit.NewBucket()
	take := func(*sabir.Event) (wait time.Duration) {
		_, wait = bucket.Take()
		return wait
	}
	if t.Key != nil {
		buckets := limit.NewBuckets(cmp.Or(t.MaxKeys, 10_000))
		take = func(e *sabir.Event) (wait time.Duration) {
			_, wait = buckets.Take([]byte(t.Key(e)))
			return wait
		}
	}
	if !s.Durable {
		return func(ctx context.Context, e *sabir.Event) error {
			if take(e) > 0 {
				return nil
			}
			return next(ctx, e)
		}
	}
	return func(ctx context.Context, e *sabir.Event) error {
		for wait := take(e); wait > 0; wait = take(e) {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return next(ctx, e)
	}
}
