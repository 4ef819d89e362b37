package work

import (
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// fullCheckEach is the number of replies of which one is compared in every field while measuring; the others are checked by
// their marks.
const fullCheckEach = 1000

// caller is one of the closed loop's callers. Two do not share a cache line.
type caller struct {
	call     RoundTrip
	sequence int
	_        [64]byte
}

func (c *caller) next(full bool) error {
	c.sequence++
	return c.call(c.sequence, full || c.sequence%fullCheckEach == 0)
}

// calling is a loop of calls, closed or, with a rate, open. What callers keep of a call, such as the last reply, they keep from one
// measurement to the next.
func calling(o child.Order, roundTripOf func(caller int) RoundTrip) func(time.Duration) (child.Sample, error) {
	all := make([]caller, o.Callers)
	for i := range all {
		all[i].call = roundTripOf(i)
	}
	warm := false
	return func(d time.Duration) (child.Sample, error) {
		full := !warm
		warm = true
		do := func(i int) func() error {
			return func() error { return all[i].next(full) }
		}
		if o.Rate > 0 {
			return child.Open(d, o.Rate, o.Callers, do)
		}
		return child.Closed(d, o.Callers, do)
	}
}
