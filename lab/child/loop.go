package child

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// givesUpAfter is the number of operations in a row that may fail before a caller stops.
const givesUpAfter = 100

// caller is one of a loop's callers; nobody else touches it while it runs. Two do not share a cache line.
type caller struct {
	do         func() error
	operations int64
	wrong      int64
	failed     int // in a row
	problem    error
	latencies  []time.Duration
	_          [64]byte
}

// Closed is a closed loop: each caller begins its next operation when the last has ended, until d is over. do(i) makes the
// operation of caller i, which reports a wrong answer as an error; it is called once for each caller and d. Each caller does at
// least one, however short d is.
//
// A latency goes from the end of the operation before to the end of this one, so one reading of the clock serves both and what
// the loop does itself is part of it; nothing is left out while an operation is late, since the caller waits for it.
func Closed(d time.Duration, callers int, do func(caller int) func() error) (Sample, error) {
	var stop atomic.Bool
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	return together(callers, do, func(c *caller, started time.Time) { c.run(started, &stop) })
}

// together has all callers work at once, and sums up what they did.
func together(callers int, do func(caller int) func() error, work func(c *caller, started time.Time)) (Sample, error) {
	all := make([]caller, callers)
	for i := range all {
		all[i].do = do(i)
		all[i].latencies = make([]time.Duration, 0, 1<<14)
	}
	var running sync.WaitGroup
	before, err := CPU()
	if err != nil {
		return Sample{}, err
	}
	started := time.Now()
	for i := range all {
		running.Go(func() { work(&all[i], started) })
	}
	running.Wait()
	s := Sample{Elapsed: time.Since(started)}
	after, err := CPU()
	if err != nil {
		return Sample{}, err
	}
	s.CPU = after - before
	histogram := NewHistogram()
	for i := range all {
		s.add(all[i].operations, all[i].wrong, all[i].problem)
		for _, latency := range all[i].latencies {
			histogram.Record(latency)
		}
	}
	s.Latencies = histogram.Latencies()
	return s, nil
}

func (c *caller) run(started time.Time, stop *atomic.Bool) {
	last := time.Since(started)
	for ended := false; !ended; ended = stop.Load() {
		var again bool
		if last, again = c.operate(started, last); !again {
			return
		}
	}
}

// operate does one operation, whose latency counts from since, and says when it ended. It is false when too many in a row have failed.
func (c *caller) operate(started time.Time, since time.Duration) (ended time.Duration, again bool) {
	err := c.do()
	now := time.Since(started)
	if err == nil {
		c.operations++
		c.failed = 0
		c.latencies = append(c.latencies, now-since)
		return now, true
	}
	c.wrong++
	if c.problem == nil {
		c.problem = err
	}
	c.failed++
	return now, c.failed < givesUpAfter
}

func (s *Sample) add(operations, wrong int64, problem error) {
	s.Operations += operations
	s.Wrong += wrong
	if s.Problem == "" && problem != nil {
		s.Problem = problem.Error()
	}
}

// clockEach is about how long Repeat works between two looks at the clock.
const clockEach = 100 * time.Microsecond

// mostAtOnce bounds a run of operations that take no time at all.
const mostAtOnce = 1 << 24

// Repeat times operations that are too short to be timed singly: do(n) does n of them, one after another, and checks their
// answers. Latencies are the means of runs that take about 100 µs together, so their tail says less than that of Closed.
func Repeat(d time.Duration, do func(n int) error) (Sample, error) {
	n := 1
	for range trials { // the most of a few: a trial that was interrupted finds too few
		found, err := atOnce(do)
		if err != nil {
			return Sample{}, err
		}
		n = max(n, found)
	}
	before, err := CPU()
	if err != nil {
		return Sample{}, err
	}
	var s Sample
	histogram := NewHistogram()
	started := time.Now()
	for last := time.Duration(0); last < d; {
		if err := do(n); err != nil {
			s.add(0, 1, err)
			break
		}
		s.Operations += int64(n)
		now := time.Since(started)
		histogram.h.RecordValues(int64(max((now-last)/time.Duration(n), 1)), int64(n))
		last = now
	}
	s.Elapsed = time.Since(started)
	after, err := CPU()
	if err != nil {
		return Sample{}, err
	}
	s.CPU = after - before
	s.Latencies = histogram.Latencies()
	return s, nil
}

// trials is the number of trials in which Repeat finds out how many operations take about clockEach.
const trials = 3

// atOnce returns the number of operations that take about clockEach, or at most twice that.
func atOnce(do func(n int) error) (int, error) {
	for n := 1; ; n *= 2 {
		begun := time.Now()
		if err := do(n); err != nil {
			return 0, fmt.Errorf("the first %d operations: %w", n, err)
		}
		if time.Since(begun) >= clockEach || n >= mostAtOnce {
			return n, nil
		}
	}
}
