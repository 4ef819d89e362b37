package session

import (
	"net"
	"time"
)

func (c *Conn) SetDeadline(t time.Time) error      { return c.setDeadlines(t, true, true) }
func (c *Conn) SetReadDeadline(t time.Time) error  { return c.setDeadlines(t, true, false) }
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(t, false, true) }

func (c *Conn) setDeadlines(t time.Time, read, write bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return &net.OpError{Op: "set", Net: c.settings.Name, Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: net.ErrClosed}
	}
	if read {
		c.readLimit.Set(t)
		c.readable.Broadcast()
	}
	if write {
		c.sendLimit.Set(t)
		c.writable.Broadcast()
	}
	return nil
}
