package admission

import (
	"math/rand/v2"
	"testing"
	"time"
)

// windows has the limit searched for at a node whose processors are always crowded and that finishes so many requests in a second with a
// limit, give or take a fifth, for a time. It returns the limits of the last half.
func windows(c *Control, random *rand.Rand, rate func(limit int64) float64, lasting time.Duration) (limits []int64) {
	const window = 100 * time.Millisecond
	c.waiting.Store(1000)
	for now := window; now < lasting; now += window {
		limit := c.limit.Load()
		served := rate(limit) * window.Seconds() * (0.8 + 0.4*random.Float64())
		c.begun.Add(int64(served))
		c.search.looks, c.search.crowded = 1, 1
		c.endWindow(int64(now), limit)
		if now >= lasting/2 {
			limits = append(limits, limit)
		}
	}
	return limits
}

// share is how much of the limits is as they should be.
func share(limits []int64, right func(limit int64) bool) float64 {
	n := 0
	for _, limit := range limits {
		if right(limit) {
			n++
		}
	}
	return float64(n) / float64(len(limits))
}

func TestHandlersThatComputeGetTheLowestLimit(t *testing.T) {
	for seed := range uint64(100) {
		c := New()
		limits := windows(c, rand.New(rand.NewPCG(seed, 0)), func(int64) float64 { return 1000 }, time.Minute)
		if got := share(limits, func(limit int64) bool { return limit <= 2*c.lowestLimit() }); got < 0.8 {
			t.Errorf("seed %d: the limit was low for %.0f %% of the time", seed, 100*got)
		}
		c.Close()
	}
}

// Something else keeps the processors busy: a smaller limit would finish fewer requests, and nothing sooner.
func TestHandlersThatWaitAreNotLimitedWhereOthersCompute(t *testing.T) {
	for seed := range uint64(100) {
		c := New()
		limits := windows(c, rand.New(rand.NewPCG(seed, 0)), func(limit int64) float64 { return 20 * float64(min(limit, 400)) }, time.Minute)
		if got := share(limits, func(limit int64) bool { return limit >= 200 }); got < 0.8 {
			t.Errorf("seed %d: the limit was high enough for %.0f %% of the time", seed, 100*got)
		}
		c.Close()
	}
}
