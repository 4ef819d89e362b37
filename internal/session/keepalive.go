package session

import (
	"syscall"
	"time"
)

// questions is the number of times that a silent peer is asked before it is abandoned.
const questions = 3

func (c *Conn) startProbing() {
	if c.settings.KeepAlive <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probeTimer = time.AfterFunc(c.settings.KeepAlive, c.probe)
}

// probe runs when the peer should have sent something.
func (c *Conn) probe() {
	received := c.received.Swap(false)
	c.mu.Lock()
	if c.probeTimer == nil || c.failure != nil {
		c.mu.Unlock()
		return
	}
	wait := c.settings.KeepAlive / questions
	switch {
	case received:
		c.unanswered, wait = 0, c.settings.KeepAlive
	case c.unanswered == questions:
		c.mu.Unlock()
		c.fail(syscall.ETIMEDOUT)
		return
	default:
		c.unanswered++
	}
	c.probeTimer.Reset(wait)
	c.mu.Unlock()
	if !received {
		c.send(kindPing, 0)
	}
}
