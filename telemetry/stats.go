package telemetry

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
)

// Stats counts what a node's actions have done since its Telemetry was made. All counts only grow (Active aside), so a program
// that watches a node takes the difference of two Stats: nothing is reset, and several can watch at once.
type Stats struct {
	Node    string        `json:"node"`
	Taken   time.Time     `json:"taken"`
	Bounds  []float64     `json:"bounds"`  // upper, inclusive ends of the buckets, in seconds; the last bucket has none
	Actions []ActionStats `json:"actions"` // by name
}

// ActionStats is the counts of one action, or one stream, of the node.
type ActionStats struct {
	Name    string   `json:"name"`
	Stream  bool     `json:"stream,omitempty"`
	Calls   uint64   `json:"calls"`   // that have ended, those that failed included
	Failed  uint64   `json:"failed"`  // of them
	Active  int64    `json:"active"`  // in flight
	Buckets []uint64 `json:"buckets"` // calls by how long they took: one more than Bounds
	Seconds float64  `json:"seconds"` // all calls took together
}

// errMetricsOff: the node counts nothing, so $telemetry.stats has no answer. Give telemetry.New a Config with Metrics or Prometheus.
var errMetricsOff = sabir.NewError(sabir.CodeFailedPrecondition, "MetricsOff", "the node counts nothing: give telemetry.New a Config with Metrics or Prometheus")

// Stats makes the service "$telemetry", whose action "$telemetry.stats" answers with [Stats]: what "sabir top" asks each
// node for. Its action "$telemetry.history" has a point for each 10 seconds of the last hour, which the dashboard draws. Serve it on the node that the middleware is given to:
//
//	tel, err := telemetry.New(telemetry.Config{Metrics: true})
//	node := sabir.NewNode(sabir.Serve(users, tel.Stats()), sabir.Use(tel.Middleware()))
//
// It adds nothing to a call: it reads the counts that Config.Metrics or Config.Prometheus keep, when it is asked. Without either its
// action fails with FailedPrecondition. Nodes that share a Telemetry are counted together, so give each its own. A caller that
// may call the node's public actions may read it, as they may $node.actions.
func (t *Telemetry) Stats() *sabir.Service {
	h := &history{metrics: t.metrics}
	s := sabir.NewService("$telemetry", sabir.Doc("tells what the node's actions do"), sabir.OnStart(h.start), sabir.OnStop(h.end))
	sabir.Handle(s, "stats", func(ctx context.Context, _ sabir.Empty) (Stats, error) {
		if t.metrics == nil {
			return Stats{}, errMetricsOff
		}
		stats := t.metrics.stats()
		stats.Node = sabir.NodeFromContext(ctx).ID()
		return stats, nil
	}, sabir.Doc("tells how often actions were called, how long that took, and how many calls failed"), sabir.Idempotent())
	sabir.Handle(s, "history", func(context.Context, sabir.Empty) ([]point, error) {
		if t.metrics == nil {
			return nil, errMetricsOff
		}
		return h.list(), nil
	}, sabir.Doc("tells the same of every 10 seconds of the last hour, all actions together"), sabir.Idempotent())
	return s
}

func (m *metrics) stats() Stats {
	stats := Stats{Taken: time.Now(), Bounds: slices.Clone(m.bounds.seconds), Actions: []ActionStats{}}
	for _, f := range []family{serverCalls, streams} {
		for _, t := range m.list(f) {
			stats.Actions = append(stats.Actions, t.stats(f == streams))
		}
	}
	slices.SortFunc(stats.Actions, func(a, b ActionStats) int { return strings.Compare(a.Name, b.Name) })
	return stats
}

func (t *tally) stats(stream bool) ActionStats {
	name, _ := t.all.Value(methodKey)
	all := t.bounds.empty()
	for i := range t.failed {
		if f := t.failed[i].Load(); f != nil {
			all.add(&f.durations)
		}
	}
	failed := all.count
	for i := range t.shards {
		all.add(&t.shards[i].success)
	}
	var began uint64
	for i := range t.shards { // after the ends, so that active is never below 0
		began += t.shards[i].began.Load()
	}
	return ActionStats{Name: name.AsString(), Stream: stream, Calls: all.count, Failed: failed, Active: int64(began - all.count),
		Buckets: all.counts, Seconds: all.seconds}
}

// Since returns what the actions have done since an earlier look at the node, in the order of s: the counts less those of
// before, and Active as it is now. An action that was not there before, or whose count of calls has fallen because the node was
// started anew, counts from 0; so does everything if before is a zero Stats. Neither Stats is changed.
func (s Stats) Since(before Stats) Stats {
	known := make(map[string]ActionStats, len(before.Actions))
	for _, a := range before.Actions {
		known[a.Name] = a
	}
	same := slices.Equal(s.Bounds, before.Bounds)
	s.Actions = slices.Clone(s.Actions)
	for i := range s.Actions {
		a := &s.Actions[i]
		old := known[a.Name]
		if !same || old.Calls > a.Calls {
			continue
		}
		a.Calls -= old.Calls
		a.Failed -= min(old.Failed, a.Failed)
		a.Seconds -= min(old.Seconds, a.Seconds)
		a.Buckets = slices.Clone(a.Buckets)
		for i := range min(len(a.Buckets), len(old.Buckets)) {
			a.Buckets[i] -= min(old.Buckets[i], a.Buckets[i])
		}
	}
	return s
}

// Quantile estimates the time, in seconds, that a share q (0 to 1) of calls did not exceed, from the bounds and
// from the Buckets of one of the actions, or from sums and differences of such Buckets. Calls are taken to be spread evenly
// within a bucket; in the last one, which has no end, the estimate is its beginning. 0 stands for no calls.
func (s Stats) Quantile(buckets []uint64, q float64) float64 {
	bounds := s.Bounds
	var all uint64
	for _, n := range buckets {
		all += n
	}
	if all == 0 || len(bounds) == 0 {
		return 0
	}
	rank := q * float64(all)
	var below float64
	for i, n := range buckets {
		if below+float64(n) < rank || n == 0 {
			below += float64(n)
			continue
		}
		if i >= len(bounds) {
			break
		}
		from := 0.0
		if i > 0 {
			from = bounds[i-1]
		}
		return from + (bounds[i]-from)*(rank-below)/float64(n)
	}
	return bounds[len(bounds)-1]
}
