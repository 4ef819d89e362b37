package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/table"
)

// direction is one way through a codec.
type direction string

const (
	encoding direction = "encode"
	decoding direction = "decode"
)

// cell is one codec, one shape, one direction, measured in all rounds.
type cell struct {
	Codec     string       `json:"codec"`
	Shape     string       `json:"shape"`
	Direction direction    `json:"direction"`
	Nanos     table.Spread `json:"ns"`
	Allocs    float64      `json:"allocs"`
	Bytes     int          `json:"bytes"`

	loop   func(n int) error
	times  int // how often the loop runs in one round
	values []float64
}

// loopOf is what is timed.
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

// cellsOf prepares all cells and finds out how often each must run to fill a round. Those of one shape and direction stand
// next to each other, so that they meet the same noise.
func cellsOf(all []codec, round time.Duration) ([]*cell, error) {
	var cells []*cell
	for _, c := range all {
		if err := c.check(); err != nil {
			return nil, err
		}
		for i, e := range c.entries {
			first, err := e.encode(nil)
			if err != nil {
				return nil, err
			}
			data := append([]byte(nil), first...) // some encode into a buffer that they use again
			for _, d := range []direction{encoding, decoding} {
				one := &cell{Codec: c.name, Shape: shapes[i], Direction: d, Bytes: len(data), loop: loopOf(e, d, data)}
				if err := one.calibrate(round); err != nil {
					return nil, err
				}
				cells = append(cells, one)
			}
		}
	}
	slices.SortStableFunc(cells, func(a, b *cell) int {
		return cmp.Or(slices.Index(shapes, a.Shape)-slices.Index(shapes, b.Shape), -cmp.Compare(a.Direction, b.Direction))
	})
	return cells, nil
}

// calibrate runs the loop longer and longer, until it takes a quarter of a round; that warms it up as well.
func (c *cell) calibrate(round time.Duration) error {
	for n := 16; ; n *= 2 {
		started := time.Now()
		if err := c.loop(n); err != nil {
			return fmt.Errorf("%s, %s, %s: %w", c.Codec, c.Shape, c.Direction, err)
		}
		if took := time.Since(started); took >= round/4 {
			c.times = max(int(float64(n)*float64(round)/float64(took)), 1)
			return nil
		}
	}
}

// round runs the loop once for its time.
func (c *cell) round() error {
	runtime.GC() // what the cell before left behind is not this one's to collect
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	started := time.Now()
	err := c.loop(c.times)
	took := time.Since(started)
	runtime.ReadMemStats(&after)
	if err != nil {
		return fmt.Errorf("%s, %s, %s: %w", c.Codec, c.Shape, c.Direction, err)
	}
	c.values = append(c.values, float64(took)/float64(c.times))
	c.Nanos = table.SpreadOf(c.values)
	c.Allocs = float64((after.Mallocs - before.Mallocs) / uint64(c.times))
	return nil
}
