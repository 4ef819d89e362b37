package http1

import (
	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/internal/memory"
)

// counts is the account of the connection. Most connections need none.
func (c *conn) counts() *memory.Account {
	if c.account == nil {
		c.account = c.server.memory.Connection()
	}
	return c.account
}

// holdBody counts a body that has so many bytes by now. It is false where there is no space for them.
func (c *conn) holdBody(bytes int) bool {
	if bytes == c.held {
		return true
	}
	if !c.counts().Grow(c.held, bytes) {
		return false
	}
	c.held = bytes
	return true
}

// giveBody is for the end of a request.
func (c *conn) giveBody() {
	if c.held > 0 {
		c.account.Give(c.held)
		c.held = 0
	}
}

// refuseBody answers a request whose body there is no space for, and ends the connection.
func (c *conn) refuseBody() bool {
	w := c.work
	w.x.Body = nil
	c.server.handler.Full(&w.x)
	if c.bufferResponse(true) && c.flush() {
		c.enter(lingers, c.server.ticks.write)
		_ = httpstrict.Linger(c.net)
	}
	return false
}

// writePiece is the part of a long answer after which a client counts as one that reads.
const writePiece = 64 << 10

// writeLong is write for answers that may be long. While a client is slow to read one, it counts, and the socket is closed where the
// client stands still and others need the memory.
func (c *conn) writeLong(p []byte) bool {
	if c.server.memory == nil || len(p) < memory.Small {
		return c.write(p)
	}
	if c.window == nil {
		c.window = c.counts().Window(func() { c.socket.Close() })
	}
	c.window.Add(len(p))
	defer c.window.Remove(len(p))
	c.enter(writing, c.server.ticks.write)
	for len(p) > 0 {
		n := min(len(p), writePiece)
		if _, err := c.net.Write(p[:n]); err != nil {
			return false
		}
		p = p[n:]
		c.window.Progress()
	}
	return true
}
