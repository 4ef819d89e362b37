package admission

import (
	"context"
	"time"
)

// entrant is a request with a goroutine of its own, such as one over HTTP.
type entrant struct {
	ticket Ticket
	turn   chan struct{} // with a buffer of one
}

func newEntrant() any {
	e := &entrant{turn: make(chan struct{}, 1)}
	e.ticket.Granted = func() { e.turn <- struct{}{} }
	return e
}

// Enter takes a place for a request that may take limit, 0 for any time, and waits for a place if there is none. It is false where the
// request is refused: it would wait for too long, has, or its context has ended. After true, call Leave at its end.
func (c *Control) Enter(ctx context.Context, class Class, limit time.Duration) (entered bool) {
	if c == nil {
		return true
	}
	c.came.Add(1)
	defer func() {
		c.Begun()
		if !entered {
			c.late.Add(1)
		}
	}()
	if c.waiting.Load() == 0 && c.take() {
		if c.running.Load() > 2*c.processors {
			c.watch()
		}
		c.Yield()
		entered = true
		return true
	}
	if class > Critical && !c.Fits(limit, 0) {
		return false
	}
	e := c.entrants.Get().(*entrant)
	defer c.entrants.Put(e)
	if c.Ask(&e.ticket, class) {
		entered = true
		return true
	}
	late := time.NewTimer(c.longest(limit))
	defer late.Stop()
	select {
	case <-e.turn:
		if c.Crowded() || c.pausing.Load() > 0 { // before the request, as at its end the caller waits for the answer
			c.Pause()
		}
		entered = true
		return true
	case <-ctx.Done():
	case <-late.C:
	}
	c.gaveUp.Add(1)
	if c.Withdraw(&e.ticket) {
		return false
	}
	<-e.turn // it was granted meanwhile
	c.Done()
	return false
}

// Leave gives back the place of a request that has entered.
func (c *Control) Leave() { c.Done() }
