// Package signal holds what middlewares report beside the results of calls: a cache hit, a retry, a breaker that opened. The
// policies send signals and telemetry counts them, so that neither depends on the other. A middleware of the node listens:
//
//	var hits atomic.Int64
//	count := sabir.Middleware{Name: "hits", Signal: func(s signal.Signal) {
//		if s.Kind == signal.CacheHit {
//			hits.Add(1)
//		}
//	}}
//	node := sabir.NewNode(sabir.Use(count), sabir.Serve(users))
//
// A middleware with a signal of its own sends it with the method Signal of its sabir.Action, under a [Kind] of its own:
//
//	a.Signal("quota.spent")
package signal

// Signal is something that a middleware noticed about an action and others may want to count.
type Signal struct {
	Kind   Kind
	Action string // full name
	Node   string // that it is about, where that is another one; "" otherwise
}

// Kind names a signal: one of the constants, or a middleware's own.
type Kind string

// The signals that the ready-made policies send, and the runtime where it says so.
const (
	CacheHit         Kind = "cache.hit"
	CacheMiss        Kind = "cache.miss"
	BreakerOpened    Kind = "breaker.opened"
	BreakerHalfOpen  Kind = "breaker.half_open"
	BreakerClosed    Kind = "breaker.closed"
	Retried          Kind = "retry"
	RateLimited      Kind = "rate.limited"
	BulkheadRejected Kind = "bulkhead.rejected"
	TimedOut         Kind = "timeout"
	FellBack         Kind = "fallback"
	Hedged           Kind = "hedge"         // a copy of a call was sent to another node
	NodeLeftOut      Kind = "node.left_out" // of the runtime itself: a sick node gets no calls of the action for a while
	NodeReturned     Kind = "node.returned" // and gets them again
	BudgetSpent      Kind = "budget.spent"  // a further attempt was not made, since the budget had none
)
