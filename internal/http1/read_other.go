//go:build !unix

package http1

const canReadRaw = false

func (c *conn) read() int { return c.readPlain() }

func (c *conn) tryRead(uintptr) bool { panic("http1: there are no raw reads on this system") }
