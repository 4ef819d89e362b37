package work

import (
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// mix is how many of a thousand messages have each size, in bytes: most are small, and most bytes are in large ones.
var mix = []struct{ size, share int }{{10, 400}, {100, 300}, {677, 200}, {4 << 10, 70}, {64 << 10, 25}, {1 << 20, 5}}

// smallest is the size up to which messages are small: the figures "small p50" and "small p99" are of those.
const smallest = 677

// sizeOf is the index in mix of a caller's message: sizes come in no order, and the same for each contender.
func sizeOf(caller, sequence int) int {
	slot := (caller*389 + sequence*617) % 1000 // 617 and 1000 have no common divisor, so a thousand messages have each slot once
	for i, m := range mix {
		if slot -= m.share; slot < 0 {
			return i
		}
	}
	panic("the shares are less than a thousand")
}

// mixing is a closed loop of calls whose messages have the sizes of mix.
func mixing(o child.Order, echo func(caller, size int) RoundTrip) func(time.Duration) (child.Sample, error) {
	type mixed struct {
		small []time.Duration
		bytes int64
		_     [64]byte
	}
	all := make([]mixed, o.Callers)
	measure := calling(o, func(i int) RoundTrip {
		calls := make([]RoundTrip, len(mix))
		for j, m := range mix {
			calls[j] = echo(i, m.size)
		}
		return func(sequence int, full bool) error {
			j, begun := sizeOf(i, sequence), time.Now()
			if err := calls[j](sequence, full); err != nil {
				return err
			}
			all[i].bytes += int64(mix[j].size)
			if mix[j].size <= smallest {
				all[i].small = append(all[i].small, time.Since(begun))
			}
			return nil
		}
	})
	return func(d time.Duration) (child.Sample, error) {
		for i := range all {
			all[i] = mixed{small: all[i].small[:0]}
		}
		s, err := measure(d)
		histogram, bytes := child.NewHistogram(), int64(0)
		for i := range all {
			bytes += all[i].bytes
			for _, latency := range all[i].small {
				histogram.Record(latency)
			}
		}
		if s.Elapsed > 0 {
			s.Figures = map[string]float64{"megabytes": float64(bytes) / 1e6 / s.Elapsed.Seconds(),
				"small p50": float64(histogram.Quantile(.5)), "small p99": float64(histogram.Quantile(.99))}
		}
		return s, err
	}
}
