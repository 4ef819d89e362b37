// Package ratelimit has the token bucket of policy.RateLimit and filter.RateLimit:
//
//	limit, problems := ratelimit.New(10, 5) // 10 a second, 5 at once
//	bucket := limit.NewBucket()
//	if _, wait := bucket.Take(); wait > 0 {
//		// refused: there will be a token after wait
//	}
//
// It is the generic cell rate algorithm (ITU-T I.371): a bucket is one number, the time at which it will be full again, which
// changes by one atomic operation. golang.org/x/time/rate has a mutex and five words for each bucket, and there may be one for
// each of 100,000 callers.
package ratelimit

import (
	"fmt"
	"hash/maphash"
	"math"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// MaxRate bounds the rate: above it, nanoseconds are too coarse to keep it within one percent.
const MaxRate = 10_000_000

// Limit is a rate with a burst. It does not change.
type Limit struct {
	interval int64 // nanoseconds between two tokens
	burst    int64 // the nanoseconds that the tokens of a full bucket take to come
}

// New makes a limit of rate tokens a second, burst of them at once. The rate is above 0 and at most MaxRate. problems lists what
// is wrong with the two; the limit is of no use then.
func New(rate float64, burst int) (l Limit, problems []error) {
	interval := float64(time.Second) / rate
	if !(rate > 0 && rate <= MaxRate) {
		problems = append(problems, fmt.Errorf("the rate is %v: want more than 0, at most %d calls a second", rate, MaxRate))
	}
	if burst < 1 {
		problems = append(problems, fmt.Errorf("the burst is %d: want at least 1", burst))
	}
	if rate > 0 && interval*float64(burst) >= math.MaxInt64/4 {
		problems = append(problems, fmt.Errorf("with a rate of %v and a burst of %d it would take centuries to fill the bucket", rate, burst))
	}
	if problems != nil {
		return l, problems
	}
	l.interval = int64(math.Round(interval))
	l.burst = l.interval * int64(burst)
	return l, nil
}

// Interval is the time between two tokens.
func (l Limit) Interval() time.Duration { return time.Duration(l.interval) }

// Burst is the time in which an empty bucket fills.
func (l Limit) Burst() time.Duration { return time.Duration(l.burst) }

// level is a bucket without its limit: the time, in nanoseconds since a start, at which it will be full again.
type level struct{ full atomic.Int64 }

// take takes one token, or returns the time to wait for one. left is the number of tokens that remain, times the interval.
func (l Limit) take(b *level, start time.Time) (left, wait time.Duration) {
	now := int64(time.Since(start))
	for {
		full := b.full.Load()
		next := max(full, now) + l.interval
		left := l.burst - (next - now)
		if left < 0 {
			return 0, time.Duration(-left)
		}
		if b.full.CompareAndSwap(full, next) {
			return time.Duration(left), 0
		}
	}
}

// Bucket is one bucket, full at first. It may be used by many goroutines at once.
type Bucket struct {
	limit Limit
	start time.Time
	level level
}

// NewBucket makes a bucket.
func (l Limit) NewBucket() *Bucket { return &Bucket{limit: l, start: time.Now()} }

// Take takes one token. wait is 0, or the time until there will be one. left is the number of tokens that remain, times the
// interval.
func (b *Bucket) Take() (left, wait time.Duration) { return b.limit.take(&b.level, b.start) }

// Buckets holds a bucket for each key, up to a number. A key that was not used for long is forgotten and begins with a full
// bucket when it comes back.
type Buckets struct {
	limit  Limit
	start  time.Time
	seed   maphash.Seed // secret, so that a caller cannot choose a key that shares the bucket of another
	levels *otter.Cache[uint64, *level]
}

// NewBuckets makes buckets for at most so many keys.
func (l Limit) NewBuckets(keys int) *Buckets {
	return &Buckets{limit: l, start: time.Now(), seed: maphash.MakeSeed(),
		levels: otter.Must(&otter.Options[uint64, *level]{MaximumSize: keys, Executor: inPlace})}
}

// inPlace runs otter's upkeep on the goroutine that made it necessary, so that there is no goroutine to stop.
func inPlace(fn func()) { fn() }

// Take takes one token out of the bucket of a key. wait is 0, or the time until there will be one. left is the number of
// tokens that remain, times the interval.
func (b *Buckets) Take(key []byte) (left, wait time.Duration) {
	hash := maphash.Bytes(b.seed, key)
	of, ok := b.levels.GetIfPresent(hash)
	if !ok {
		of, _ = b.levels.SetIfAbsent(hash, &level{})
	}
	return b.limit.take(of, b.start)
}
