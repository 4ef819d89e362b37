package httpstrict

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Conn is a connection as net/http gets it: without what is refused, and behind the bytes that were read already.
type Conn struct {
	net.Conn
	prefix  []byte
	report  func(reason string)
	strict  strict        // of the one that reads
	owed    int           // see strict.unread
	frames  *bufio.Reader // of HTTP/2; nil before its preface
	refused atomic.Bool   // nothing more is read; set before refusal is used by the one that writes
	changed atomic.Bool   // another protocol is spoken since a handler has taken the connection over
}

// NewConn makes one that reads prefix first. mayBeHTTP2 takes HTTP/2's preface for a beginning. report is called once where a request
// is refused, by the goroutine that reads.
func NewConn(over net.Conn, prefix []byte, mayBeHTTP2 bool, report func(reason string)) *Conn {
	return &Conn{Conn: over, prefix: prefix, strict: newStrict(mayBeHTTP2), report: report}
}

// NetConn is the connection below.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// errRefused must be no error of the network, which net/http would not answer.
var errRefused = errors.New("httpstrict: the request is not HTTP/1.1 as RFC 9112 wants it")

// frameBuffer bounds the bytes that one read of an HTTP/2 connection takes. Longer frames are read past the buffer.
const frameBuffer = 8 << 10

// Read implements [net.Conn]. It reads HTTP/2 ahead: net/http asks for nine bytes of each frame and then for the rest, and each would be a
// system call. A call over gRPC has two frames, and a tenth of its time was in reading them.
func (c *Conn) Read(p []byte) (int, error) {
	if c.frames != nil {
		return c.frames.Read(p)
	}
	if c.refused.Load() {
		return c.readRefused(p)
	}
	n, err := c.readAny(p)
	if c.changed.Load() {
		return n, err
	}
	good := c.strict.pass(p[:n])
	if good == n {
		if c.strict.http2 {
			c.frames = bufio.NewReaderSize(readerFunc(c.readAny), frameBuffer)
		}
		return n, err
	}
	c.owed = c.strict.unread()
	c.refused.Store(true)
	c.report(c.strict.refusal)
	if good > 0 {
		return good, nil
	}
	return c.readRefused(p)
}

// readRefused has net/http answer with an error. It looks for four bytes of the next request before it does.
func (c *Conn) readRefused(p []byte) (int, error) {
	n := min(c.owed, len(p))
	if n == 0 {
		return 0, errRefused
	}
	c.owed -= n
	return copy(p, "XXXX"[:n]), nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (c *Conn) readAny(p []byte) (int, error) {
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
func (c *Conn) Write(p []byte) (int, error) {
	if len(p) != len(badRequest) || !c.refused.Load() || string(p) != badRequest {
		return c.Conn.Write(p)
	}
	text := "this is no request that can be read in one way only (RFC 9112): " + c.strict.refusal
	_, err := fmt.Fprintf(c.Conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(text), text)
	if err != nil {
		return 0, err
	}
	_ = Linger(c.Conn)
	return len(p), nil
}

// CloseWrite lets net/http signal that it has sent all, before it closes. net/http does so where it answers before it has read the body,
// and then waits for half a second, in which it reads nothing: a client that has more to send than fits on its way, or no turn in that time,
// would lose the answer.
func (c *Conn) CloseWrite() error {
	if c.changed.Load() {
		return CloseWrite(c.Conn)
	}
	return Linger(c.Conn)
}

// ReadFrom lets the system copy files.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) { return ReadFrom(c.Conn, r) }

// CloseWrite closes the sending half of a connection that has halves.
func CloseWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// ReadFrom copies r to a connection, in the way that is the fastest for both.
func ReadFrom(c net.Conn, r io.Reader) (int64, error) {
	if fast, ok := c.(io.ReaderFrom); ok {
		return fast.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{c}, r)
}

// TLSConn is a Conn over TLS. net/http calls ConnectionState for the TLS field of its requests.
type TLSConn struct {
	*Conn
	TLS *tls.Conn
}

// ConnectionState makes the handshake where that was not done. net/http asks for it before it reads.
func (c *TLSConn) ConnectionState() tls.ConnectionState {
	state := c.TLS.ConnectionState()
	if state.HandshakeComplete {
		return state
	}
	c.TLS.SetDeadline(time.Now().Add(handshakeTime))
	_ = Handshake(c.TLS) // the next read returns the error again
	c.TLS.SetDeadline(time.Time{})
	return c.TLS.ConnectionState()
}

// handshakeTime bounds a handshake of TLS that net/http waits for.
const handshakeTime = 5 * time.Second

// Handshake makes the handshake of a server. A client that sends plain HTTP is told so.
func Handshake(over *tls.Conn) error {
	err := over.Handshake()
	if wrong, ok := errors.AsType[tls.RecordHeaderError](err); ok && wrong.Conn != nil && looksLikeHTTP(wrong.RecordHeader) {
		io.WriteString(wrong.Conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 44\r\nConnection: close\r\n\r\nthis port speaks HTTPS: the request was HTTP")
	}
	return err
}

// looksLikeHTTP reports whether the bytes in place of a TLS record begin a plain HTTP request.
func looksLikeHTTP(b [5]byte) bool {
	switch string(b[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		return true
	}
	return false
}

// ChangeProtocol notes that a handler has taken a connection over, for a WebSocket or another protocol: what comes is not checked any
// more. Other connections than those of this package are left alone.
func ChangeProtocol(c net.Conn) {
	switch c := c.(type) {
	case *Conn:
		c.changed.Store(true)
	case *TLSConn:
		c.changed.Store(true)
	}
}
