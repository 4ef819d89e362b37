package transports

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/internal/deadline"
)

// Carrier is an ordered, reliable way for bytes inside another protocol, such as a stream of gRPC, which has neither
// deadlines nor a Close that waits. It is for drivers; [Carry] makes a connection of it.
//
// It runs over a connection that is its own: all its methods that wait must return when that is closed.
type Carrier interface {
	// Read reads as [io.Reader] specifies; io.EOF is the peer's Finish. One goroutine calls it, until its first error.
	Read(p []byte) (int, error)

	// Send sends the slices in order, and returns when their bytes may be reused. It is called by one goroutine at a time.
	Send(parts [][]byte) error

	// Finish announces that nothing follows, and waits until the peer has taken what was sent and finished too. It is called
	// once, at the end, when no Send runs.
	Finish()
}

const (
	// firstCarried and largestCarried bound what was read from a carrier and not from its connection.
	firstCarried   = 16 << 10
	largestCarried = 128 << 10
	// carriedLinger is the time that Close waits for the peer to take what was sent.
	carriedLinger = time.Second
)

// Carried is a connection over a [Carrier]. It is a [BufferWriter].
//
// Close waits up to a second for the peer to take what was written. There is no half close: once the peer has closed,
// writes fail.
type Carried struct {
	carrier Carrier
	below   net.Conn

	mu           sync.Mutex
	readable     sync.Cond // there are bytes, or reads have ended
	drained      sync.Cond // the buffer was emptied, or Close was called
	buf          []byte
	start        int
	end          int
	readErr      error // the carrier's last error
	readDeadline deadline.Deadline
	closed       bool

	writing       sync.Mutex // held through a write, whose bytes stay together
	waiting       bool       // a Send runs
	writeErr      error      // why nothing can be written any more
	writeDeadline time.Time
	timer         *time.Timer // aborts a Send at writeBy

	one      [1][]byte // what Write sends, under writing
	endOnce  sync.Once
	finished chan struct{}
}

// Carry makes a connection of a carrier that runs over below, which it closes at the end. Its addresses are those of below.
func Carry(carrier Carrier, below net.Conn) *Carried {
	c := &Carried{carrier: carrier, below: below, buf: make([]byte, firstCarried), finished: make(chan struct{})}
	c.readable.L = &c.mu
	c.drained.L = &c.mu
	go c.pump()
	return c
}

// pump reads ahead from the carrier, for reads with deadlines and to learn of the peer's end.
func (c *Carried) pump() {
	for {
		space := c.waitForSpace()
		n, err := c.carrier.Read(space)
		c.mu.Lock()
		if c.closed {
			c.start, c.end = 0, 0
		} else {
			c.end += n
		}
		c.readErr = err
		c.readable.Broadcast()
		c.mu.Unlock()
		if err != nil {
			break
		}
	}
	c.finish(errPeerEnded)
}

var errPeerEnded = os.NewSyscallError("write", syscall.EPIPE)

// waitForSpace waits until a quarter of the buffer is free, so that reads are not too small, and returns the free part.
func (c *Carried) waitForSpace() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if c.start == c.end {
			c.start, c.end = 0, 0
		}
		if free := len(c.buf) - c.end; free >= len(c.buf)/4 {
			return c.buf[c.end:]
		}
		switch {
		case len(c.buf) < largestCarried:
			grown := make([]byte, 2*len(c.buf))
			c.end = copy(grown, c.buf[c.start:c.end])
			c.buf, c.start = grown, 0
		case c.start >= len(c.buf)/4:
			c.end = copy(c.buf, c.buf[c.start:c.end])
			c.start = 0
		default:
			c.drained.Wait()
		}
	}
}

// Read implements [net.Conn].
func (c *Carried) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, c.errorOf("read", net.ErrClosed)
		case c.readDeadline.Passed():
			return 0, c.errorOf("read", os.ErrDeadlineExceeded)
		case len(p) == 0:
			return 0, nil
		case c.start < c.end:
			n := copy(p, c.buf[c.start:c.end])
			c.start += n
			c.drained.Signal()
			return n, nil
		case c.readErr == io.EOF:
			return 0, io.EOF
		case c.readErr != nil:
			return 0, c.errorOf("read", c.readErr)
		}
		c.readDeadline.Wait(&c.readable)
	}
}

