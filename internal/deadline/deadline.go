// Package deadline gives connections deadlines that have none of their own.
package deadline

import (
	"sync"
	"time"
)

// Deadline wakes the goroutines that wait on a condition when its time has come. It is for drivers whose connections have no
// deadlines of their own. The lock of the condition guards it. The zero Deadline never comes.
type Deadline struct {
	at    time.Time
	timer *time.Timer
}

// Set sets the time, zero for never. The waiting goroutines must be woken to see it.
func (d *Deadline) Set(at time.Time) { d.at = at }

// Passed reports whether the time has come.
func (d *Deadline) Passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// Wait waits for the condition, or until the deadline may have passed; which of them, the caller looks up. The timer is
// only set where someone waits, so that a deadline for each write costs no more than a store. It is not stopped after the
// wait, since others may wait for it too: it then wakes someone for nothing.
func (d *Deadline) Wait(changed *sync.Cond) {
	if !d.at.IsZero() {
		left := time.Until(d.at)
		if d.timer == nil {
			d.timer = time.AfterFunc(left, func() {
				changed.L.Lock()
				defer changed.L.Unlock()
				changed.Broadcast()
			})
		} else {
			d.timer.Reset(left)
		}
	}
	changed.Wait()
}

// Stop ends the timer of a deadline that is no longer waited for.
func (d *Deadline) Stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}
