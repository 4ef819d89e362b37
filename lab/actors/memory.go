package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// startMany starts processes that do nothing, and measures the memory they take: live heap and stacks as the runtime has them
// after a collection, and what the operating system has given after all that is free has been returned.
func startMany(n node, processes int) child.Job {
	return child.Job{Measure: func(time.Duration) (child.Sample, error) {
		heapBefore, rssBefore, err := memoryNow()
		if err != nil {
			return child.Sample{}, err
		}
		before, err := child.CPU()
		if err != nil {
			return child.Sample{}, err
		}
		ready, started := newTally(processes), time.Now()
		if err := errors.Join(n.idle(processes, ready), ready.wait("started")); err != nil {
			return child.Sample{}, err
		}
		elapsed := max(time.Since(started), 1)
		after, err := child.CPU()
		if err != nil {
			return child.Sample{}, err
		}
		collecting := time.Now()
		runtime.GC()
		collected := time.Since(collecting)
		heap, rss, err := memoryNow()
		if err != nil {
			return child.Sample{}, err
		}
		each := 1 / float64(processes)
		s := child.Sample{Operations: int64(processes), Elapsed: elapsed, CPU: after - before, Figures: map[string]float64{
			"each": (heap - heapBefore) * each, "rss": (rss - rssBefore) * each, "start": float64(elapsed), "gc": float64(collected),
			"processes": float64(processes),
		}}
		if extra := ready.got.Load() - ready.want; extra > 0 {
			s.Wrong, s.Problem = extra, fmt.Sprintf("%d processes more than wanted have started", extra)
		}
		return s, nil
	}}
}

// memoryNow returns the bytes in use after a collection: of heap and stacks, and as resident memory (Linux).
func memoryNow() (used, resident float64, err error) {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0, fmt.Errorf("the resident memory of this process: %w", err)
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, 0, fmt.Errorf("/proc/self/statm has %q, want at least two numbers", text)
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	return float64(m.HeapAlloc + m.StackInuse), pages * float64(os.Getpagesize()), err
}

// peak is the greatest resident memory of this process so far, in bytes; 0 where the system does not say.
func peak() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kilobytes float64
	if _, err := fmt.Sscanf(rest, "%f kB", &kilobytes); err != nil {
		return 0
	}
	return kilobytes * 1024
}
