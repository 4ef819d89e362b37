package policy

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// answerTimes is how long the attempts of an action took lately. It may be used by many goroutines at once.
type answerTimes struct {
	counts [answerBuckets]atomic.Uint32
	added  atomic.Uint32
	found  atomic.Int64 // what late returns

	mu sync.Mutex // held to look through the counts
}

const (
	answerBuckets = 160 // four for each doubling from 1 ns on
	fewestAnswers = 100 // before there is a late answer
	lookEvery     = 50  // answers
	fadeAbove     = 2000
	lateShare     = 0.95
	lateMedians   = 10
	soonestLate   = time.Millisecond
)

// add counts one.
func (t *answerTimes) add(took time.Duration) {
	t.counts[answerBucket(took)].Add(1)
	if n := t.added.Add(1); n%lookEvery == 0 && t.mu.TryLock() {
		t.look()
		t.mu.Unlock()
	}
}

// late is the time after which an answer is late; 0 while that is not known.
func (t *answerTimes) late() time.Duration { return time.Duration(t.found.Load()) }

// look works out what is late. The counts are halved as they grow, so that what was long ago fades.
func (t *answerTimes) look() {
	sum := 0
	for i := range t.counts {
		sum += int(t.counts[i].Load())
	}
	if sum < fewestAnswers {
		return
	}
	// Attempts that were given up count as longer than they were waited for. With many of them, as beside a node that stands still, what is late
	// would grow from look to look: hence the bound by the median.
	late := min(t.quantile(sum, lateShare), lateMedians*t.quantile(sum, 0.5))
	t.found.Store(int64(max(late, soonestLate)))
	if sum > fadeAbove {
		for i := range t.counts {
			t.counts[i].Store(t.counts[i].Load() / 2)
		}
	}
}

func (t *answerTimes) quantile(sum int, share float64) time.Duration {
	left := int(math.Ceil(share * float64(sum)))
	for i := range t.counts {
		if left -= int(t.counts[i].Load()); left <= 0 {
			return answerBucketEnd(i)
		}
	}
	return answerBucketEnd(answerBuckets - 1)
}

func answerBucket(took time.Duration) int {
	n := uint64(max(took, 4))
	exponent := bits.Len64(n) - 1
	return min(4*exponent+int(n>>(exponent-2))&3, answerBuckets-1)
}

// answerBucketEnd is the longest time of a bucket.
func answerBucketEnd(bucket int) time.Duration {
	return time.Duration(math.Ldexp(float64(5+bucket%4), bucket/4-2))
}
