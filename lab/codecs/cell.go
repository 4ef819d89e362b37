package main

import (
	"runtime"
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// cell is one shape in one direction, ready to be measured.
type cell struct {
	entry entry
	loop  func(n int) error
	size  int     // of the encoding
	each  float64 // about how long one takes, nanoseconds; 0 before the first measurement
}

func newCell(e entry, d direction) (*cell, error) {
	first, err := e.encode(nil)
	if err != nil {
		return nil, err
	}
	data := slices.Clone(first) // some encode into a buffer that they use again
	if e.decodes != nil && d == decoding {
		data = e.decodes
	}
	return &cell{entry: e, loop: loopOf(e, d, data), size: len(data)}, nil
}

// loopOf returns the function that is timed: it encodes or decodes n times.
func loopOf(e entry, d direction, data []byte) func(n int) error {
	if d == encoding {
		buffer := make([]byte, 0, 4096)
		return func(n int) error {
			for range n {
				if _, err := e.encode(buffer); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return func(n int) error {
		for range n {
			if err := e.decode(data); err != nil {
				return err
			}
		}
		return nil
	}
}

// measure runs the loop for about d, in one piece, and then checks that the codec still gives back what it was given.
func (c *cell) measure(d time.Duration) (child.Sample, error) {
	if c.each == 0 {
		if err := c.calibrate(d); err != nil {
			return child.Sample{}, err
		}
	}
	times := max(int(float64(d)/c.each), 1)
	runtime.GC() // what was measured before is not this one's to collect
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpuBefore, err := child.CPU()
	if err != nil {
		return child.Sample{}, err
	}
	started := time.Now()
	if err := c.loop(times); err != nil {
		return child.Sample{}, err
	}
	elapsed := time.Since(started)
	cpuAfter, err := child.CPU()
	if err != nil {
		return child.Sample{}, err
	}
	runtime.ReadMemStats(&after)
	c.each = float64(elapsed) / float64(times)
	s := child.Sample{Operations: int64(times), Elapsed: elapsed, CPU: cpuAfter - cpuBefore, Figures: map[string]float64{
		"size":      float64(c.size),
		"allocs":    float64((after.Mallocs - before.Mallocs) / uint64(times)),
		"allocated": float64((after.TotalAlloc - before.TotalAlloc) / uint64(times)),
	}}
	data, err := c.entry.encode(nil)
	if err == nil {
		err = c.entry.verify(data)
	}
	if err != nil {
		s.Wrong, s.Problem = 1, err.Error()
	}
	return s, nil
}

// calibrate runs the loop longer and longer, for a quarter of a measurement; that warms it up as well.
func (c *cell) calibrate(d time.Duration) error {
	for n := 16; ; n *= 2 {
		started := time.Now()
		if err := c.loop(n); err != nil {
			return err
		}
		if took := time.Since(started); took >= d/4 {
			c.each = float64(took) / float64(n)
			return nil
		}
	}
}
