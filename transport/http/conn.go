package http

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir/internal/transports"
)

const (
	// largestFrame is the most that is sent in one frame, of which a copy is made.
	largestFrame = 64 << 10
	// aheadSize is the size of the buffer for small reads, which would otherwise cost a system call for each header.
	aheadSize = 4 << 10
	// goodbyeTime bounds the Close frame, where the peer does not read.
	goodbyeTime = time.Second
)

// conn is a WebSocket as a connection of bytes. It is a transports.BufferWriter and a transports.HalfCloser: a Close frame
// announces that nothing follows (RFC 6455, section 5.5.1, lets the other side send on before it answers).
type conn struct {
	net.Conn
	client bool // masks what it sends (RFC 6455, section 5.3)

	reading    sync.Mutex
	frames     deframer
	ahead      []byte // for small reads
	start, end int    // payload in ahead
	readErr    error

	writing   sync.Mutex
	out       []byte // a frame
	scratch   [ws.MaxHeaderSize]byte
	one       [1][]byte
	closeSent bool  // a Close frame was sent
	writeErr  error // part of a frame was sent: nothing can follow

	pong   atomic.Pointer[[]byte] // what is still to be answered
	closed atomic.Bool
}

// newConn makes a connection of a socket whose handshake is done. ahead holds the bytes that were read after the handshake.
func newConn(raw net.Conn, client bool, ahead []byte) *conn {
	c := &conn{Conn: raw, client: client}
	c.frames.state = ws.StateServerSide
	if client {
		c.frames.state = ws.StateClientSide
	}
	c.frames.ping = c.answer
	if len(ahead) > 0 {
		c.ahead = ahead
		c.end, c.readErr = c.frames.take(ahead)
	}
	return c
}

// NetConn is the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	for {
		switch {
		case len(p) == 0:
			return 0, nil
		case c.closed.Load():
			return 0, c.errorOf("read", net.ErrClosed)
		case c.start < c.end:
			n := copy(p, c.ahead[c.start:c.end])
			c.start += n
			return n, nil
		case c.readErr != nil:
			return 0, c.readErr
		case c.frames.done:
			return 0, io.EOF
		case len(p) >= aheadSize:
			n, err := c.fill(p)
			if n > 0 || err != nil {
				return n, err
			}
		default:
			if len(c.ahead) < aheadSize {
				c.ahead = make([]byte, aheadSize)
			}
			n, err := c.fill(c.ahead)
			c.start, c.end = 0, n
			if err != nil {
				return 0, err
			}
		}
	}
}

// fill reads once from the socket, and keeps the payload.
func (c *conn) fill(p []byte) (int, error) {
	read, err := c.Conn.Read(p)
	n, broken := c.frames.take(p[:read])
	if broken != nil {
		c.readErr = c.errorOf("read", broken)
	}
	if n > 0 {
		return n, nil // an error of the socket comes again
	}
	if c.frames.done {
		return 0, io.EOF
	}
	if c.readErr != nil {
		return 0, c.readErr
	}
	return 0, err
}

// Write implements [net.Conn].
func (c *conn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.one[0] = p
	n, err := c.send(c.one[:])
	c.one[0] = nil
	return int(n), err
}

// WriteBuffers implements transports.BufferWriter.
func (c *conn) WriteBuffers(buffers *net.Buffers) (int64, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	n, err := c.send(*buffers)
	left := n
	for len(*buffers) > 0 && left >= int64(len((*buffers)[0])) {
		left -= int64(len((*buffers)[0]))
		(*buffers)[0] = nil
		*buffers = (*buffers)[1:]
	}
	if left > 0 {
		(*buffers)[0] = (*buffers)[0][left:]
	}
	return n, err
}

// send sends the slices in frames. It runs under writing.
func (c *conn) send(parts [][]byte) (int64, error) {
	total := 0
	for _, part := range parts {
		total += len(part)
	}
	sent, at, from := int64(0), 0, 0 // where to go on: parts[at][from:]
	for total > 0 {
		size := min(total, largestFrame)
		c.begin(ws.OpBinary, size)
		for missing := size; missing > 0; {
			n := min(missing, len(parts[at])-from)
			c.out = append(c.out, parts[at][from:from+n]...)
			missing, from = missing-n, from+n
			if from == len(parts[at]) {
				at, from = at+1, 0
			}
		}
		if err := c.flush(size); err != nil {
			return sent, err
		}
		total -= size
		sent += int64(size)
	}
	return sent, nil
}

// begin puts the header of a frame into out.
func (c *conn) begin(op ws.OpCode, size int) {
	if need := ws.MaxHeaderSize + size; cap(c.out) < need {
		c.out = make([]byte, 0, need)
	}
	h := ws.Header{Fin: true, OpCode: op, Length: int64(size), Masked: c.client}
	if c.client {
		h.Mask = ws.NewMask()
	}
	c.out = c.out[:0]
	ws.WriteHeaderBuffer((*outWriter)(c), h, c.scratch[:])
}

// outWriter appends to out.
type outWriter conn

func (w *outWriter) Write(p []byte) (int, error) {
	w.out = append(w.out, p...)
	return len(p), nil
}

// flush masks and writes the frame in out, whose payload is the last size bytes.
func (c *conn) flush(size int) error {
	switch {
	case c.closed.Load():
		return c.errorOf("write", net.ErrClosed)
	case c.writeErr != nil:
		return c.writeErr
	case c.closeSent:
		return c.errorOf("write", os.NewSyscallError("write", syscall.EPIPE))
	}
	payload := c.out[len(c.out)-size:]
	if c.client {
		ws.Cipher(payload, [4]byte(c.out[len(c.out)-size-4:]), 0)
	}
	n, err := c.Conn.Write(c.out)
	if err != nil && n > 0 {
		c.writeErr = err
	}
	return err
}

// answer has a ping answered, by a goroutine since this one reads: it must not wait for a peer that does not. Of several
// pings the last is answered (RFC 6455, section 5.5.3).
func (c *conn) answer(payload []byte) {
	data := append([]byte(nil), payload...)
	if c.pong.Swap(&data) != nil {
		return // one is under way
	}
	go func() {
		c.writing.Lock()
		defer c.writing.Unlock()
		data := *c.pong.Swap(nil)
		c.begin(ws.OpPong, len(data))
		c.out = append(c.out, data...)
		c.flush(len(data)) // a failure shows in the next write
	}()
}

// goodbye sends a Close frame, once. It runs under writing.
func (c *conn) goodbye() error {
	if c.closeSent || c.writeErr != nil {
		return c.writeErr
	}
	c.begin(ws.OpClose, 2)
	c.out = append(c.out, 0x03, 0xe8) // 1000, a normal end
	err := c.flush(2)
	c.closeSent = true
	return err
}

// CloseWrite implements transports.HalfCloser.
func (c *conn) CloseWrite() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.goodbye()
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	if c.writing.TryLock() { // else a write waits, and the peer does not read
		if !c.closed.Load() {
			c.Conn.SetWriteDeadline(time.Now().Add(goodbyeTime))
			c.goodbye()
		}
		c.writing.Unlock()
	}
	if c.closed.Swap(true) {
		return c.errorOf("close", net.ErrClosed)
	}
	return c.Conn.Close()
}

// errorOf gives an error the form that those of package net have.
func (c *conn) errorOf(op string, err error) error {
	return &net.OpError{Op: op, Net: c.RemoteAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

var (
	_ transports.BufferWriter = (*conn)(nil)
	_ transports.HalfCloser   = (*conn)(nil)
)
