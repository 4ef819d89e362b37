package shop

import (
	"context"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/sabir-go/sabir"
)

// Meter counts and times the calls that a node handles. Give its Middleware to the node.
type Meter struct {
	mu     sync.Mutex
	recent reading // since the last Reading
	total  reading
}

type reading struct {
	since     time.Time
	calls     int64
	errors    int64
	latencies *hdrhistogram.Histogram
}

// Reading has the measurements of a meter over a time.
type Reading struct {
	Seconds     float64 `json:"seconds"`
	Calls       int64   `json:"calls"`
	Errors      int64   `json:"errors"`
	CallsPerSec float64 `json:"calls_per_second"`
	P99Micros   float64 `json:"p99_us"` // 99 of 100 calls took no longer, in microseconds
}

// NewMeter starts a meter.
func NewMeter() *Meter {
	now := time.Now()
	return &Meter{recent: newReading(now), total: newReading(now)}
}

// Middleware returns the middleware that measures calls, nested ones too.
func (m *Meter) Middleware() sabir.Middleware {
	return sabir.Middleware{Name: "meter", Local: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			start := time.Now()
			err := next(ctx, r)
			m.add(time.Since(start), err)
			return err
		}
	}}
}

// Recent returns the measurements since the last call of Recent, or since the start.
func (m *Meter) Recent() Reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	r := m.recent.read(now)
	m.recent.latencies.Reset()
	m.recent = reading{since: now, latencies: m.recent.latencies}
	return r
}

// Total returns the measurements since the start.
func (m *Meter) Total() Reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total.read(time.Now())
}

func (m *Meter) add(took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recent.add(took, err)
	m.total.add(took, err)
}

// longest is the longest time that a meter resolves.
const longest = time.Minute

func newReading(now time.Time) reading {
	return reading{since: now, latencies: hdrhistogram.New(1, int64(longest), 2)}
}

func (r *reading) add(took time.Duration, err error) {
	r.calls++
	if err != nil {
		r.errors++
	}
	_ = r.latencies.RecordValue(int64(min(max(took, 1), longest))) // fails only out of range
}

func (r *reading) read(now time.Time) Reading {
	seconds := now.Sub(r.since).Seconds()
	return Reading{
		Seconds: seconds, Calls: r.calls, Errors: r.errors,
		CallsPerSec: float64(r.calls) / max(seconds, 1e-9),
		P99Micros:   float64(r.latencies.ValueAtQuantile(99)) / 1e3,
	}
}
