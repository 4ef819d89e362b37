package outlier

import (
	"math"
	"math/bits"
	"time"
)

// buckets is the number of times that are distinguished: two for each doubling from 32 µs on, up to about 40 minutes.
const buckets = 52

// firstBit is the exponent of the first bucket: 2^15 ns.
const firstBit = 15

// histogram counts times.
type histogram [buckets]float32

// bucketOf is the bucket of a time in nanoseconds.
func bucketOf(took int64) int {
	if took < 1<<firstBit {
		return 0
	}
	exponent := bits.Len64(uint64(took)) - 1
	half := int(took>>(exponent-1)) & 1
	return min(2*(exponent-firstBit)+half, buckets-1)
}

// middle is a time in a bucket.
func middle(bucket int) time.Duration {
	low := math.Ldexp(1, firstBit+bucket/2)
	if bucket%2 == 1 {
		return time.Duration(low * 1.75)
	}
	return time.Duration(low * 1.25)
}

func (h *histogram) add(other *histogram) {
	for i := range h {
		h[i] += other[i]
	}
}

func (h *histogram) sum() (sum float64) {
	for _, n := range h {
		sum += float64(n)
	}
	return sum
}

func (h *histogram) median() time.Duration {
	left := h.sum() / 2
	for i, n := range h {
		if left -= float64(n); left <= 0 {
			return middle(i)
		}
	}
	return middle(buckets - 1)
}
