package main

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

// clusterFigures is the activity in a cluster, or in one node, over the time between two looks.
type clusterFigures struct {
	Seconds float64         `json:"seconds"` // between the looks; 0 at the first, which has no rates
	Nodes   []surveyed      `json:"nodes"`
	Actions []actionFigures `json:"actions"`
	Mute    []string        `json:"mute"` // nodes that do not report what their actions do

	OverHTTP bool `json:"-"`
}

// actionFigures are the rates and times of one action, over all nodes. Times are in microseconds, as measured in the nodes, and
// estimated within the buckets of their histograms.
type actionFigures struct {
	Name         string  `json:"name"`
	Nodes        int     `json:"nodes"` // that offer it
	PerSecond    float64 `json:"calls_per_second"`
	ErrorsPerSec float64 `json:"errors_per_second"`
	P50          float64 `json:"p50_us"`
	P99          float64 `json:"p99_us"`
	Active       int64   `json:"active"`
	Calls        uint64  `json:"calls"`  // in all
	Failed       uint64  `json:"failed"` // of them
}

// total is the sum over all actions, its percentiles left out.
func (f *clusterFigures) total() (t actionFigures) {
	for _, a := range f.Actions {
		t.PerSecond += a.PerSecond
		t.ErrorsPerSec += a.ErrorsPerSec
		t.Calls += a.Calls
		t.Failed += a.Failed
	}
	return t
}

// observer looks at a cluster again and again.
type observer struct {
	cli  *cli
	to   target
	all  bool // the runtime's own actions too
	last map[string]telemetry.Stats
	when time.Time
}

// look returns the activity since the last look.
func (o *observer) look(ctx context.Context) (clusterFigures, error) {
	nodes, err := o.cli.survey(ctx, o.to, 1)
	if err != nil {
		return clusterFigures{}, err
	}
	nodes = slices.DeleteFunc(nodes, func(s surveyed) bool { return s.ClientOnly })
	now := time.Now()
	seen := o.ask(ctx, nodes)
	_, linked := o.to.(*clusterClient)
	f := clusterFigures{Nodes: nodes, Mute: []string{}, OverHTTP: !linked}
	if !o.when.IsZero() {
		f.Seconds = now.Sub(o.when).Seconds()
	}
	sums := make(map[string]*sum)
	for _, n := range nodes {
		stats, tells := seen[n.ID]
		if !tells {
			f.Mute = append(f.Mute, n.ID)
			continue
		}
		addNode(sums, stats, o.last[n.ID])
	}
	f.Actions = o.figures(sums, f.Seconds)
	o.last, o.when = seen, now
	return f, nil
}

// ask asks all nodes at once what their actions have done so far. Over HTTP only the asked one can be.
func (o *observer) ask(ctx context.Context, nodes []surveyed) map[string]telemetry.Stats {
	const action = "$telemetry.stats"
	seen := make(map[string]telemetry.Stats)
	g, joined := o.to.(*clusterClient)
	if !joined {
		if stats, err := askFor[telemetry.Stats](ctx, o.cli, o.to, action); err == nil {
			seen[stats.Node] = stats
		}
		return seen
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, n := range nodes {
		if n.State == stateSilent {
			continue
		}
		asked.Go(func() {
			stats, err := sabir.Call[telemetry.Stats](ctx, g.node, action, sabir.Empty{}, sabir.ToNode(n.ID))
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			seen[n.ID] = stats
		})
	}
	asked.Wait()
	return seen
}

// sum adds up one action over nodes.
type sum struct {
	nodes           int
	active          int64
	calls, failed   uint64 // in all
	recent, recentF uint64 // since the last look
	bounds          []float64
	buckets         []uint64 // of the recent ones
}

// addNode adds a node's present counts, less those of the last look. A node that was started anew counts from 0.
func addNode(sums map[string]*sum, now, before telemetry.Stats) {
	recent := now.Since(before)
	for i, a := range now.Actions {
		s := sums[a.Name]
		if s == nil {
			s = &sum{bounds: now.Bounds, buckets: make([]uint64, len(now.Bounds)+1)}
			sums[a.Name] = s
		}
		s.nodes++
		s.active += a.Active
		s.calls += a.Calls
		s.failed += a.Failed
		s.recent += recent.Actions[i].Calls
		s.recentF += recent.Actions[i].Failed
		if !slices.Equal(s.bounds, now.Bounds) {
			continue // its buckets are others; it counts in everything but percentiles
		}
		for j := range min(len(a.Buckets), len(s.buckets)) {
			s.buckets[j] += recent.Actions[i].Buckets[j]
		}
	}
}

func (o *observer) figures(sums map[string]*sum, seconds float64) []actionFigures {
	list := []actionFigures{}
	for name, s := range sums {
		if name[0] == '$' && !o.all || s.calls == 0 && s.active == 0 {
			continue
		}
		a := actionFigures{Name: name, Nodes: s.nodes, Active: s.active, Calls: s.calls, Failed: s.failed,
			P50: telemetry.Stats{Bounds: s.bounds}.Quantile(s.buckets, 0.5) * 1e6, P99: telemetry.Stats{Bounds: s.bounds}.Quantile(s.buckets, 0.99) * 1e6}
		if seconds > 0 {
			a.PerSecond, a.ErrorsPerSec = float64(s.recent)/seconds, float64(s.recentF)/seconds
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b actionFigures) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// why returns why some nodes report nothing.
func (f *clusterFigures) why() string {
	if f.OverHTTP {
		return "over HTTP the asked one alone can, if it serves telemetry.Stats; --join asks all"
	}
	return "they do not serve telemetry.Stats, or without metrics; programs that take settings do where admin.address and admin.metrics are set"
}
