package telemetry

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"go.opentelemetry.io/otel/attribute"

	"github.com/sabir-go/sabir"
)

// The attributes. Those without "sabir" are of the semantic conventions, version 1.43:
// https://opentelemetry.io/docs/specs/semconv/rpc/ and https://opentelemetry.io/docs/specs/semconv/messaging/.
const (
	systemKey        = attribute.Key("rpc.system.name")
	methodKey        = attribute.Key("rpc.method")
	statusKey        = attribute.Key("rpc.response.status_code")
	errorTypeKey     = attribute.Key("error.type")
	messagingKey     = attribute.Key("messaging.system")
	operationKey     = attribute.Key("messaging.operation.name")
	operationTypeKey = attribute.Key("messaging.operation.type")
	templateKey      = attribute.Key("messaging.destination.template")
	destinationKey   = attribute.Key("messaging.destination.name")
	groupKey         = attribute.Key("messaging.consumer.group.name")
	broadcastKey     = attribute.Key("sabir.event.broadcast")
	groupsKey        = attribute.Key("sabir.event.groups")
	serviceKey       = attribute.Key("sabir.service")
	errorNameKey     = attribute.Key("sabir.error.name")
	requestIDKey     = attribute.Key("sabir.request_id")
	inputKey         = attribute.Key("sabir.input")
	outputKey        = attribute.Key("sabir.output")
	signalKey        = attribute.Key("sabir.signal")
	nodeKey          = attribute.Key("sabir.node")
)

const system = "sabir"

// family is a kind of work that is counted.
type family uint8

const (
	serverCalls family = iota
	clientCalls
	events
	streams
	families
)

// maxTallies bounds, for each family, the names that are counted apart; the work under further names is counted together, as
// "other". What a program serves is bounded by the program; the names of other nodes' actions are its callers'.
var maxTallies = [families]int{serverCalls: 10_000, clientCalls: 1_000, events: 10_000, streams: 10_000}

// metrics holds all counts of a Telemetry.
type metrics struct {
	bounds  *bounds
	epoch   time.Time
	signals signals

	mu      sync.Mutex
	tallies [families]map[string]*tally
	order   [families][]*tally
}

func newMetrics(b *bounds) *metrics {
	m := &metrics{bounds: b, epoch: time.Now()}
	m.signals.service = m.service
	for f := range m.tallies {
		m.tallies[f] = make(map[string]*tally)
	}
	return m
}

// now is the time since the epoch: one reading of the monotonic clock, which is half the price of time.Now.
func (m *metrics) now() time.Duration { return time.Since(m.epoch) }

// tally finds or makes the counts for a name, so that a service that is removed and added again counts on.
func (m *metrics) tally(f family, name string, fresh func(name string) *tally) *tally {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tallies[f][name]
	if t == nil && len(m.order[f]) >= maxTallies[f] {
		name = other
		t = m.tallies[f][name]
	}
	if t == nil {
		t = fresh(name)
		m.tallies[f][name] = t
		m.order[f] = append(m.order[f], t)
	}
	return t
}

// service is the service of an action that was counted, or would be.
func (m *metrics) service(action string) string {
	m.mu.Lock()
	t := m.tallies[serverCalls][action]
	m.mu.Unlock()
	if t == nil {
		return serviceOf(&sabir.Action{Name: action})
	}
	service, _ := t.all.Value(serviceKey)
	return service.AsString()
}

// list is the tallies of a family in the order they were made.
func (m *metrics) list(f family) []*tally {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.order[f])
}

// ofAction finds the counts of an action.
func (m *metrics) ofAction(f family, a *sabir.Action) *tally {
	return m.tally(f, a.Name, func(name string) *tally {
		service := serviceOf(a)
		if name == other {
			service = other
		}
		return newTally(m.bounds, statusKey, systemKey.String(system), methodKey.String(name), serviceKey.String(service))
	})
}

// ofSubscription finds the counts of a handler of events.
func (m *metrics) ofSubscription(s *sabir.Subscription) *tally {
	return m.tally(events, s.Service+" "+s.Group+" "+s.Pattern, func(name string) *tally {
		service, pattern, group := s.Service, s.Pattern, s.Group
		if name == other {
			service, pattern, group = other, other, other
		}
		return newTally(m.bounds, "", messagingKey.String(system), operationKey.String("handle"),
			templateKey.String(pattern), groupKey.String(group), serviceKey.String(service))
	})
}

// serviceOf is the service of an action; for another node's, which names no service, all before the last dot.
func serviceOf(a *sabir.Action) string {
	if a.Service != "" {
		return a.Service
	}
	return a.Name[:max(strings.LastIndexByte(a.Name, '.'), 0)]
}

// call counts the calls, or the streams, of one action.
func (m *metrics) call(f family, a *sabir.Action, next sabir.Handler) sabir.Handler {
	t := m.ofAction(f, a)
	released := f == serverCalls && !a.Inline
	return func(ctx context.Context, r *sabir.Request) error {
		s := t.shard(unsafe.Pointer(r))
		s.began.Add(1)
		start := m.now()
		returned := false
		defer func() {
			if !returned {
				t.endPanicking(m.now() - start)
			}
		}()
		err := next(ctx, r)
		returned = true
		t.end(s, outcome(ctx, released, err), m.now()-start)
		return err
	}
}

// outcome returns the error that the caller got of a call that returned err. A caller with a deadline is answered at its
// deadline although the handler runs on: it does not get the handler's later result. Only released calls, those that are
// neither Inline nor another node's, run that way.
func outcome(ctx context.Context, released bool, err error) error {
	if err != nil || !released {
		return err
	}
	if _, limited := ctx.Deadline(); !limited {
		return nil
	}
	switch ctx.Err() {
	case nil:
		return nil
	case context.Canceled:
		return sabir.ErrCanceled
	}
	return sabir.ErrDeadlineExceeded
}

// event counts the events that one handler handles.
func (m *metrics) event(sub *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
	t := m.ofSubscription(sub)
	return func(ctx context.Context, e *sabir.Event) error {
		s := t.shard(unsafe.Pointer(e))
		s.began.Add(1)
		start := m.now()
		returned := false
		defer func() {
			if !returned {
				t.endPanicking(m.now() - start)
			}
		}()
		err := next(ctx, e)
		returned = true
		t.end(s, err, m.now()-start)
		return err
	}
}
