//go:build unix

package child

import (
	"fmt"
	"syscall"
	"time"
)

// CPU is the user and system time that all threads of this process have had.
func CPU() (time.Duration, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}
