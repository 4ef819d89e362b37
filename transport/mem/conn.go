package mem

import (
	"io"
	"net"
	"sync"
	"time"
)

// addr is the name of one side.
type addr string

func (a addr) Network() string { return "mem" }
func (a addr) String() string  { return "mem://" + string(a) }

// conn is one side of a connection.
type conn struct {
	in, out      *flow
	local, peer  addr
	closeOnce    sync.Once
	closedOnSide func()
}

// connect makes the two sides of a connection; closed runs when both are closed.
func connect(dialer, listener addr, dialLimit, listenLimit int, closed func()) (dialled, accepted *conn, flows [2]*flow) {
	there, back := newFlow(dialLimit), newFlow(listenLimit)
	var mu sync.Mutex
	open := 2
	side := func() {
		mu.Lock()
		defer mu.Unlock()
		if open--; open == 0 {
			closed()
		}
	}
	dialled = &conn{in: back, out: there, local: dialer, peer: listener, closedOnSide: side}
	accepted = &conn{in: there, out: back, local: listener, peer: dialer, closedOnSide: side}
	return dialled, accepted, [2]*flow{there, back}
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.errorOf("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return int(n), c.errorOf("write", err)
}

// WriteBuffers implements transports.BufferWriter.
func (c *conn) WriteBuffers(buffers *net.Buffers) (int64, error) {
	n, err := c.out.write(*buffers...)
	left := n
	for len(*buffers) > 0 && left >= int64(len((*buffers)[0])) {
		left -= int64(len((*buffers)[0]))
		(*buffers)[0] = nil
		*buffers = (*buffers)[1:]
	}
	if left > 0 {
		(*buffers)[0] = (*buffers)[0][left:]
	}
	return n, c.errorOf("write", err)
}

// errorOf gives an error the form that those of package net have. EOF stays as it is, as io.Reader asks.
func (c *conn) errorOf(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: "mem", Source: c.local, Addr: c.peer, Err: err}
}

func (c *conn) Close() error {
	first := false
	c.closeOnce.Do(func() { first = true })
	if !first {
		return c.errorOf("close", net.ErrClosed)
	}
	c.out.closeWriter()
	c.in.closeReader()
	c.closedOnSide()
	return nil
}

// CloseWrite implements transports.HalfCloser.
func (c *conn) CloseWrite() error {
	c.out.end()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.peer }

func (c *conn) SetDeadline(t time.Time) error {
	c.in.readDeadline(t)
	c.out.writeDeadline(t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.readDeadline(t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.writeDeadline(t)
	return nil
}
