package telemetry_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

func statsOf(t *testing.T, node *sabir.Node) telemetry.Stats {
	t.Helper()
	stats, err := sabir.Call[telemetry.Stats](t.Context(), node, "$telemetry.stats", sabir.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func TestStatsTellCallsFailuresAndTimesOfEachAction(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Metrics: true})
	node := start(t, sabir.Serve(shop(), tel.Stats()), sabir.Use(tel.Middleware()))
	for range 3 {
		if err := call(node, t.Context(), "v2.shop.hello"); err != nil {
			t.Fatal(err)
		}
	}
	if err := call(node, t.Context(), "v2.shop.buy"); err == nil {
		t.Fatal("v2.shop.buy did not fail")
	}
	stats := statsOf(t, node)
	if stats.Node != node.ID() || stats.Taken.IsZero() {
		t.Errorf("stats of node %q at %v", stats.Node, stats.Taken)
	}
	for name, want := range map[string][2]uint64{"v2.shop.hello": {3, 0}, "v2.shop.buy": {1, 1}} {
		i := slices.IndexFunc(stats.Actions, func(a telemetry.ActionStats) bool { return a.Name == name })
		if i < 0 {
			t.Errorf("there is no %s in %+v", name, stats.Actions)
			continue
		}
		a := stats.Actions[i]
		var inBuckets uint64
		for _, n := range a.Buckets {
			inBuckets += n
		}
		if got := [2]uint64{a.Calls, a.Failed}; got != want || a.Active != 0 || inBuckets != a.Calls || a.Seconds <= 0 || len(a.Buckets) != len(stats.Bounds)+1 {
			t.Errorf("%+v, want %d calls, %d failed, none active, all in the buckets", a, want[0], want[1])
		}
	}
}

func TestACallInFlightIsActive(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Metrics: true})
	node := start(t, sabir.Serve(tel.Stats()), sabir.Use(tel.Middleware()))
	if a := statsOf(t, node).Actions; len(a) == 0 {
		t.Error("no action is counted")
	} else if i := slices.IndexFunc(a, func(a telemetry.ActionStats) bool { return a.Name == "$telemetry.stats" }); i < 0 || a[i].Active != 1 || a[i].Calls != 0 {
		t.Errorf("%+v, want the very call that asks to be active", a)
	}
}

func TestStatsOfATelemetryWithoutMetricsSayWhatIsMissing(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{})
	node := start(t, sabir.Serve(tel.Stats()), sabir.Use(tel.Middleware()))
	_, err := sabir.Call[telemetry.Stats](t.Context(), node, "$telemetry.stats", sabir.Empty{})
	if e := sabir.AsError(err); err == nil || e.Code != sabir.CodeFailedPrecondition || e.Name != "MetricsOff" {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatWasDoneSinceALookIsTheDifference(t *testing.T) {
	bounds := []float64{1}
	before := telemetry.Stats{Node: "a", Bounds: bounds, Actions: []telemetry.ActionStats{{Name: "x", Calls: 100, Failed: 9, Active: 7, Buckets: []uint64{90, 10}, Seconds: 50}}}
	for name, test := range map[string]struct{ now, want telemetry.ActionStats }{
		"it went on": {telemetry.ActionStats{Name: "x", Calls: 130, Failed: 10, Active: 2, Buckets: []uint64{115, 15}, Seconds: 60},
			telemetry.ActionStats{Name: "x", Calls: 30, Failed: 1, Active: 2, Buckets: []uint64{25, 5}, Seconds: 10}},
		"nothing was called": {before.Actions[0], telemetry.ActionStats{Name: "x", Active: 7, Buckets: []uint64{0, 0}}},
		"it began anew":      {telemetry.ActionStats{Name: "x", Calls: 7, Failed: 2, Buckets: []uint64{7, 0}}, telemetry.ActionStats{Name: "x", Calls: 7, Failed: 2, Buckets: []uint64{7, 0}}},
		"an action is new":   {telemetry.ActionStats{Name: "y", Calls: 5, Buckets: []uint64{5, 0}}, telemetry.ActionStats{Name: "y", Calls: 5, Buckets: []uint64{5, 0}}},
	} {
		now := telemetry.Stats{Node: "a", Bounds: bounds, Actions: []telemetry.ActionStats{test.now}}
		calls, first := test.now.Calls, test.now.Buckets[0]
		if got := now.Since(before).Actions[0]; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
		if got := now.Actions[0]; got.Calls != calls || got.Buckets[0] != first {
			t.Errorf("%s: the later look was changed to %+v", name, got)
		}
		if got := now.Since(telemetry.Stats{}).Actions[0]; !reflect.DeepEqual(got, test.now) {
			t.Errorf("%s: since nothing: %+v, want all", name, got)
		}
		now.Bounds = []float64{2}
		if got := now.Since(before).Actions[0]; !reflect.DeepEqual(got, test.now) {
			t.Errorf("%s: with other bounds: %+v, want all", name, got)
		}
	}
}

func TestAQuantileIsEstimatedWithinItsBucket(t *testing.T) {
	bounds := []float64{1, 2, 4}
	for name, test := range map[string]struct {
		buckets []uint64
		q, want float64
	}{
		"no calls":             {[]uint64{0, 0, 0, 0}, 0.5, 0},
		"in the first":         {[]uint64{10, 0, 0, 0}, 0.5, 0.5},
		"in the middle":        {[]uint64{0, 4, 4, 0}, 0.75, 3},
		"at a bound":           {[]uint64{5, 5, 0, 0}, 0.5, 1},
		"past an empty one":    {[]uint64{1, 0, 1, 0}, 1, 4},
		"past two gaps":        {[]uint64{5, 0, 5, 0}, 0.99, 3.96},
		"in the one with none": {[]uint64{0, 0, 0, 3}, 0.99, 4},
		"mostly in that":       {[]uint64{1, 0, 0, 9}, 0.99, 4},
		"no buckets":           {nil, 0.5, 0},
	} {
		if got := (telemetry.Stats{Bounds: bounds}).Quantile(test.buckets, test.q); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
