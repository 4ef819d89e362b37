// Package load calls one function over and over from several goroutines and measures how long it takes.
package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/sabir-go/sabir"
)

// Plan describes a load. The loop is closed: each caller waits for its answer before it calls again.
type Plan struct {
	Concurrency int           // callers at once, 1 to MaxConcurrency
	Duration    time.Duration // of the measurement
	Warmup      time.Duration // before it; not measured
	// Rate is the number of calls per second, of all callers together; 0 is as many as there can be. With a rate, a
	// call's time counts from when it was due, so that the waiting which a slow answer causes is measured too.
	Rate float64
	// TimeEvery means that each caller times one call of so many, where reading the clock costs as much as a call. All
	// are counted. 0 and 1 time every call. It has no effect with a rate.
	TimeEvery int
	// Watch, if it is not nil, receives the progress ten times a second, warm-up included. It runs in a goroutine
	// of its own, has returned for the last time when Run does, and does not slow the callers down.
	Watch func(Progress)
}

// Progress counts the calls of a load in its present phase.
type Progress struct {
	Warming bool          // the phase is the warm-up
	Elapsed time.Duration // of the phase
	Calls   int64
	Failed  int64
}

// watchEvery is the interval at which Plan.Watch is called.
const watchEvery = 100 * time.Millisecond

// MaxConcurrency bounds the callers.
const MaxConcurrency = 1000

// maxErrorNames bounds the error names that are counted separately; the rest counts as "others".
const maxErrorNames = 20

// longest is the longest time that is resolved, shortest the shortest.
const (
	shortest = 1 * time.Nanosecond
	longest  = 5 * time.Minute
)

// Call is one call. It returns the size of the answer, and the error if there was one.
type Call func() (bytes int, err error)

// Check returns what is wrong with the plan, or nil.
func (p Plan) Check() error {
	switch {
	case p.Concurrency < 1 || p.Concurrency > MaxConcurrency:
		return fmt.Errorf("the number of callers is %d: want 1 to %d", p.Concurrency, MaxConcurrency)
	case p.Duration <= 0:
		return fmt.Errorf("the duration is %v: want more than 0", p.Duration)
	case p.Warmup < 0:
		return fmt.Errorf("the warm-up is %v: want 0 or more", p.Warmup)
	case !(p.Rate >= 0) || p.Rate > 1e9:
		return fmt.Errorf("the rate is %v: want 0 (no limit) to 1e9 calls per second", p.Rate)
	}
	return nil
}

// Run loads by a plan that Check finds nothing wrong with. Calls under way at the end are waited for and count. When the
// context ends first, the report has what was measured until then.
func Run(ctx context.Context, plan Plan, call Call) *Report {
	if plan.Warmup > 0 {
		warming := newRun(plan)
		warming.warming = true
		warming.until(ctx, plan.Warmup, call)
	}
	run := newRun(plan)
	elapsed := run.until(ctx, plan.Duration, call)
	report := run.report(elapsed)
	report.Interrupted = ctx.Err() != nil
	if !report.Interrupted {
		report.Missed = max(0, int64(math.Ceil(plan.Rate*plan.Duration.Seconds()))-report.Calls)
	}
	return report
}

// run is one phase of a load: the warm-up or the measurement.
type run struct {
	plan     Plan
	warming  bool
	start    time.Time
	end      time.Time
	over     chan struct{} // closed when nothing more is to be started
	stopped  atomic.Bool   // the same, for a quicker look
	started  atomic.Int64  // calls, where there is a rate
	recorder []*recorder

	mu     sync.Mutex
	totals totals
}

// totals are counters that each caller has for itself and that are added up at the end.
type totals struct {
	calls, failed, bytes int64
	errors               map[string]int64
}

// recorder is the latencies of some of the callers: a histogram takes about 300 KiB, so not each has one.
type recorder struct {
	mu            sync.Mutex
	latencies     *hdrhistogram.Histogram
	calls, failed int64 // for Watch; the totals are exact only at the end
}

const maxRecorders = 16

func newRun(plan Plan) *run {
	r := &run{plan: plan, over: make(chan struct{}), totals: totals{errors: make(map[string]int64)}}
	for range min(plan.Concurrency, maxRecorders) {
		r.recorder = append(r.recorder, &recorder{latencies: hdrhistogram.New(int64(shortest), int64(longest), 3)})
	}
	return r
}

