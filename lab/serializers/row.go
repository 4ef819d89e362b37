package main

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sabir-go/sabir/lab/table"
)

type direction string

const (
	encoding direction = "encode"
	decoding direction = "decode"
)

// row is one contender on one value.
type row struct {
	Name   string                  `json:"name"`
	Format string                  `json:"format"`
	Ours   bool                    `json:"ours"`
	Bytes  int                     `json:"bytes"`
	Wall   map[direction]*measured `json:"wall"`
	CPU    map[direction]*measured `json:"cpu"`

	wire     string // rows of one wire must understand each other
	head     int    // bytes before the value that the others of this wire do not have
	language string // of a peer in another one
	runner   runner
	child    *child // the runner, in a measurement
	data     []byte
	speeds   map[direction]float64 // nanoseconds per call, as the last run had it
}

// measured is nanoseconds per call.
type measured struct {
	table.Spread
	Rounds []float64 `json:"rounds"`
}

func (m *measured) add(nanos float64) {
	m.Rounds = append(m.Rounds, nanos)
	m.Spread = table.SpreadOf(m.Rounds)
}

// runner does the work: a child process, or what runs in one of Go.
type runner interface {
	// encoded is the value as a message.
	encoded() ([]byte, error)
	// answer is the JSON of what it decodes from a message.
	answer(data []byte) ([]byte, error)
	// collect collects garbage, which is not the next run's to collect.
	collect() error
	// run encodes or decodes its own message n times, and says how long that took.
	run(d direction, n int) (time.Duration, error)
}

// local runs in this process, which is a child's in a measurement.
type local struct {
	encode func(dst []byte) ([]byte, error) // appends, or returns a buffer of its own that the next call uses again
	decode func(data []byte) (any, error)
	data   []byte
	buffer []byte
	sink   any
}

func (l *local) encoded() ([]byte, error) {
	data, err := l.encode(nil)
	l.data = append([]byte(nil), data...)
	l.buffer = make([]byte, 0, len(data)+1024)
	return l.data, err
}

func (l *local) answer(data []byte) ([]byte, error) {
	v, err := l.decode(data)
	if err != nil {
		return nil, err
	}
	return asJSON(v)
}

func (l *local) collect() error {
	runtime.GC()
	return nil
}

func (l *local) run(d direction, n int) (time.Duration, error) {
	started := time.Now()
	if d == encoding {
		for range n {
			if _, err := l.encode(l.buffer[:0]); err != nil {
				return 0, err
			}
		}
		return time.Since(started), nil
	}
	for range n {
		v, err := l.decode(l.data)
		if err != nil {
			return 0, err
		}
		l.sink = v
	}
	took := time.Since(started)
	l.sink = nil
	return took, nil
}

// prepare has the row encode its value, so that others can read it.
func (r *row) prepare() error {
	data, err := r.runner.encoded()
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	r.data, r.Bytes = data, len(data)
	r.speeds = make(map[direction]float64)
	r.Wall = map[direction]*measured{encoding: {}, decoding: {}}
	r.CPU = map[direction]*measured{encoding: {}, decoding: {}}
	return nil
}

// calibrate runs longer and longer until the compiler is done and the speed is known.
func (r *row) calibrate(d direction, round time.Duration, hurry bool) error {
	enough := max(round, r.child.warm)
	if hurry {
		enough = round
	}
	spent := time.Duration(0)
	for n := 1; spent < enough; n *= 2 {
		took, err := r.runner.run(d, n)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", r.Name, d, err)
		}
		spent += took
		r.speeds[d] = float64(took) / float64(n)
	}
	return nil
}

// round runs for its time once.
func (r *row) round(d direction, round time.Duration) error {
	if err := r.runner.collect(); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	n := max(int(float64(round)/max(r.speeds[d], 1)), 1)
	before, err := cpuTime(r.child.command.Process.Pid)
	if err != nil {
		return err
	}
	took, err := r.runner.run(d, n)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", r.Name, d, err)
	}
	after, err := cpuTime(r.child.command.Process.Pid)
	if err != nil {
		return err
	}
	r.speeds[d] = float64(took) / float64(n)
	r.Wall[d].add(r.speeds[d])
	r.CPU[d].add(float64(after-before) / float64(n))
	return nil
}

// cpuTime is the time that all threads of a process have used, those of its garbage collector and its compiler too. On
// Linux the clock of another process has a number made of its id (man 3 clock_getcpuclockid). It is up to date for threads that
// sleep, so a child does before it answers.
func cpuTime(process int) (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(int32(^process<<3|2), &now); err != nil {
		return 0, fmt.Errorf("the CPU time of process %d: %w", process, err)
	}
	return time.Duration(now.Nano()), nil
}
