// Package signal names the signals that the ready-made policies and the runtime send: the kinds that a middleware's Signal gets, which
// docs/telemetry.md lists.
package signal

// The signals, each about an action.
const (
	CacheHit         = "cache.hit"
	CacheMiss        = "cache.miss"
	BreakerOpened    = "breaker.opened"
	BreakerHalfOpen  = "breaker.half_open"
	BreakerClosed    = "breaker.closed"
	Retried          = "retry"
	RateLimited      = "rate.limited"
	BulkheadRejected = "bulkhead.rejected"
	TimedOut         = "timeout"
	FellBack         = "fallback"
	Hedged           = "hedge"         // a copy of a call was sent to another node
	NodeLeftOut      = "node.left_out" // of the runtime itself: a sick node gets no calls of the action for a while
	NodeReturned     = "node.returned" // and gets them again
	BudgetSpent      = "budget.spent"  // a further attempt was not made, since the budget had none
)
