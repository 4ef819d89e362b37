package supervise

import (
	"errors"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// isRestarted reports whether a child that has ended by itself is to be restarted.
func (c *Child) isRestarted(reason error) bool {
	return c.Restart == permanent || c.Restart == transient && !peaceful(reason)
}

// peaceful reports whether a reason is no failure.
func peaceful(reason error) bool {
	return errors.Is(reason, actor.ErrNormal) || errors.Is(reason, actor.ErrShutdown)
}

// history is the restarts of the last period, the oldest first. It never holds more than the intensity, plus one.
type history struct {
	times []time.Time
}

// tooMany adds a restart, and reports whether there were more than intensity within the period.
func (h *history) tooMany(now time.Time, intensity int, period time.Duration) bool {
	old := 0
	for old < len(h.times) && now.Sub(h.times[old]) > period {
		old++
	}
	h.times = append(h.times[old:], now)
	return len(h.times) > intensity
}

// toSelf sends a message to the supervisor itself, behind the calls that wait, so that it answers them between two attempts
// to restart. Where the mailbox is full it goes before them.
func toSelf[M any](p *actor.Process, message M) {
	if actor.SendPriority(p, p.PID(), actor.PriorityNormal, message) != nil {
		actor.SendPriority(p, p.PID(), actor.PrioritySystem, message)
	}
}
