package http1

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// checkedConn is a connection as net/http gets it: without what strict refuses, and behind the bytes that were read already.
type checkedConn struct {
	net.Conn
	prefix  []byte
	of      *conn
	strict  strict      // of the one that reads
	owed    int         // see strict.unread
	refused atomic.Bool // nothing more is read; set before refusal is used by the one that writes
	changed atomic.Bool // another protocol is spoken since a handler has taken the connection over
}

func (c *conn) checked(over net.Conn, prefix []byte) *checkedConn {
	return &checkedConn{Conn: over, prefix: prefix, of: c, strict: newStrict(!c.served && c.tls == nil)}
}

// errRefused must be no error of the network, which net/http would not answer.
var errRefused = errors.New("http1: the request is not HTTP/1.1 as RFC 9112 wants it")

func (c *checkedConn) Read(p []byte) (int, error) {
	if c.refused.Load() {
		return c.readRefused(p)
	}
	n, err := c.readAny(p)
	if c.changed.Load() {
		return n, err
	}
	good := c.strict.pass(p[:n])
	if good == n {
		return n, err
	}
	c.owed = c.strict.unread()
	c.refused.Store(true)
	c.of.server.refused.Add(1)
	c.of.server.log.Debug("http request was refused", "from", c.of.socket.RemoteAddr().String(), "reason", c.strict.refusal)
	if good > 0 {
		return good, nil
	}
	return c.readRefused(p)
}

// readRefused has net/http answer with an error. It looks for four bytes of the next request before it does.
func (c *checkedConn) readRefused(p []byte) (int, error) {
	n := min(c.owed, len(p))
	if n == 0 {
		return 0, errRefused
	}
	c.owed -= n
	return copy(p, "XXXX"[:n]), nil
}

func (c *checkedConn) readAny(p []byte) (int, error) {
	if len(c.prefix) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.prefix)
	if c.prefix = c.prefix[n:]; len(c.prefix) == 0 {
		c.prefix = nil
	}
	return n, nil
}

// badRequest is the answer that net/http writes, at once and as the last, where a read of a head fails by itself.
const badRequest = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"

// Write puts the reason into net/http's answer to a request that was refused.
func (c *checkedConn) Write(p []byte) (int, error) {
	if len(p) != len(badRequest) || !c.refused.Load() || string(p) != badRequest {
		return c.Conn.Write(p)
	}
	text := "this is no request that can be read in one way only (RFC 9112): " + c.strict.refusal
	_, err := fmt.Fprintf(c.Conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(text), text)
	if err != nil {
		return 0, err
	}
	if closeWrite(c.Conn) == nil { // see conn.linger
		c.Conn.SetReadDeadline(time.Now().Add(lingerTime))
		io.CopyN(io.Discard, c.Conn, lingerBytes)
	}
	return len(p), nil
}

func (c *checkedConn) CloseWrite() error { return closeWrite(c.Conn) }

func (c *checkedConn) ReadFrom(r io.Reader) (int64, error) { return readFrom(c.Conn, r) }

// checkedTLSConn is a checkedConn over TLS. net/http calls ConnectionState for the TLS field of its requests.
type checkedTLSConn struct {
	*checkedConn
	over *tls.Conn
}

func (c *checkedTLSConn) ConnectionState() tls.ConnectionState { return c.over.ConnectionState() }

// changeProtocol notes that a handler has taken the connection over, for a WebSocket or another protocol.
func changeProtocol(c net.Conn) {
	switch c := c.(type) {
	case *checkedConn:
		c.changed.Store(true)
	case *checkedTLSConn:
		c.changed.Store(true)
	}
}
