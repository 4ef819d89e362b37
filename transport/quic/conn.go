package quic

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
)

// conn is one stream and the QUIC connection that it has to itself.
//
// A side that closes ends its stream after the bytes that were written, asks for no more bytes, and opens a second, empty
// stream as its goodbye. When both have done so nothing is left to arrive, and the QUIC connection ends: ending it earlier
// would discard bytes that the peer has not read.
type conn struct {
	link          *quic.Conn
	stream        *quic.Stream
	socket        *socket
	silence       *silence
	local, remote net.Addr

	closed  atomic.Bool
	setting sync.Mutex // of write deadlines: none is set after Close
	writing sync.Mutex // the stream must not be ended during a write
}

func newConn(link *quic.Conn, stream *quic.Stream, socket *socket, keepAlive time.Duration, local, remote net.Addr) *conn {
	socket.hold()
	return &conn{link: link, stream: stream, socket: socket, silence: watch(link, keepAlive), local: local, remote: remote}
}

func (c *conn) Read(p []byte) (int, error) {
	if c.closed.Load() {
		return 0, c.fail("read", net.ErrClosed)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := c.stream.Read(p)
	if err == nil || err == io.EOF && !c.closed.Load() {
		return n, err
	}
	return n, c.fail("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.closed.Load() {
		return 0, c.fail("write", net.ErrClosed)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := c.stream.Write(p)
	if err != nil {
		return n, c.fail("write", err)
	}
	return n, nil
}

// fail returns err as an error of package net. Those of the library are all net.ErrClosed, whichever side closed.
func (c *conn) fail(op string, err error) error {
	_, cancelled := errors.AsType[*quic.StreamError](err)
	switch {
	case c.closed.Load():
		err = net.ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = os.ErrDeadlineExceeded
	case errors.Is(err, syscall.ECONNREFUSED): // the peer's process is gone, as its machine reports
		err = syscall.ECONNRESET
	case c.silence.ended():
		err = syscall.ETIMEDOUT
	case cancelled:
		err = syscall.EPIPE
	case errors.Is(err, net.ErrClosed):
		err = &lost{err}
	}
	return &net.OpError{Op: op, Net: "quic", Source: c.local, Addr: c.remote, Err: err}
}

// lost is an error that ended the QUIC connection, which is not one of this side's Close.
type lost struct{ cause error }

func (e *lost) Error() string { return syscall.ECONNRESET.Error() + ": " + e.cause.Error() }
func (e *lost) Unwrap() error { return syscall.ECONNRESET }

// CloseWrite is the end of the stream for the peer, after what was written.
func (c *conn) CloseWrite() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	return c.stream.Close()
}

// Close returns at once. What was written still arrives, if the process runs long enough to send it.
func (c *conn) Close() error {
	c.setting.Lock()
	if c.closed.Swap(true) {
		c.setting.Unlock()
		return c.fail("close", net.ErrClosed)
	}
	c.stream.SetDeadline(time.Unix(1, 0)) // long past: ends reads and writes that wait
	c.setting.Unlock()

	c.stream.CancelRead(0)
	c.writing.Lock()
	c.stream.Close()
	c.writing.Unlock()
	c.socket.closing()
	go c.sendClose()
	return nil
}

func (c *conn) sendClose() {
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeWait)
	defer cancel()
	if ours, err := c.link.OpenUniStream(); err == nil {
		ours.Close()
	}
	code, text := codeClosed, ""
	if _, err := c.link.AcceptUniStream(ctx); err != nil {
		code, text = codeTimeout, "closed long ago"
	}
	c.link.CloseWithError(code, text)
	c.silence.stop()
	c.socket.dropClosed()
}

// refuse ends a connection that was not accepted.
func (c *conn) refuse(why string) {
	c.closed.Store(true)
	c.link.CloseWithError(codeRefused, why)
	c.silence.stop()
	c.socket.drop()
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error      { return c.set(c.stream.SetDeadline, t) }
func (c *conn) SetReadDeadline(t time.Time) error  { return c.set(c.stream.SetReadDeadline, t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.set(c.stream.SetWriteDeadline, t) }

func (c *conn) set(deadline func(time.Time) error, t time.Time) error {
	c.setting.Lock()
	defer c.setting.Unlock()
	if c.closed.Load() {
		return c.fail("set", net.ErrClosed)
	}
	return deadline(t)
}

// ConnectionState describes the TLS of the connection, to which a link's handshake is bound.
func (c *conn) ConnectionState() tls.ConnectionState { return c.link.ConnectionState().TLS }
