package policy

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/budget"
	"github.com/sabir-go/sabir/internal/signal"
)

// Retry tries a failed call again, after a pause that grows from attempt to attempt, if the error is marked retryable:
// nothing was done, so trying again does no harm. When all attempts fail, the caller gets the last error. The zero value is
// ready for use.
//
// An attempt goes to another node than those on which this call has failed, while there is one, whatever the balancer, the key and the
// zone.
//
// Further attempts have a budget, so that they do not multiply an overload: of each action's calls in the last ten seconds, a fifth
// and ten a second besides may be tried again, by Retry and [Hedge] together; see Budget. And while a call is itself part of a
// further attempt, of a Retry around it here or on another node, it is tried once only.
//
// It stops at once when the caller asked for one attempt (sabir.NoRetry), when the next attempt would come after the
// caller's deadline or MaxElapsed, and when the error asks to come back later than MaxPause ([RetryAfter]; a
// shorter wish is granted). Each attempt after the first sends the signal "retry". A call that succeeds at once
// pays for one comparison.
type Retry struct {
	// Attempts bounds how often a call is tried in all, the first time included: 1 to 20. Default: 3.
	Attempts int
	// FirstPause comes before the second attempt. Each pause is twice the one before it. Default: 100 ms, or MaxPause if that
	// is shorter.
	FirstPause time.Duration
	// MaxPause bounds each pause. Default: 2 s, or FirstPause if that is longer.
	MaxPause time.Duration
	// Jitter is the share of each pause that is random, so that callers that failed together do not come back together: with
	// 0.5, a pause of 100 ms becomes 50 to 100 ms. At most 1. Default: 0.5; -1 is none.
	Jitter float64
	// MaxElapsed bounds how long after the first failure the last attempt may begin. Default: 30 s.
	MaxElapsed time.Duration
	// Codes are retried too, whether the error is marked retryable or not. They are for actions that do no harm when they run
	// twice: after CodeDeadlineExceeded, for one, the first attempt's work may have been done, or still be under way.
	Codes []sabir.Code
	// Budget is the share of the calls that may be attempts after the first, of Retry and [Hedge] together: above 0, up to 10. Default: 0.2, with
	// 10 a second besides; -1 is no bound.
	Budget float64
}

// maxAttempts bounds Retry.Attempts.
const maxAttempts = 20

// noJitter is the [Retry.Jitter] of pauses that are not random.
const noJitter = -1

// Middleware makes the middleware.
func (c Retry) Middleware() sabir.Middleware {
	s := settings{name: "Retry"}
	s.want(c.Attempts >= 0 && c.Attempts <= maxAttempts, "Attempts is %d: want 1 to %d", c.Attempts, maxAttempts)
	s.want(c.FirstPause >= 0 && c.MaxPause >= 0, "FirstPause is %v and MaxPause %v: want positive times", c.FirstPause, c.MaxPause)
	s.want(c.MaxPause == 0 || c.FirstPause <= c.MaxPause, "FirstPause is %v, longer than MaxPause, %v", c.FirstPause, c.MaxPause)
	s.want(c.Jitter == noJitter || c.Jitter >= 0 && c.Jitter <= 1, "Jitter is %v: want 0 to 1, or -1", c.Jitter)
	s.want(c.MaxElapsed >= 0, "MaxElapsed is %v: want a positive time", c.MaxElapsed)
	s.wantBudget(c.Budget)
	c.Budget = cmp.Or(c.Budget, budget.Share)
	c.Attempts, c.MaxElapsed, c.Jitter = cmp.Or(c.Attempts, 3), cmp.Or(c.MaxElapsed, 30*time.Second), max(cmp.Or(c.Jitter, 0.5), 0)
	c.MaxPause = cmp.Or(c.MaxPause, max(2*time.Second, c.FirstPause))
	c.FirstPause = cmp.Or(c.FirstPause, min(100*time.Millisecond, c.MaxPause))
	return s.middleware(func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		counted, calls := a.Remote, a.Budget() // calls to other nodes count themselves
		return func(ctx context.Context, r *sabir.Request) error {
			if !counted {
				calls.Deposit(1)
			}
			err := next(ctx, r)
			if err == nil || r.NoRetry() {
				return err
			}
			return c.again(ctx, a, r, next, err)
		}
	})
}

// again makes the attempts after the first.
func (c *Retry) again(ctx context.Context, a *sabir.Action, r *sabir.Request, next sabir.Handler, err error) error {
	if isFurtherAttempt(ctx) {
		return err
	}
	last := time.Now().Add(c.MaxElapsed)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(last) {
		last = deadline
	}
	for attempt := 1; attempt < c.Attempts; attempt++ {
		pause, ok := c.pause(sabir.AsError(err), attempt)
		if !ok || !time.Now().Add(pause).Before(last) {
			return err
		}
		if !withdraw(a, c.Budget) {
			a.Signal(signal.BudgetSpent)
			return err
		}
		if !sleep(ctx, pause) {
			return err
		}
		a.Signal(signal.Retried)
		if attempt == 1 {
			ctx = furtherAttempt(ctx)
		}
		if err = next(ctx, r); err == nil {
			return nil
		}
	}
	return err
}

// pause returns how long to wait after the given attempt; false if the error is not to be retried.
func (c *Retry) pause(e *sabir.Error, attempt int) (time.Duration, bool) {
	if !e.Retryable && !slices.Contains(c.Codes, e.Code) {
		return 0, false
	}
	pause := c.MaxPause
	if shift := attempt - 1; c.FirstPause <= c.MaxPause>>shift {
		pause = c.FirstPause << shift
	}
	pause -= time.Duration(c.Jitter * rand.Float64() * float64(pause))
	wish := retryDelay(e)
	return max(pause, wish), wish <= c.MaxPause
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
