package child

import (
	"cmp"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies is the distribution of latencies: pairs of nanoseconds and a count, as an HdrHistogram has them.
type Latencies [][2]int64

// Latencies beyond maxLatency count as that; all are kept to three digits.
const (
	maxLatency = 100 * time.Second
	digits     = 3
)

// Histogram collects latencies. One goroutine at a time may record; make one for each caller and Add them.
type Histogram struct{ h *hdrhistogram.Histogram }

// NewHistogram makes an empty one.
func NewHistogram() *Histogram { return &Histogram{hdrhistogram.New(1, int64(maxLatency), digits)} }

// Record takes the latency of one operation.
func (h *Histogram) Record(d time.Duration) {
	h.h.RecordValue(int64(min(max(d, 1), maxLatency)))
}

// Add takes all latencies that another has.
func (h *Histogram) Add(from Latencies) {
	for _, pair := range from {
		h.h.RecordValues(min(max(pair[0], 1), int64(maxLatency)), pair[1])
	}
}

// Merge takes all latencies of another histogram.
func (h *Histogram) Merge(from *Histogram) { h.h.Merge(from.h) }

// Count returns the number of latencies.
func (h *Histogram) Count() int64 { return h.h.TotalCount() }

// Mean of all latencies, to the histogram's three digits.
func (h *Histogram) Mean() time.Duration { return time.Duration(h.h.Mean()) }

// Quantile is the latency that a share of all operations, 0 to 1, did not exceed; at 0 the least, at 1 the greatest.
func (h *Histogram) Quantile(share float64) time.Duration {
	switch {
	case h.h.TotalCount() == 0:
		return 0
	case share <= 0:
		return time.Duration(h.h.Min())
	case share >= 1:
		return time.Duration(h.h.Max())
	}
	return time.Duration(h.h.ValueAtQuantile(share * 100))
}

// Latencies returns the histogram's latencies, in order.
func (h *Histogram) Latencies() Latencies {
	var all Latencies
	for _, bar := range h.h.Distribution() {
		if bar.Count > 0 {
			all = append(all, [2]int64{bar.To, bar.Count})
		}
	}
	slices.SortFunc(all, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	return all
}
