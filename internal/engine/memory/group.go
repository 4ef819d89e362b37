package memory

import (
	"context"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/engine"
)

// group is the state of a consumer group; the queue's lock guards its fields.
type group struct {
	queue  *queue
	name   string
	cursor uint64 // the last place that was handed out
	held   map[uint64]*lease
	wake   chan struct{} // closed and replaced when there may be something to receive
}

// lease is a message that was handed out, or waits to be so again.
type lease struct {
	entry    *entry
	attempts int       // that were counted, by Retry
	handed   int       // how often it was handed out
	owner    *consumer // nil: waiting
	turn     int       // which delivery it is now, so that one that lost it cannot speak for the next
	due      time.Time
}

func (g *group) notify() {
	close(g.wake)
	g.wake = make(chan struct{})
}

func (g *group) stats() engine.GroupStats {
	s := engine.GroupStats{Name: g.name}
	for e := g.queue.after(g.cursor); e != nil; e = g.queue.after(e.sequence) {
		s.Waiting++
	}
	for _, l := range g.held {
		if l.owner == nil {
			s.Delayed++
		} else {
			s.InFlight++
		}
		if l.owner == nil || l.handed > 1 {
			s.Retried++
		}
	}
	return s
}

// consumer is one node's part of a group.
type consumer struct {
	group *group
	wait  time.Duration
	once  sync.Once
	ended chan struct{}
}

// turn is a delivery's handle.
type turn struct {
	lease *lease
	turn  int
}

func (c *consumer) Receive(ctx context.Context, limit int) ([]*engine.Delivery, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		select {
		case <-c.ended:
			return nil, engine.ErrClosed
		default:
		}
		list, wake, due := c.take(limit, time.Now())
		if len(list) > 0 {
			return list, nil
		}
		timer := time.NewTimer(due)
		select {
		case <-ctx.Done():
		case <-c.ended:
		case <-wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// take hands out what can be, and returns what to wait for when there is nothing.
func (c *consumer) take(limit int, now time.Time) (list []*engine.Delivery, wake chan struct{}, due time.Duration) {
	g := c.group
	g.queue.mu.Lock()
	defer g.queue.mu.Unlock()
	g.queue.trim(now)
	due = time.Minute
	for sequence, l := range g.held {
		left := l.due.Sub(now)
		switch {
		case l.entry.gone:
			delete(g.held, sequence)
		case left > 0:
			due = min(due, left)
		case len(list) < limit:
			list = append(list, c.give(l, now))
		}
	}
	for len(list) < limit {
		e := g.queue.after(g.cursor)
		if e == nil {
			break
		}
		g.cursor = e.sequence
		l := &lease{entry: e}
		g.held[e.sequence] = l
		list = append(list, c.give(l, now))
	}
	return list, g.wake, due
}

func (c *consumer) give(l *lease, now time.Time) *engine.Delivery {
	l.handed++
	l.turn++
	l.owner, l.due = c, now.Add(c.wait)
	return &engine.Delivery{Message: l.entry.message(), Sequence: l.entry.sequence, Attempt: l.attempts + 1, Lost: max(0, l.handed-1-l.attempts),
		Handle: turn{l, l.turn}}
}

// each runs do for those deliveries that still hold their message.
func (c *consumer) each(list []*engine.Delivery, do func(*lease)) {
	c.group.queue.mu.Lock()
	defer c.group.queue.mu.Unlock()
	for _, d := range list {
		if t := d.Handle.(turn); t.turn == t.lease.turn && t.lease.owner != nil {
			do(t.lease)
		}
	}
}

func (c *consumer) Done(_ context.Context, list ...*engine.Delivery) error {
	c.each(list, func(l *lease) {
		l.owner = nil
		delete(c.group.held, l.entry.sequence)
	})
	return nil
}

func (c *consumer) Retry(_ context.Context, d *engine.Delivery, after time.Duration) error {
	c.each([]*engine.Delivery{d}, func(l *lease) {
		l.owner, l.due, l.attempts = nil, time.Now().Add(after), d.Attempt
		c.group.notify()
	})
	return nil
}

func (c *consumer) Release(_ context.Context, d *engine.Delivery) error {
	c.each([]*engine.Delivery{d}, func(l *lease) {
		l.owner, l.due = nil, time.Now()
		l.handed-- // nothing was lost
		c.group.notify()
	})
	return nil
}

func (c *consumer) Extend(_ context.Context, list ...*engine.Delivery) error {
	c.each(list, func(l *lease) { l.due = time.Now().Add(c.wait) })
	return nil
}

func (c *consumer) Close() error {
	c.once.Do(func() { close(c.ended) })
	return nil
}
