package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

const answerName = "answer"

// localStride is the number of calls on one node that share a reading of the clock: reading it takes a tenth of a call.
const localStride = 64

// batcher is a limit that makes the calls of all callers at once.
type batcher interface {
	callBatches(d time.Duration, to place, callers int) (child.Sample, error)
}

// callsTo measures calls to the answering process at a place, by callers that begin together. Of stride calls one after another the
// clock is read once, and their mean counts as the latency.
func callsTo(n node, to place, callers, stride int) child.Job {
	if b, ok := n.(batcher); ok && callers > 1 {
		return child.Job{Measure: func(d time.Duration) (child.Sample, error) { return b.callBatches(d, to, callers) }}
	}
	all := make([]caller, callers)
	for i := range all {
		all[i].sequence, all[i].stride = uint64(i)<<32, stride
	}
	return child.Job{Measure: func(d time.Duration) (child.Sample, error) { return callFor(d, n, to, all) }}
}

func callFor(d time.Duration, n node, to place, all []caller) (child.Sample, error) {
	var running, ready sync.WaitGroup
	begin, failures := make(chan struct{}), make([]error, len(all))
	ready.Add(len(all))
	for i := range all {
		running.Go(func() {
			isReady := sync.OnceFunc(ready.Done)
			defer isReady() // also where no call can be made
			failures[i] = n.calling(to, func(call func(Message) (Message, error)) error {
				isReady()
				<-begin
				return all[i].run(call, d)
			})
		})
	}
	ready.Wait()
	before, err := child.CPU()
	if err != nil {
		failures = append(failures, err)
	}
	started := time.Now()
	close(begin)
	running.Wait()
	s := child.Sample{Elapsed: time.Since(started)}
	after, err := child.CPU()
	if err := errors.Join(append(failures, err)...); err != nil {
		return child.Sample{}, err
	}
	s.CPU = after - before
	total := child.NewHistogram()
	for i := range all {
		total.Merge(all[i].latencies)
		s.Operations += all[i].calls
		s.Wrong += all[i].wrong
		if s.Problem == "" {
			s.Problem = all[i].problem
		}
	}
	s.Latencies = total.Latencies()
	return s, nil
}

// caller makes one call after another. Two do not share a cache line.
type caller struct {
	sequence  uint64 // of the next request
	stride    int    // calls for each reading of the clock
	calls     int64
	wrong     int64
	problem   string
	latencies *child.Histogram // the means of the strides
	_         [64]byte
}

// run makes calls for some time, at least one stride.
func (c *caller) run(call func(Message) (Message, error), duration time.Duration) error {
	c.calls, c.wrong, c.latencies = 0, 0, child.NewHistogram()
	before := time.Now()
	for end := before.Add(duration); ; {
		for range c.stride {
			request := messageAt(c.sequence)
			c.sequence++
			reply, err := call(request)
			if err != nil {
				return err
			}
			if reply != request.answer() {
				c.wrong++
				c.problem = fmt.Sprintf("the reply to %+v is %+v", request, reply)
			}
		}
		now := time.Now()
		c.latencies.Record(now.Sub(before) / time.Duration(c.stride))
		c.calls += int64(c.stride)
		if before = now; !now.Before(end) {
			return nil
		}
	}
}
