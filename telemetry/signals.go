package telemetry

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"

	"github.com/sabir-go/sabir"
)

// signalMetrics are the metrics that known signals are counted in.
var signalMetrics = [...]struct {
	kind        sabir.SignalKind
	metric      string
	unit        string
	description string
}{
	{sabir.CacheHit, "sabir.cache.hits", "{hit}", "Calls answered from a cache."},
	{sabir.CacheMiss, "sabir.cache.misses", "{miss}", "Calls that a cache had no answer for."},
	{sabir.Retried, "sabir.retries", "{retry}", "Attempts after the first."},
	{sabir.RateLimited, "sabir.rate_limited", "{call}", "Calls refused by a rate limit."},
	{sabir.BulkheadRejected, "sabir.bulkhead.rejected", "{call}", "Calls refused by a full bulkhead."},
	{sabir.TimedOut, "sabir.timeouts", "{call}", "Calls ended by a timeout policy."},
	{sabir.FellBack, "sabir.fallbacks", "{call}", "Calls answered by a fallback."},
	{sabir.BreakerOpened, "sabir.breaker.openings", "{opening}", "Times that a circuit breaker opened."},
	{sabir.BreakerHalfOpen, "sabir.breaker.probes", "{probe}", "Times that an open circuit breaker let calls try again."},
	{sabir.BreakerClosed, "sabir.breaker.closings", "{closing}", "Times that a circuit breaker closed."},
}

// signals counts what policies and other middlewares noticed, by action.
type signals struct {
	service func(action string) string
	known   atomic.Pointer[map[string]*actionSignals] // replaced as a whole: reading takes no lock
	mu      sync.Mutex
}

type actionSignals struct {
	attributes  []attribute.KeyValue
	counts      [len(signalMetrics)]atomic.Uint64
	hasBreaker  atomic.Bool
	breakerOpen atomic.Bool

	mu    sync.Mutex
	other map[sabir.SignalKind]uint64 // signals of middlewares that Sabir does not know
}

// maxSignalActions and maxSignalKinds bound what is counted apart; what is beyond is counted as "other".
const (
	maxSignalActions = 10_000
	maxSignalKinds   = 16
)

// record counts one signal.
func (s *signals) record(signal sabir.Signal) {
	a := s.of(signal.Action)
	switch signal.Kind { // the breaker's last state counts; half open is not closed
	case sabir.BreakerOpened:
		a.hasBreaker.Store(true)
		a.breakerOpen.Store(true)
	case sabir.BreakerClosed:
		a.hasBreaker.Store(true)
		a.breakerOpen.Store(false)
	}
	for i := range signalMetrics {
		if signalMetrics[i].kind == signal.Kind {
			a.counts[i].Add(1)
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	kind := signal.Kind
	if _, found := a.other[kind]; !found && len(a.other) >= maxSignalKinds {
		kind = other
	}
	if a.other == nil {
		a.other = make(map[sabir.SignalKind]uint64)
	}
	a.other[kind]++
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

// others returns the counts of the kinds that are not in signalMetrics.
func (a *actionSignals) others() map[sabir.SignalKind]uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.other)
}
