package child

import (
	"math/rand/v2"
	"time"
)

// Open is an open loop: operations come at random moments, rate of them in a second on the average (a Poisson process), whether or
// not those before have ended, until d is over. So many callers do them; do is as for [Closed]. What all callers are busy for waits, and
// a latency goes from the moment for which the operation was meant, so waiting counts (Tene's "coordinated omission").
//
// The moments are the same for each Sample of one rate. The figure "behind" is the 99th percentile of how late the loop itself was, which
// is part of the latencies: a goroutine that sleeps is not woken to the microsecond. "offered" is what came in a second.
func Open(d time.Duration, rate float64, callers int, do func(caller int) func() error) (Sample, error) {
	moments := arrivals(d, rate)
	due := make(chan time.Duration, len(moments)) // never blocks, so the loop is on time however slow the answers are
	behind := NewHistogram()
	begun := make(chan time.Time, 1)
	go func() {
		defer close(due)
		started := <-begun
		for _, moment := range moments {
			now := time.Since(started)
			if wait := moment - now; wait > 0 {
				time.Sleep(wait)
				now = time.Since(started)
			}
			behind.Record(now - moment)
			due <- moment
		}
	}()
	s, err := together(callers, do, func(c *caller, started time.Time) {
		select {
		case begun <- started:
		default: // another caller has said it
		}
		for moment := range due {
			if _, again := c.operate(started, moment); !again {
				return
			}
		}
	})
	s.Figures = map[string]float64{"offered": float64(len(moments)) / d.Seconds(), "behind": float64(behind.Quantile(.99))}
	return s, err
}

// arrivals are the moments of a Poisson process up to d, one at least.
func arrivals(d time.Duration, rate float64) []time.Duration {
	random := rand.New(rand.NewPCG(1, 2))
	var all []time.Duration
	for at := 0.0; ; {
		at += random.ExpFloat64() / rate
		moment := time.Duration(at * float64(time.Second))
		if moment >= d && len(all) > 0 {
			return all
		}
		all = append(all, min(moment, d))
	}
}
