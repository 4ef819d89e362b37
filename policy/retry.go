package policy

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sabir-go/sabir"
)

// RetryOption is an option of [Retry].
type RetryOption func(*retry)

type retry struct {
	settings
	attempts    int
	first, most time.Duration
	jitter      float64
	elapsed     time.Duration
	codes       []sabir.Code
}

// maxAttempts bounds Attempts.
const maxAttempts = 20

// Attempts sets how often a call is tried in all, the first time included: 1 to 20. Default: 3.
func Attempts(n int) RetryOption {
	return func(c *retry) {
		c.want(n >= 1 && n <= maxAttempts, "Attempts(%d): want 1 to %d", n, maxAttempts)
		c.attempts = n
	}
}

// Backoff sets the pause before the second attempt, and the longest one; each pause is twice the one before it. Default: 100 ms
// and 2 s.
func Backoff(first, most time.Duration) RetryOption {
	return func(c *retry) {
		c.want(first > 0 && first <= most, "Backoff(%v, %v): want a positive pause and one that is not shorter", first, most)
		c.first, c.most = first, most
	}
}

// Jitter sets the share of each pause that is left to chance, 0 to 1, so that callers that failed together do not come
// back together: with 0.5, as without this option, a pause of 100 ms becomes 50 to 100 ms.
func Jitter(share float64) RetryOption {
	return func(c *retry) {
		c.want(share >= 0 && share <= 1, "Jitter(%v): want 0 to 1", share)
		c.jitter = share
	}
}

// MaxElapsed sets how long after the first failure the last attempt may begin. Default: 30 s.
func MaxElapsed(d time.Duration) RetryOption {
	return func(c *retry) {
		c.want(d > 0, "MaxElapsed(%v): want a positive time", d)
		c.elapsed = d
	}
}

// RetryOn retries errors of these codes too, whether they are marked retryable or not. It is for actions that do no harm
// when they run twice: after DeadlineExceeded, for one, the first attempt's work may have been done, or still be under
// way.
func RetryOn(codes ...sabir.Code) RetryOption {
	return func(c *retry) { c.codes = append(c.codes, codes...) }
}

// Retry tries a failed call again, after a pause that grows from attempt to attempt, if the error is marked retryable:
// nothing was done, so trying again does no harm. When all attempts fail, the caller gets the last error.
//
// It stops at once when the caller asked for one attempt (sabir.NoRetry), when the next attempt would come after the
// caller's deadline or MaxElapsed, and when the error asks to come back later than the longest pause ([RetryAfter]; a
// shorter wish is granted). Each attempt after the first sends the signal sabir.Retried. A call that succeeds at once
// pays for one comparison.
func Retry(options ...RetryOption) sabir.Middleware {
	c := &retry{settings: settings{name: "Retry"}, attempts: 3, first: 100 * time.Millisecond, most: 2 * time.Second, jitter: 0.5, elapsed: 30 * time.Second}
	for _, o := range options {
		o(c)
	}
	return c.middleware(func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			err := next(ctx, r)
			if err == nil || r.NoRetry() {
				return err
			}
			return c.again(ctx, a, r, next, err)
		}
	})
}

// again makes the attempts after the first.
func (c *retry) again(ctx context.Context, a *sabir.Action, r *sabir.Request, next sabir.Handler, err error) error {
	last := time.Now().Add(c.elapsed)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(last) {
		last = deadline
	}
	for attempt := 1; attempt < c.attempts; attempt++ {
		pause, ok := c.pause(sabir.AsError(err), attempt)
		if !ok || !time.Now().Add(pause).Before(last) || !sleep(ctx, pause) {
			return err
		}
		a.Signal(sabir.Retried)
		if err = next(ctx, r); err == nil {
			return nil
		}
	}
	return err
}

// pause returns how long to wait after the given attempt; false if the error is not to be retried.
func (c *retry) pause(e *sabir.Error, attempt int) (time.Duration, bool) {
	if !e.Retryable && !slices.Contains(c.codes, e.Code) {
		return 0, false
	}
	pause := c.most
	if shift := attempt - 1; c.first <= c.most>>shift {
		pause = c.first << shift
	}
	pause -= time.Duration(c.jitter * rand.Float64() * float64(pause))
	wish := retryDelay(e)
	return max(pause, wish), wish <= c.most
}

// sleep reports whether the whole pause passed before the context ended.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
