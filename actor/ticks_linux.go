package actor

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ticks is a clock that ticks in less than a millisecond. A timer of Go does not, where processors have nothing to run: they sleep in
// epoll_wait, which counts in milliseconds. One of the system wakes them as a connection does.
type ticks struct {
	every time.Duration
	file  *os.File // nil where there is none, such as where the process has no more file descriptors
}

func startTicks(every time.Duration) ticks {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return ticks{every: every}
	}
	at := unix.NsecToTimespec(int64(every))
	if unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Interval: at, Value: at}, nil) != nil {
		unix.Close(fd)
		return ticks{every: every}
	}
	return ticks{every, os.NewFile(uintptr(fd), "timer")}
}

// wait waits for the next tick. Ticks that passed meanwhile count as one.
func (t ticks) wait() {
	var passed [8]byte
	if t.file == nil {
		time.Sleep(t.every)
	} else if _, err := t.file.Read(passed[:]); err != nil {
		time.Sleep(t.every)
	}
}

func (t ticks) stop() {
	if t.file != nil {
		t.file.Close()
	}
}
