package policy

import (
	"cmp"
	"context"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/budget"
	"github.com/sabir-go/sabir/internal/signal"
)

// Hedge sends a copy of a call that takes long to another node. The first answer is the caller's, and the other attempt is cancelled.
// So a node that stands still, or is slow now and then, costs its callers a moment and not their deadline. The zero value is ready
// for use.
//
// Only calls to other nodes of actions that are declared sabir.Idempotent are copied, where two nodes or more offer them, and once
// each. Those of all other actions pass without any cost, so it may be given to the whole node.
//
// The copy is made within the budget of further attempts that [Retry] has too, so that a slow cluster is not made slower.
// Each sends the signal "hedge". Put it inside [Retry] and outside [Breaker]; [Stack] does.
type Hedge struct {
	// After is the time after which a call is copied. Default: the time within which 95 of 100 attempts of this action answered lately,
	// at most ten times the median and at least 1 ms; nothing is copied before 100 answers have come.
	After time.Duration
	// Budget is the share of the calls that may be attempts after the first, of [Retry] and Hedge together: above 0, up to 10. Default: 0.2, with
	// 10 a second besides; -1 is no bound.
	Budget float64
}

// Middleware makes the middleware.
func (c Hedge) Middleware() sabir.Middleware {
	s := settings{name: "Hedge"}
	s.want(c.After >= 0, "After is %v: want a positive time", c.After)
	s.wantBudget(c.Budget)
	c.Budget = cmp.Or(c.Budget, budget.Share)
	remote := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		if !a.Idempotent {
			return next
		}
		h := &hedged{Hedge: c, action: a, next: next}
		return h.call
	}
	return sabir.Middleware{Name: s.name, Remote: s.checked(remote)}
}

// hedged is the calls of one action.
type hedged struct {
	Hedge
	action *sabir.Action
	next   sabir.Handler
	times  answerTimes
}

func (h *hedged) call(ctx context.Context, r *sabir.Request) error {
	if isFurtherAttempt(ctx) {
		return h.next(ctx, r) // the attempts of two calls, one inside the other, would multiply
	}
	after := h.After
	if after == 0 {
		after = h.times.late()
	}
	if after == 0 {
		return h.measured(ctx, r)
	}
	return r.Hedge(ctx, after, h.allow, furtherAttempt, h.measured)
}

// measured makes one attempt.
func (h *hedged) measured(ctx context.Context, r *sabir.Request) error {
	if h.After != 0 {
		return h.next(ctx, r)
	}
	began := time.Now()
	err := h.next(ctx, r)
	if err == nil || ctx.Err() == context.Canceled { // one that was cancelled took so long at least
		h.times.add(time.Since(began))
	}
	return err
}

func (h *hedged) allow() bool {
	if !withdraw(h.action, h.Budget) {
		h.action.Signal(signal.BudgetSpent)
		return false
	}
	h.action.Signal(signal.Hedged)
	return true
}
