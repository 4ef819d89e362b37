package main

import (
	"fmt"
	"runtime"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/lab/table"
)

// cell is one contender, one value and one direction, measured in all rounds.
type cell struct {
	Contender string       `json:"contender"`
	Value     string       `json:"value"`
	Direction string       `json:"direction"`
	Nanos     table.Spread `json:"ns"`
	Bytes     int          `json:"bytes"`

	loop  func(n int) error
	times int // how often the loop runs in one round
	runs  []float64
}

func cellsOf(c contender, name string, value any) ([]*cell, error) {
	first, err := c.encode(nil, value)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", c.name, name, err)
	}
	data := append([]byte(nil), first...) // some encode into a buffer that they use again
	buffer := make([]byte, 0, 4096)
	encode := func(n int) error {
		for range n {
			if _, err := c.encode(buffer, value); err != nil {
				return err
			}
		}
		return nil
	}
	decode := func(n int) error {
		for range n {
			if _, err := c.decode(data); err != nil {
				return err
			}
		}
		return nil
	}
	return []*cell{
		{Contender: c.name, Value: name, Direction: "encode", Bytes: len(data), loop: encode},
		{Contender: c.name, Value: name, Direction: "decode", Bytes: len(data), loop: decode},
	}, nil
}

// calibrate runs the loop longer and longer, until it takes a quarter of a round; that warms it up as well.
func (c *cell) calibrate(round time.Duration) error {
	for n := 16; ; n *= 2 {
		started := time.Now()
		if err := c.loop(n); err != nil {
			return fmt.Errorf("%s, %s, %s: %w", c.Contender, c.Value, c.Direction, err)
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
	started := cpuTime()
	err := c.loop(c.times)
	took := cpuTime() - started
	c.runs = append(c.runs, float64(took)/float64(c.times))
	c.Nanos = table.SpreadOf(c.runs)
	return err
}

// cpuTime is the time that all threads of the process have used, so garbage collection counts and what else runs on the
// machine does not.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
