package policy

import (
	"context"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/budget"
)

// attemptKey is the metadata of a call that is a further attempt: of Retry, or a copy of Hedge. It goes with the attempt to its node and
// on to all calls that are made there in turn, which get one attempt each. So attempts of calls inside one another add up and do not
// multiply: of three calls inside one another that all fail, each with three attempts, the innermost is made
// 3+2+2 times and not 27.
const attemptKey = "sabir-attempt"

// furtherAttempt returns the context of a further attempt.
func furtherAttempt(ctx context.Context) context.Context {
	return sabir.WithMetadata(ctx, attemptKey, "further")
}

// isFurtherAttempt reports whether the call is part of a further attempt.
func isFurtherAttempt(ctx context.Context) bool {
	return sabir.InfoFromContext(ctx).Metadata[attemptKey] != ""
}

// noBudget is the Budget of a [Retry] or a [Hedge] whose further attempts nothing bounds but their number for each call.
const noBudget = -1

// maxBudget bounds Budget: more attempts than Retry.Attempts allows need none.
const maxBudget = 10

func (s *settings) wantBudget(share float64) {
	s.want(share == noBudget || share >= 0 && share <= maxBudget, "Budget is %v: want 0 to %d, or -1", share, maxBudget)
}

// withdraw takes a further attempt of an action from its budget, and reports whether there was one.
func withdraw(a *sabir.Action, share float64) bool {
	return share == noBudget || a.Budget().Withdraw(share, budget.PerSecond)
}
