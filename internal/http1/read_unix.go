//go:build unix

package http1

import "syscall"

const canReadRaw = true

// read waits for bytes, puts them where c.into is and returns how many; 0 is the end of the connection. Where reads are raw,
// an idle connection gives its work back before it waits, and has new work when bytes came.
func (c *conn) read() int {
	if c.raw == nil {
		return c.readPlain()
	}
	if c.raw.Read(c.readable) != nil {
		return 0
	}
	return c.n
}

// tryRead is called by the runtime's poller, first at once and then whenever the socket may have bytes. It returns false
// to wait. The socket does not block, so this takes as many system calls as net.Conn's Read.
func (c *conn) tryRead(fd uintptr) bool {
	if c.work == nil {
		c.begin()
	}
	for {
		n, err := syscall.Read(int(fd), c.into)
		switch err {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			if c.spare() {
				c.release()
			}
			return false
		}
		c.n = max(n, 0)
		return true
	}
}