// Write implements [net.Conn].
func (c *Carried) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.one[0] = p
	err := c.send(c.one[:])
	c.one[0] = nil
	if err != nil {
		return 0, c.errorOf("write", err)
	}
	return len(p), nil
}

// WriteBuffers implements [BufferWriter].
func (c *Carried) WriteBuffers(buffers *net.Buffers) (int64, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.send(*buffers); err != nil {
		return 0, c.errorOf("write", err)
	}
	n := int64(0)
	for i, part := range *buffers {
		n += int64(len(part))
		(*buffers)[i] = nil
	}
	*buffers = (*buffers)[len(*buffers):]
	return n, nil
}

// send runs under writing.
func (c *Carried) send(parts [][]byte) error {
	if err := c.begin(); err != nil {
		return err
	}
	err := c.carrier.Send(parts)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = false
	if err == nil {
		return nil // even where its deadline passed at the end: the next write returns it
	}
	if c.closed {
		return net.ErrClosed
	}
	if c.writeErr == nil {
		c.writeErr = err
	}
	return c.writeErr
}

func (c *Carried) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return net.ErrClosed
	case c.writeErr != nil:
		return c.writeErr
	case !c.writeDeadline.IsZero() && !time.Now().Before(c.writeDeadline):
		return os.ErrDeadlineExceeded
	}
	c.waiting = true
	c.limitWrite()
	return nil
}

// limitWrite sees to it that a Send that runs ends at its deadline. It runs under mu.
func (c *Carried) limitWrite() {
	if c.writeDeadline.IsZero() {
		return
	}
	if left := time.Until(c.writeDeadline); c.timer == nil {
		c.timer = time.AfterFunc(left, c.overdue)
	} else {
		c.timer.Reset(left)
	}
}

func (c *Carried) overdue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.waiting || c.writeDeadline.IsZero():
	case time.Now().Before(c.writeDeadline):
		c.limitWrite() // it was moved
	default:
		if c.writeErr == nil {
			c.writeErr = os.ErrDeadlineExceeded
		}
		go Abort(c.below) // part of the bytes may be sent: it is of no more use
	}
}

// Close implements [net.Conn].
func (c *Carried) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return c.errorOf("close", net.ErrClosed)
	}
	c.closed = true
	c.readDeadline.Stop()
	c.start, c.end = 0, 0
	c.readable.Broadcast()
	c.drained.Broadcast()
	c.mu.Unlock()
	c.finish(net.ErrClosed)
	return nil
}

// finish ends the carrier, in peace where no write waits, and returns when that is done. why is for later writes.
func (c *Carried) finish(why error) {
	c.mu.Lock()
	if c.writeErr == nil {
		c.writeErr = why
	}
	waiting := c.waiting
	c.mu.Unlock()
	c.endOnce.Do(func() {
		if waiting {
			Abort(c.below)
		}
		c.writing.Lock() // until that write has ended; the next see writeErr
		defer c.writing.Unlock()
		limit := time.AfterFunc(carriedLinger, func() { Abort(c.below) })
		c.carrier.Finish()
		limit.Stop()
		Abort(c.below)
		c.mu.Lock()
		if c.timer != nil {
			c.timer.Stop()
		}
		c.mu.Unlock()
		close(c.finished)
	})
	<-c.finished
}

// LocalAddr implements [net.Conn].
func (c *Carried) LocalAddr() net.Addr { return c.below.LocalAddr() }

// RemoteAddr implements [net.Conn].
func (c *Carried) RemoteAddr() net.Addr { return c.below.RemoteAddr() }

// SetDeadline implements [net.Conn].
func (c *Carried) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements [net.Conn].
func (c *Carried) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readDeadline.Set(t)
	c.readable.Broadcast()
	return nil
}

// SetWriteDeadline implements [net.Conn].
func (c *Carried) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeDeadline = t
	if c.waiting {
		c.limitWrite()
	}
	return nil
}

// errorOf gives an error the form that those of package net have.
func (c *Carried) errorOf(op string, err error) error {
	return &net.OpError{Op: op, Net: c.below.RemoteAddr().Network(), Source: c.below.LocalAddr(), Addr: c.below.RemoteAddr(), Err: err}
}
