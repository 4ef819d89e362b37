package load

import (
	"maps"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Report has the measurements of a load. Times are in microseconds. Calls that failed count like the others in everything but
// Errors; a report with errors is of little use for speed.
type Report struct {
	Calls          int64            `json:"calls"`
	Failed         int64            `json:"failed"`
	Errors         map[string]int64 `json:"errors"` // by name
	Bytes          int64            `json:"bytes"`  // of the answers
	Seconds        float64          `json:"seconds"`
	CallsPerSecond float64          `json:"calls_per_second"`
	Timed          int64            `json:"timed"` // calls that the latencies are of
	Latency        Latency          `json:"latency"`
	Histogram      []Bar            `json:"histogram"`
	Missed         int64            `json:"missed"`      // calls that a rate asked for and no caller was free to make
	Interrupted    bool             `json:"interrupted"` // the load ended before its time
}

// Latency is the time that calls took, in microseconds.
type Latency struct {
	Mean float64 `json:"mean_us"`
	P50  float64 `json:"p50_us"`
	P90  float64 `json:"p90_us"`
	P99  float64 `json:"p99_us"`
	P999 float64 `json:"p99.9_us"`
	Max  float64 `json:"max_us"`
}

// Bar is the number of calls that took from From to To, in microseconds.
type Bar struct {
	From  float64 `json:"from_us"`
	To    float64 `json:"to_us"`
	Count int64   `json:"count"`
}

func (r *run) report(elapsed time.Duration) *Report {
	all := r.recorder[0].latencies
	for _, other := range r.recorder[1:] {
		all.Merge(other.latencies)
	}
	quantile := func(q float64) float64 { return float64(all.ValueAtQuantile(q)) / 1e3 }
	return &Report{
		Calls: r.totals.calls, Failed: r.totals.failed, Errors: r.totals.errors, Bytes: r.totals.bytes,
		Seconds:        elapsed.Seconds(),
		CallsPerSecond: float64(r.totals.calls) / max(elapsed.Seconds(), 1e-9),
		Timed:          all.TotalCount(),
		Latency: Latency{Mean: all.Mean() / 1e3, P50: quantile(50), P90: quantile(90), P99: quantile(99), P999: quantile(99.9),
			Max: float64(all.Max()) / 1e3},
		Histogram: bars(all),
	}
}

// bars sorts the latencies into steps of 1, 2, 5, 10, 20, 50 … from the first that is not empty to the last.
func bars(all *hdrhistogram.Histogram) []Bar {
	counts := make(map[int64]int64) // by the lower bound of the step
	for _, b := range all.Distribution() {
		if b.Count > 0 {
			from, _ := stepOf(b.From)
			counts[from] += b.Count
		}
	}
	list := []Bar{}
	if len(counts) == 0 {
		return list
	}
	steps := slices.Sorted(maps.Keys(counts))
	last := steps[len(steps)-1]
	for from, to := stepOf(steps[0]); from <= last; from, to = stepOf(to) {
		list = append(list, Bar{From: float64(from) / 1e3, To: float64(to) / 1e3, Count: counts[from]})
	}
	return list
}

// stepOf is the step of 1, 2, 5, 10 … that n is in: from <= n < to.
func stepOf(n int64) (from, to int64) {
	to = 1
	for unit := int64(1); ; unit *= 10 {
		for _, next := range []int64{2, 5, 10} {
			if n < to {
				return from, to
			}
			from, to = to, unit*next
		}
	}
}
