package mem

import (
	"sync"
	"time"
)

// deadline wakes those who wait on a condition when its time has come. The lock of the condition guards it.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// wait waits for the condition, or until the deadline may have passed; which of them, the caller looks up. The timer is
// only set where someone waits, so that a deadline for each write costs no more than a store. It is not stopped after the
// wait, since others may wait for it too: it then wakes someone for nothing.
func (d *deadline) wait(changed *sync.Cond) {
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

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}
