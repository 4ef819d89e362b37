//go:build unix

package mesh

import (
	"syscall"
	"time"
)

// processorSeconds is the time that the processors have worked for this process.
func processorSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return (time.Duration(u.Utime.Nano()) + time.Duration(u.Stime.Nano())).Seconds()
}
