package session

import (
	"syscall"
	"time"
)

// questions is how often a silent peer is asked before it is given up.
const questions = 3

func (c *Conn) startAsking() {
	if c.settings.KeepAlive <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking = time.AfterFunc(c.settings.KeepAlive, c.ask)
}

// ask runs when the peer should have been heard.
func (c *Conn) ask() {
	heard := c.heard.Swap(false)
	c.mu.Lock()
	if c.asking == nil || c.failure != nil {
		c.mu.Unlock()
		return
	}
	wait := c.settings.KeepAlive / questions
	switch {
	case heard:
		c.unanswered, wait = 0, c.settings.KeepAlive
	case c.unanswered == questions:
		c.mu.Unlock()
		c.fail(syscall.ETIMEDOUT)
		return
	default:
		c.unanswered++
	}
	c.asking.Reset(wait)
	c.mu.Unlock()
	if !heard {
		c.send(kindPing, 0)
	}
}