// until runs the callers for d and returns how long it took until the last was done.
func (r *run) until(ctx context.Context, d time.Duration, call Call) time.Duration {
	stop := sync.OnceFunc(func() {
		r.stopped.Store(true)
		close(r.over)
	})
	defer context.AfterFunc(ctx, stop)()
	r.start = time.Now()
	r.end = r.start.Add(d)
	defer time.AfterFunc(d, stop).Stop()
	if r.plan.Watch != nil {
		watched := make(chan struct{})
		defer func() { <-watched }()
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			defer close(watched)
			r.tellWatcher(ended)
		}()
	}
	caller := r.callOnAndOn
	if r.plan.Rate > 0 {
		caller = r.callWhenDue
	}
	var callers sync.WaitGroup
	for i := range r.plan.Concurrency {
		callers.Go(func() { caller(r.recorder[i%len(r.recorder)], call) })
	}
	callers.Wait()
	return time.Since(r.start)
}

// tellWatcher reports the progress until it has ended.
func (r *run) tellWatcher(ended chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ended:
			return
		}
		p := Progress{Warming: r.warming, Elapsed: time.Since(r.start)}
		for _, one := range r.recorder {
			one.mu.Lock()
			p.Calls += one.calls
			p.Failed += one.failed
			one.mu.Unlock()
		}
		r.plan.Watch(p)
	}
}

// callOnAndOn calls again as soon as the answer is there.
func (r *run) callOnAndOn(to *recorder, call Call) {
	mine := totals{errors: make(map[string]int64)}
	untimed := 0         // since the last that was timed
	reported := int64(0) // failures that the recorder knows of
	for !r.stopped.Load() {
		if untimed++; untimed < r.plan.TimeEvery {
			mine.add(call())
			continue
		}
		start := time.Now()
		bytes, err := call()
		took := time.Since(start)
		mine.add(bytes, err)
		to.add(took, untimed, mine.failed-reported)
		untimed, reported = 0, mine.failed
	}
	r.addUp(mine)
}

// callWhenDue takes the next call of the common timetable, waits until it is due, and calls.
func (r *run) callWhenDue(to *recorder, call Call) {
	mine := totals{errors: make(map[string]int64)}
	defer func() { r.addUp(mine) }()
	clock := time.NewTimer(0)
	defer clock.Stop()
	for {
		due := r.start.Add(time.Duration(float64(r.started.Add(1)-1) / r.plan.Rate * float64(time.Second)))
		if !due.Before(r.end) {
			return
		}
		clock.Reset(time.Until(due))
		select {
		case <-clock.C:
		case <-r.over:
			return
		}
		if r.stopped.Load() {
			return // it was due before, but there was no time for it
		}
		bytes, err := call()
		took := time.Since(due)
		failed := mine.failed
		mine.add(bytes, err)
		to.add(took, 1, mine.failed-failed)
	}
}

func (r *run) addUp(mine totals) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.totals.calls += mine.calls
	r.totals.failed += mine.failed
	r.totals.bytes += mine.bytes
	for name, n := range mine.errors {
		r.totals.count(name, n)
	}
}

func (t *totals) add(bytes int, err error) {
	t.calls++
	t.bytes += int64(bytes)
	if err != nil {
		t.failed++
		t.count(errorName(err), 1)
	}
}

func (t *totals) count(name string, n int64) {
	if _, known := t.errors[name]; !known && len(t.errors) >= maxErrorNames {
		name = "others"
	}
	t.errors[name] += n
}

func errorName(err error) string {
	if e, ok := errors.AsType[*sabir.Error](err); ok && e.Name != "" {
		return e.Name
	}
	return sabir.AsError(err).Name
}

// add records the time of one call, which stands for several that were made and those of them that failed.
func (r *recorder) add(took time.Duration, calls int, failed int64) {
	r.mu.Lock()
	r.calls += int64(calls)
	r.failed += failed
	_ = r.latencies.RecordValue(int64(min(max(took, shortest), longest))) // fails only out of range
	r.mu.Unlock()
}
