package telemetry_test

import (
	"slices"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

func statsOf(t *testing.T, node *sabir.Node) telemetry.Stats {
	t.Helper()
	stats, err := sabir.Call[telemetry.Stats](t.Context(), node, "$telemetry.stats", sabir.Nothing{})
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func TestStatsTellCallsFailuresAndTimesOfEachAction(t *testing.T) {
	tel := newTelemetry(t, telemetry.Metrics())
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
	tel := newTelemetry(t, telemetry.Metrics())
	node := start(t, sabir.Serve(tel.Stats()), sabir.Use(tel.Middleware()))
	if a := statsOf(t, node).Actions; len(a) == 0 {
		t.Error("no action is counted")
	} else if i := slices.IndexFunc(a, func(a telemetry.ActionStats) bool { return a.Name == "$telemetry.stats" }); i < 0 || a[i].Active != 1 || a[i].Calls != 0 {
		t.Errorf("%+v, want the very call that asks to be active", a)
	}
}

func TestStatsOfATelemetryWithoutMetricsSayWhatIsMissing(t *testing.T) {
	tel := newTelemetry(t)
	node := start(t, sabir.Serve(tel.Stats()), sabir.Use(tel.Middleware()))
	_, err := sabir.Call[telemetry.Stats](t.Context(), node, "$telemetry.stats", sabir.Nothing{})
	if e := sabir.AsError(err); err == nil || e.Code != sabir.FailedPrecondition || e.Name != "MetricsOff" {
		t.Errorf("the error is %v", err)
	}
}
