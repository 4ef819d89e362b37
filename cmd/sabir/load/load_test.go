package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// taking is a call that takes so long, in the time of a synctest bubble.
func taking(d time.Duration) Call {
	return func() (int, error) {
		time.Sleep(d)
		return 7, nil
	}
}

// near reports whether a measured time equals the time that was set, within the histogram's three digits.
func near(got float64, want time.Duration) bool {
	micros := float64(want) / 1e3
	return got > micros*0.998 && got < micros*1.002
}

func TestEachCallerCallsAgainWhenItsAnswerIsThere(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		r := Run(t.Context(), Plan{Concurrency: 4, Duration: 995 * time.Millisecond, Warmup: time.Second}, taking(10*time.Millisecond))
		if r.Calls != 400 || r.CallsPerSecond != 400 || r.Bytes != 2800 || r.Timed != 400 || r.Failed != 0 || r.Interrupted {
			t.Errorf("4 callers of 10 ms for a second: %+v, want 400 calls in 1 s", r)
		}
		for name, got := range map[string]float64{"mean": r.Latency.Mean, "p50": r.Latency.P50, "p99.9": r.Latency.P999, "max": r.Latency.Max} {
			if !near(got, 10*time.Millisecond) {
				t.Errorf("%s is %v µs, want 10 ms", name, got)
			}
		}
	})
}

func TestCallsUnderWayAtTheEndAreWaitedForAndCount(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		r := Run(t.Context(), Plan{Concurrency: 1, Duration: 15 * time.Millisecond}, taking(10*time.Millisecond))
		if r.Calls != 2 || r.Seconds != 0.02 {
			t.Errorf("%d calls in %v s, want 2 in 0.02", r.Calls, r.Seconds)
		}
	})
}

func TestWithARateCallsAreMeasuredFromWhenTheyWereDue(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		plan := Plan{Concurrency: 1, Duration: 990 * time.Millisecond, Rate: 10}
		if r := Run(t.Context(), plan, taking(50*time.Millisecond)); r.Calls != 10 || !near(r.Latency.Max, 50*time.Millisecond) {
			t.Errorf("10 calls/s of 50 ms: %+v", r)
		}
		// Each answer comes 100 ms after the next call was due: the fifth begins 400 ms late, and there is no time for more.
		r := Run(t.Context(), plan, taking(200*time.Millisecond))
		if !near(r.Latency.Max, 600*time.Millisecond) || r.Calls != 5 || r.Missed != 5 {
			t.Errorf("10 calls/s of 200 ms: %+v, want 5 calls, the slowest of 600 ms, and 5 missed", r)
		}
	})
}

func TestWhereTheClockIsDearOneCallOfManyIsTimed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		r := Run(t.Context(), Plan{Concurrency: 2, Duration: 999500 * time.Microsecond, TimeEvery: 10}, taking(time.Millisecond))
		if r.Calls != 2000 || r.Timed != 200 {
			t.Errorf("%d calls, %d timed; want 2000 and 200", r.Calls, r.Timed)
		}
	})
}

func TestTheProgressOfALoadIsReported(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var reported []Progress
		plan := Plan{Concurrency: 2, Duration: 250 * time.Millisecond, Warmup: 150 * time.Millisecond, Watch: func(p Progress) { reported = append(reported, p) }}
		var n atomic.Int64
		Run(t.Context(), plan, func() (int, error) {
			time.Sleep(20 * time.Millisecond)
			if n.Add(1)%2 == 0 {
				return 0, sabir.ErrDeadlineExceeded
			}
			return 0, nil
		})
		if len(reported) != 3 || !reported[0].Warming || reported[1].Warming || reported[2].Elapsed != 200*time.Millisecond {
			t.Fatalf("reported %+v, want once while it warms up and twice while it measures", reported)
		}
		// Ten rounds of 20 ms of two callers; those of the last moment may be reported or not.
		if last := reported[2]; last.Calls < 18 || last.Calls > 20 || last.Failed < 9 || last.Failed > 10 {
			t.Errorf("after 200 ms: %+v, want about 20 calls, half of them failed", last)
		}
	})
}

func TestFailuresAreCountedByName(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := 0
		outcomes := []error{nil, sabir.ErrDeadlineExceeded, fmt.Errorf("wrapped: %w", sabir.ErrDeadlineExceeded), errors.New("plain")}
		r := Run(t.Context(), Plan{Concurrency: 1, Duration: 7500 * time.Microsecond}, func() (int, error) {
			time.Sleep(time.Millisecond)
			n++
			return 0, outcomes[n%4]
		})
		if r.Calls != 8 || r.Failed != 6 || r.Errors["DeadlineExceeded"] != 4 || r.Errors["HandlerFailed"] != 2 {
			t.Errorf("%+v, want 4 DeadlineExceeded and 2 HandlerFailed of 8", r)
		}
	})
}

func TestErrorNamesAreBounded(t *testing.T) {
	total := totals{errors: make(map[string]int64)}
	for i := range 100 {
		total.add(0, sabir.NewError(sabir.CodeInternal, fmt.Sprint("E", i), ""))
	}
	if len(total.errors) != maxErrorNames+1 || total.errors["others"] != 100-maxErrorNames {
		t.Errorf("%d names, %d others", len(total.errors), total.errors["others"])
	}
}

func TestAnInterruptedLoadReportsWhatItHas(t *testing.T) {
	for _, rate := range []float64{0, 100} {
		bubbletest.Run(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 55*time.Millisecond)
			defer cancel()
			r := Run(ctx, Plan{Concurrency: 1, Duration: time.Hour, Rate: rate}, taking(10*time.Millisecond))
			if !r.Interrupted || r.Calls != 6 {
				t.Errorf("at rate %v: interrupted %v after %d calls, want 6", rate, r.Interrupted, r.Calls)
			}
		})
	}
}

func TestStepsOfTheHistogram(t *testing.T) {
	for n, want := range map[int64][2]int64{0: {0, 1}, 1: {1, 2}, 2: {2, 5}, 4: {2, 5}, 5: {5, 10}, 9: {5, 10}, 10: {10, 20}, 199: {100, 200}, 5_000_000: {5_000_000, 10_000_000}} {
		if from, to := stepOf(n); from != want[0] || to != want[1] {
			t.Errorf("%d is in %d to %d, want %v", n, from, to, want)
		}
	}
}

func TestTheBarsOfTheHistogramHoldEveryTimedCall(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := 0
		r := Run(t.Context(), Plan{Concurrency: 1, Duration: time.Second}, func() (int, error) {
			n++
			time.Sleep(time.Duration(n%7+1) * 3 * time.Millisecond)
			return 0, nil
		})
		var sum int64
		for i, bar := range r.Histogram {
			sum += bar.Count
			if i > 0 && bar.From != r.Histogram[i-1].To {
				t.Errorf("a gap between %v and %v", r.Histogram[i-1].To, bar.From)
			}
		}
		if sum != r.Timed || len(r.Histogram) == 0 {
			t.Errorf("%d calls in the bars, %d timed", sum, r.Timed)
		}
	})
}

func TestAPlanThatCannotRunIsRefused(t *testing.T) {
	good := Plan{Concurrency: 1, Duration: 1}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for word, plan := range map[string]Plan{
		"callers":  {Duration: 1},
		"duration": {Concurrency: 1},
		"warm-up":  {Concurrency: 1, Duration: 1, Warmup: -1},
		"rate":     {Concurrency: 1, Duration: 1, Rate: -1},
	} {
		if err := plan.Check(); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%+v: error %v, want one about the %s", plan, err, word)
		}
	}
}
