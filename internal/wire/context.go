package wire

import (
	"context"
	"sync"
	"time"
)

// callContext is the context of a request or stream of the peer. Its channel and its timer are made when someone asks for
// Done, so that a handler that does not costs nothing for them.
type callContext struct {
	link     *Link
	deadline time.Time

	mu    sync.Mutex
	done  chan struct{}
	err   error
	timer *time.Timer
	after map[*afterEnd]struct{}
}

// afterEnd is a function that context.AfterFunc or a derived context wants to be run at the end.
type afterEnd struct{ run func() }

// newContext makes the context of what came at a time of the link with a timeout, 0 for none.
func (l *Link) newContext(arrived int64, timeout time.Duration) *callContext {
	c := &callContext{link: l}
	if timeout > 0 {
		c.deadline = l.started.Add(time.Duration(arrived) + timeout)
	}
	return c
}

func (c *callContext) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }

// Value has the link, and nothing else.
func (c *callContext) Value(key any) any {
	if _, ok := key.(LinkKey); ok {
		return c.link
	}
	return nil
}

func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
		c.watch()
	}
	return c.done
}

func (c *callContext) Err() error {
	c.mu.Lock()
	err := c.err
	c.mu.Unlock()
	if err == nil && !c.deadline.IsZero() && time.Until(c.deadline) <= 0 {
		c.end(context.DeadlineExceeded)
		return c.Err()
	}
	return err
}

// AfterFunc makes contexts that are derived from this one, and context.AfterFunc, do without a goroutine that waits.
func (c *callContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	if c.after == nil {
		c.after = map[*afterEnd]struct{}{}
	}
	a := &afterEnd{f}
	c.after[a] = struct{}{}
	c.watch()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, there := c.after[a]
		delete(c.after, a)
		return there
	}
}

// watch sets the timer of the deadline. It runs under mu.
func (c *callContext) watch() {
	if c.err == nil && c.timer == nil && !c.deadline.IsZero() {
		c.timer = time.AfterFunc(time.Until(c.deadline), func() { c.end(context.DeadlineExceeded) })
	}
}

// end ends the context for the reason given; only the first counts.
func (c *callContext) end(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	if c.done != nil {
		close(c.done)
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	after := c.after
	c.after = nil
	c.mu.Unlock()
	for a := range after {
		go a.run()
	}
}
