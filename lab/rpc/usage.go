package main

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
)

// usage is what a process has used since it started.
type usage struct {
	CPU     time.Duration `json:"cpu"`     // user and system time of all its threads
	Mallocs uint64        `json:"mallocs"` // objects allocated
	Heap    uint64        `json:"heap"`    // bytes in use
}

// usageNow asks the kernel and the Go runtime. It stops the world for some microseconds, so it is called before and
// after a measurement only.
func usageNow() (usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return usage{}, fmt.Errorf("getrusage: %w", err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()), Mallocs: m.Mallocs, Heap: m.HeapInuse}, nil
}

// since is what was used after an earlier moment.
func (u usage) since(earlier usage) usage {
	return usage{CPU: u.CPU - earlier.CPU, Mallocs: u.Mallocs - earlier.Mallocs, Heap: u.Heap}
}
