//go:build unix

package bench

import (
	"syscall"
	"time"
)

// reapedCPU is the CPU time of all processes that this one has started and that have ended.
func reapedCPU() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
