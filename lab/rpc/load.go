package main

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// load is a closed loop: a number of callers, each of which makes its next call when it has the reply to the last.
type load struct {
	Mode     mode          `json:"mode"`
	Callers  int           `json:"callers"`
	Size     int           `json:"size"` // of a blob, bytes
	Warmup   time.Duration `json:"warmup"`
	Duration time.Duration `json:"duration"`
}

const (
	fullCheckEach = 1000 // one reply in so many is compared in every field while measuring; the others by their marks
	givesUpAfter  = 100  // errors in a row after which a caller stops
	latencyUnit   = 10 * time.Nanosecond
	maxLatency    = 40 * time.Second // longer ones count as this
	clockEach     = 64               // a stream looks at the clock, and at whether it should end, after so many messages
)

// outcome is what one run has measured. Latencies are in nanoseconds and zero for streams.
type outcome struct {
	Calls   int64         `json:"calls"` // answered and right
	Errors  int64         `json:"errors"`
	Problem string        `json:"problem,omitempty"` // the first error
	Elapsed time.Duration `json:"elapsed"`
	Mean    float64       `json:"mean"`
	P50     float64       `json:"p50"`
	P99     float64       `json:"p99"`
	P999    float64       `json:"p999"`
	Client  usage         `json:"client"`
	Server  usage         `json:"server"`
	Broker  usage         `json:"broker"` // CPU only; zero without one
}

// caller is one of the closed loop's callers. Nobody else touches it while it runs.
type caller struct {
	call      roundTrip
	sequence  int
	calls     int64
	errors    int64
	problem   error
	latencies []uint32 // in latencyUnit; made large enough in advance, so that noting one costs a store
	_         [64]byte // two callers do not share a cache line
}

// callers prepares the callers of a load and warms them up, every reply checked in full. A wrong reply ends it.
func (l load) callers(c *client) ([]*caller, error) {
	all := make([]*caller, l.Callers)
	for i := range all {
		all[i] = &caller{call: l.roundTripOf(c, i)}
	}
	var warming sync.WaitGroup
	end := time.Now().Add(l.Warmup)
	for _, one := range all {
		warming.Go(func() {
			for done := false; !done && one.problem == nil; done = time.Now().After(end) {
				one.sequence++
				one.problem = one.call(one.sequence, true)
				one.calls++
			}
		})
	}
	warming.Wait()
	for i, one := range all {
		if one.problem != nil {
			return nil, fmt.Errorf("warm-up: caller %d, call %d: %w", i, one.sequence, one.problem)
		}
		expected := float64(one.calls) * float64(l.Duration) / float64(max(l.Warmup, time.Millisecond))
		one.latencies = make([]uint32, 0, int(expected*2)+1000)
		one.calls = 0
	}
	return all, nil
}

func (l load) roundTripOf(c *client, caller int) roundTrip {
	if l.Mode == echoMode {
		return c.echo(caller, l.Size)
	}
	return c.say(caller)
}

// measure runs warmed-up callers for the load's duration.
func (l load) measure(all []*caller) (outcome, error) {
	before, err := usageNow()
	if err != nil {
		return outcome{}, err
	}
	var stop atomic.Bool
	var running sync.WaitGroup
	started := time.Now()
	for _, one := range all {
		running.Go(func() { one.run(started, &stop) })
	}
	timer := time.AfterFunc(l.Duration, func() { stop.Store(true) })
	defer timer.Stop()
	running.Wait()
	elapsed := time.Since(started)
	after, err := usageNow()
	if err != nil {
		return outcome{}, err
	}
	result := outcome{Elapsed: elapsed, Client: after.since(before)}
	histogram := hdrhistogram.New(1, int64(maxLatency/latencyUnit), 3)
	for _, one := range all {
		result.add(one.calls, one.errors, one.problem)
		for _, latency := range one.latencies {
			histogram.RecordValue(max(int64(latency), 1))
		}
	}
	result.setLatencies(histogram)
	return result, nil
}

// setLatencies takes a histogram in latencyUnit.
func (o *outcome) setLatencies(histogram *hdrhistogram.Histogram) {
	unit := float64(latencyUnit)
	o.Mean = histogram.Mean() * unit
	o.P50 = float64(histogram.ValueAtQuantile(50)) * unit
	o.P99 = float64(histogram.ValueAtQuantile(99)) * unit
	o.P999 = float64(histogram.ValueAtQuantile(99.9)) * unit
}

// run makes calls until stop is set. A call's latency goes from the end of the one before, so the clock is read once
// a call and what the loop itself does is part of it.
func (c *caller) run(started time.Time, stop *atomic.Bool) {
	last, failed := time.Since(started), 0
	for !stop.Load() {
		c.sequence++
		err := c.call(c.sequence, c.sequence%fullCheckEach == 0)
		now := time.Since(started)
		took := now - last
		last = now
		if err == nil {
			c.calls++
			failed = 0
			c.latencies = append(c.latencies, uint32(min(took, maxLatency)/latencyUnit))
			continue
		}
		c.errors++
		if c.problem == nil {
			c.problem = err
		}
		if failed++; failed == givesUpAfter {
			return
		}
	}
}

func (o *outcome) add(calls, errs int64, problem error) {
	o.Calls += calls
	o.Errors += errs
	if o.Problem == "" && problem != nil {
		o.Problem = problem.Error()
	}
}

// push measures streams: each caller opens one, sends until the time is up, and then asks the server what has come.
// Messages that the server has not counted are errors.
func (l load) push(c *client) (outcome, error) {
	before, err := usageNow()
	if err != nil {
		return outcome{}, err
	}
	var stop atomic.Bool
	var running sync.WaitGroup
	all := make([]caller, l.Callers)
	started := time.Now()
	for i := range all {
		running.Go(func() {
			one := &all[i]
			sent, counted, err := l.pushOne(c, i, &stop)
			one.calls, one.errors, one.problem = counted, max(sent-counted, 0), err
		})
	}
	timer := time.AfterFunc(l.Duration, func() { stop.Store(true) })
	defer timer.Stop()
	running.Wait()
	elapsed := time.Since(started)
	after, err := usageNow()
	if err != nil {
		return outcome{}, err
	}
	result := outcome{Elapsed: elapsed, Client: after.since(before)}
	for i := range all {
		if all[i].problem != nil && all[i].errors == 0 {
			all[i].errors = 1
		}
		result.add(all[i].calls, all[i].errors, all[i].problem)
	}
	return result, nil
}

func (l load) pushOne(c *client, caller int, stop *atomic.Bool) (sent, counted int64, err error) {
	stream, err := c.push(caller, l.Size)
	if err != nil {
		return 0, 0, err
	}
	var sending error
	for sending == nil && (sent%clockEach != 0 || !stop.Load()) {
		if sending = stream.send(); sending == nil {
			sent++
		}
	}
	counted, bytes, err := stream.finish()
	if err := errors.Join(sending, err); err != nil {
		return sent, counted, err
	}
	if counted != sent || bytes != sent*int64(l.Size) {
		return sent, counted, fmt.Errorf("sent %d messages of %d bytes, the server counted %d with %d bytes", sent, l.Size, counted, bytes)
	}
	return sent, counted, nil
}
