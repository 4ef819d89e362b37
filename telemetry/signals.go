package telemetry

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"

	"github.com/sabir-go/sabir/internal/signal"
)

// signalMetrics are the metrics that known signals are counted in.
var signalMetrics = [...]struct {
	kind        string
	metric      string
	unit        string
	description string
}{
	{signal.CacheHit, "sabir.cache.hits", "{hit}", "Calls answered from a cache."},
	{signal.CacheMiss, "sabir.cache.misses", "{miss}", "Calls that a cache had no answer for."},
	{signal.Retried, "sabir.retries", "{retry}", "Attempts after the first."},
	{signal.RateLimited, "sabir.rate_limited", "{call}", "Calls refused by a rate limit."},
	{signal.BulkheadRejected, "sabir.bulkhead.rejected", "{call}", "Calls refused by a full bulkhead."},
	{signal.TimedOut, "sabir.timeouts", "{call}", "Calls ended by a timeout policy."},
	{signal.FellBack, "sabir.fallbacks", "{call}", "Calls answered by a fallback."},
	{signal.Hedged, "sabir.hedges", "{copy}", "Copies of calls that took long, sent to another node."},
	{signal.BudgetSpent, "sabir.retry_budget.spent", "{attempt}", "Attempts that were not made, since the budget had none."},
	{signal.NodeLeftOut, "sabir.nodes.left_out", "{node}", "Times that a sick node was left out for an action."},
	{signal.NodeReturned, "sabir.nodes.returned", "{node}", "Times that a node that was left out got calls again."},
	{signal.BreakerOpened, "sabir.breaker.openings", "{opening}", "Times that a circuit breaker opened."},
	{signal.BreakerHalfOpen, "sabir.breaker.probes", "{probe}", "Times that an open circuit breaker let calls try again."},
	{signal.BreakerClosed, "sabir.breaker.closings", "{closing}", "Times that a circuit breaker closed."},
}

// signals counts the signals of policies and other middlewares, by action.
type signals struct {
	service func(action string) string
	known   atomic.Pointer[map[string]*actionSignals] // replaced as a whole: reading takes no lock
	mu      sync.Mutex
}

type actionSignals struct {
	attributes  []attribute.KeyValue
	counts      [len(signalMetrics)]atomic.Uint64
	hasBreaker  atomic.Bool
	breakerOpen atomic.Bool // of the action, or of a node

	mu    sync.Mutex
	open  map[string]bool   // nodes whose breakers are open
	out   map[string]bool   // nodes that get no calls for a while
	other map[string]uint64 // signals of middlewares that Sabir does not know
}

// maxSignalActions and maxSignalKinds bound the actions and kinds with counts of their own; others are counted as "other".
const (
	maxSignalActions = 10_000
	maxSignalKinds   = 16
	maxSignalNodes   = 1000 // of an action
)

// record counts one signal.
func (s *signals) record(kind, action, node string) {
	a := s.of(action)
	switch kind { // the breaker's last state counts; half open is not closed
	case signal.BreakerOpened, signal.BreakerClosed:
		a.mu.Lock()
		a.hasBreaker.Store(true)
		a.breakerOpen.Store(note(&a.open, node, kind == signal.BreakerOpened) > 0)
		a.mu.Unlock()
	case signal.NodeLeftOut, signal.NodeReturned:
		a.mu.Lock()
		note(&a.out, node, kind == signal.NodeLeftOut)
		a.mu.Unlock()
	}
	for i := range signalMetrics {
		if signalMetrics[i].kind == kind {
			a.counts[i].Add(1)
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, found := a.other[kind]; !found && len(a.other) >= maxSignalKinds {
		kind = other
	}
	if a.other == nil {
		a.other = make(map[string]uint64)
	}
	a.other[kind]++
}

// note puts a node into a set, or takes it out, and returns how many there are then.
func note(set *map[string]bool, node string, there bool) int {
	if *set == nil {
		*set = make(map[string]bool)
	}
	if there && len(*set) < maxSignalNodes {
		(*set)[node] = true
	} else {
		delete(*set, node)
	}
	return len(*set)
}

func (s *signals) of(action string) *actionSignals {
	if known := s.known.Load(); known != nil {
		if a := (*known)[action]; a != nil {
			return a
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	grown := make(map[string]*actionSignals)
	if known := s.known.Load(); known != nil {
		grown = maps.Clone(*known)
	}
	if len(grown) >= maxSignalActions && grown[action] == nil {
		action = other
	}
	if a := grown[action]; a != nil {
		return a
	}
	service := other
	if action != other {
		service = s.service(action)
	}
	a := &actionSignals{attributes: []attribute.KeyValue{methodKey.String(action), serviceKey.String(service)}}
	grown[action] = a
	s.known.Store(&grown)
	return a
}

// list returns the actions that sent signals, sorted by name.
func (s *signals) list() (list []*actionSignals) {
	known := s.known.Load()
	if known == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(*known)) {
		list = append(list, (*known)[name])
	}
	return list
}

// nodesOut is the number of nodes that are left out; false where there has never been one.
func (a *actionSignals) nodesOut() (count int, any bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.out), a.out != nil
}

// others returns the counts of the kinds that are not in signalMetrics.
func (a *actionSignals) others() map[string]uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.other)
}
