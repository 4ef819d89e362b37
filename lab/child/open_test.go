package child

import (
	"math"
	"sync/atomic"
	"testing"
	"time"
)

func TestAnOpenLoopOffersTheRateThatItWasAskedFor(t *testing.T) {
	for _, rate := range []float64{100, 5000} {
		var done atomic.Int64
		s, err := Open(500*time.Millisecond, rate, 4, func(int) func() error { return func() error { done.Add(1); return nil } })
		if err != nil {
			t.Fatal(err)
		}
		if s.Operations != done.Load() || math.Abs(s.Figures["offered"]/rate-1) > 0.5 || math.Abs(float64(s.Operations)-rate/2) > rate/4 {
			t.Errorf("at %v in a second: %d operations in %v, offered %v", rate, s.Operations, s.Elapsed, s.Figures["offered"])
		}
	}
}

func TestALatencyOfAnOpenLoopCountsFromTheMomentForWhichTheOperationWasMeant(t *testing.T) {
	const each = 5 * time.Millisecond // one caller can do 200 in a second
	s, err := Open(200*time.Millisecond, 1000, 1, func(int) func() error { return func() error { time.Sleep(each); return nil } })
	if err != nil {
		t.Fatal(err)
	}
	h := NewHistogram()
	h.Add(s.Latencies)
	if h.Quantile(1) < 50*each {
		t.Errorf("asked for five times what it can do, the last of %d operations took %v after its moment", s.Operations, h.Quantile(1))
	}
}

func TestTheMomentsOfAnOpenLoopAreThoseOfAPoissonProcess(t *testing.T) {
	all := arrivals(10*time.Second, 1000)
	var sum, squares float64
	for i := 1; i < len(all); i++ {
		gap := (all[i] - all[i-1]).Seconds()
		sum, squares = sum+gap, squares+gap*gap
	}
	n := float64(len(all) - 1)
	mean := sum / n
	if deviation := math.Sqrt(squares/n - mean*mean); math.Abs(mean*1000-1) > 0.05 || math.Abs(deviation/mean-1) > 0.05 {
		t.Errorf("mean %v, deviation %v: want both to be a millisecond", mean, deviation)
	}
}
