//go:build !linux

package actor

import "time"

// ticks is a clock that ticks in less than a millisecond.
type ticks time.Duration

func startTicks(every time.Duration) ticks { return ticks(every) }

func (t ticks) wait() { time.Sleep(time.Duration(t)) }

func (t ticks) stop() {}
