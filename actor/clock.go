package actor

import "time"

// Clock is the time of a system: that of the machine, or one that a test moves.
type Clock interface {
	Now() time.Time
	// AfterFunc calls fn on a goroutine of its own after d. stop prevents that and reports whether it did.
	AfterFunc(d time.Duration, fn func()) (stop func() bool)
}

type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

func (machineClock) AfterFunc(d time.Duration, fn func()) func() bool {
	return time.AfterFunc(d, fn).Stop
}
