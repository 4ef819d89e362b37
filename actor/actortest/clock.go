package actortest

import (
	"cmp"
	"slices"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/internal/stepping"
)

// Clock is a time that a test moves: see [NewSystem]. It is used by many goroutines at once.
type Clock interface {
	Now() time.Time
	// AfterFunc calls fn on a goroutine of its own after d. stop prevents that and reports whether it did.
	AfterFunc(d time.Duration, fn func()) (stop func() bool)
}

// NewSystem makes a system that runs as in a program, with its workers, but whose time is that of a clock: SendAfter, timeouts
// and ages go by it. A [Kit] is simpler where the test may step the processes itself.
func NewSystem(config actor.Config, clock Clock) *actor.System { return newSystem(config, clock, nil) }

var (
	newSystem = stepping.NewSystem.(func(actor.Config, stepping.Clock, *stepping.Hooks[actor.PID]) *actor.System)
	step      = stepping.Step.(func(*actor.System) bool)
)

// clock is a Clock that stands still until it is moved. What is due at one time happens in the order in which it was
// asked for.
type clock struct {
	now    time.Time
	asked  int
	timers []*timer // in the order in which they are due
}

type timer struct {
	at    time.Time
	asked int
	fn    func()
}

func (a *timer) compare(b *timer) int {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.asked, b.asked))
}

// Now is the time.
func (c *clock) Now() time.Time { return c.now }

// AfterFunc calls fn when the clock was moved by d, at the soonest when it is moved next.
func (c *clock) AfterFunc(d time.Duration, fn func()) (stop func() bool) {
	c.asked++
	t := &timer{c.now.Add(max(d, 0)), c.asked, fn}
	i, _ := slices.BinarySearchFunc(c.timers, t, (*timer).compare)
	c.timers = slices.Insert(c.timers, i, t)
	return func() bool {
		i, waits := slices.BinarySearchFunc(c.timers, t, (*timer).compare)
		if waits {
			c.timers = slices.Delete(c.timers, i, i+1)
		}
		return waits
	}
}

// next takes the first timer that is due until end, and moves the clock there.
func (c *clock) next(end time.Time) (fn func(), ok bool) {
	if len(c.timers) == 0 || c.timers[0].at.After(end) {
		return nil, false
	}
	first := c.timers[0]
	c.timers = slices.Delete(c.timers, 0, 1)
	c.now = first.at
	return first.fn, true
}
