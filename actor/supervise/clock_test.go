package supervise_test

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// clock is a time that the test moves.
type clock struct {
	mu      sync.Mutex
	changed chan struct{} // closed when a timer is set
	now     time.Time
	timers  []*timer
}

type timer struct {
	at time.Time
	fn func()
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), changed: make(chan struct{})}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) AfterFunc(d time.Duration, fn func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c.now.Add(d), fn}
	c.timers = append(c.timers, t)
	close(c.changed)
	c.changed = make(chan struct{})
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.timers, t)
		if i >= 0 {
			c.timers = slices.Delete(c.timers, i, i+1)
		}
		return i >= 0
	}
}

// pass lets time go by.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []*timer
	c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool {
		if t.at.After(c.now) {
			return false
		}
		due = append(due, t)
		return true
	})
	c.mu.Unlock()
	for _, t := range due {
		t.fn()
	}
}

// armed waits until there is a timer that ends in d.
func (c *clock) armed(t *testing.T, d time.Duration) {
	t.Helper()
	for {
		c.mu.Lock()
		found := slices.ContainsFunc(c.timers, func(t *timer) bool { return t.at.Equal(c.now.Add(d)) })
		changed := c.changed
		c.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("no timer of %s", d)
		case <-time.After(testTimeout):
			t.Fatalf("no timer of %s", d)
		}
	}
}
