// Package policy has ready-made middlewares that keep a service up when something it depends on is not: time limits,
// retries, copies of late calls, circuit breakers, bulkheads, rate limits, fallbacks and caches.
//
// Each is a [sabir.Middleware], so it goes wherever one goes: around one action, a service, or all that a node does.
// Its state, such as a breaker's, is made for each action of its own.
//
//	prices := &policy.Cache{MaxEntries: 50_000}
//
//	sabir.Handle(shop, "price", price, sabir.Use(
//		policy.FallbackValue(Price{}),
//		policy.Cached{Cache: prices, TTL: time.Minute, Keys: []string{"item", "#currency"}},
//		policy.RateLimit{Rate: 1000, Burst: 100},
//		policy.Retry{},
//		policy.Breaker{},
//		policy.Timeout(2*time.Second),
//		policy.Bulkhead{MaxCalls: 50, MaxQueue: 100},
//	))
//
// The first is the outermost. The order above is the one to start from, and [Stack] has it built in; docs/policies.md explains why,
// and what each costs. An order that defeats a policy, such as a [Timeout] outside a [Breaker], is refused.
//
// A setting out of its range, a fallback of another type than its action's, a cache key that its action's
// input has no field for: the action's service does not start, and the error names which and why.
//
// Policies wrap calls, those this node handles and those it sends to another; events and streams pass them by.
package policy
