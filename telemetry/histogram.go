package telemetry

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"
)

// defaultBounds has the bounds that the RPC conventions of OpenTelemetry prescribe, 5 ms to 10 s, with finer ones below them:
// a call in process takes a microsecond.
var defaultBounds = []float64{
	0.000_001, 0.000_01, 0.000_1, 0.001,
	0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
}

// maxBounds bounds the buckets of a histogram, whose counts are an array.
const maxBounds = 31

// bounds are the upper, inclusive ends of a histogram's buckets; the last bucket has none.
type bounds struct {
	seconds []float64
	nanos   [maxBounds]time.Duration
	// from is the first bucket that a duration of so many bits can be in.
	from [65]uint8
}

func newBounds(seconds []float64) (*bounds, error) {
	if len(seconds) == 0 || len(seconds) > maxBounds {
		return nil, fmt.Errorf("telemetry: %d bucket bounds given, want 1 to %d", len(seconds), maxBounds)
	}
	b := &bounds{seconds: slices.Clone(seconds)}
	for i, s := range seconds {
		ns := time.Duration(s * 1e9)
		if ns <= 0 || i > 0 && ns <= b.nanos[i-1] {
			return nil, fmt.Errorf("telemetry: bucket bounds must rise from above 0 in steps of at least 1 ns: %v s is out of order", s)
		}
		b.nanos[i] = ns
	}
	for width := range b.from {
		var least time.Duration // of so many bits
		if width > 0 {
			least = time.Duration(uint64(1) << (width - 1) & (1<<63 - 1))
		}
		for int(b.from[width]) < len(seconds) && b.nanos[b.from[width]] < least {
			b.from[width]++
		}
	}
	return b, nil
}

// bucket is the index of the bucket that d belongs to.
func (b *bounds) bucket(d time.Duration) int {
	if d < 0 {
		d = 0
	}
	i := int(b.from[bits.Len64(uint64(d))])
	for i < len(b.seconds) && d > b.nanos[i] {
		i++
	}
	return i
}

// histogram counts durations by bucket.
type histogram struct {
	counts [maxBounds + 1]atomic.Uint64
	nanos  atomic.Int64 // the sum
}

func (h *histogram) record(bucket int, d time.Duration) {
	h.counts[bucket].Add(1)
	h.nanos.Add(int64(d))
}

// reading is a snapshot of histograms.
type reading struct {
	counts  []uint64
	count   uint64
	seconds float64
}

func (b *bounds) empty() reading { return reading{counts: make([]uint64, len(b.seconds)+1)} }

// add reads h on top of what r holds.
func (r *reading) add(h *histogram) {
	for i := range r.counts {
		n := h.counts[i].Load()
		r.counts[i] += n
		r.count += n
	}
	r.seconds += time.Duration(h.nanos.Load()).Seconds()
}
