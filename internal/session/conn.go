package session

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/internal/deadline"
)

// Raw is the connection of a carrier, below a session. Its Write must not wait for the peer's program as long as no more bytes
// are under way than the Settings' Window and some dozens of small frames. Close ends a Read that waits.
type Raw interface {
	io.ReadWriteCloser
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
}

// Settings are the properties of a driver's carrier.
type Settings struct {
	Name      string        // for errors: the network of a [net.OpError]
	Window    int           // units of 1 KiB that may be under way or unread, 1 to MaxWindow
	KeepAlive time.Duration // silence before the peer is asked, three times, a third of this apart; 0 for never
	OpenWait  time.Duration // how long a listener lets a new carrier be without an open frame
}

const (
	goodbyeWait = 5 * time.Second // for the peer to read to the end and close too
	closedWait  = time.Second     // for the last answer of a peer that has closed

	// lastWait lets the last answer leave, for carriers may send from a goroutine of their own, and what the peer's carrier
	// still has to send arrive where it belongs.
	lastWait = 20 * time.Millisecond
)

// Conn is one end of a connection; a [net.Conn] with CloseWrite.
type Conn struct {
	raw      Raw
	settings Settings
	released func() // called once, when the carrier was abandoned

	writing sync.Mutex // one Write at a time, so that they do not mix
	sending sync.Mutex // of raw.Write and out
	out     []byte

	decoder  decoder // of the pump
	received atomic.Bool

	mu                   sync.Mutex
	readable, writable   sync.Cond // over mu
	changed              sync.Cond // over mu: for the handshake and the goodbye
	readLimit, sendLimit deadline.Deadline
	in                   []byte // in[taken:] is unread
	taken                int
	unreturned           int // units of the peer's that were not given back
	credit               int // units that may be sent
	opened, accepted     bool
	refused              bool
	ended                bool // this side sends no more data
	closed               bool // by this side's owner
	peerEnded            bool
	peerClosed           bool
	peerKnows            bool  // that this side has closed
	failure              error // of the carrier, or a mistake of the peer
	probeTimer           *time.Timer
	unanswered           int
}

func newConn(raw Raw, settings Settings, released func()) *Conn {
	c := &Conn{raw: raw, settings: settings, released: released}
	c.readable.L, c.writable.L, c.changed.L = &c.mu, &c.mu, &c.mu
	return c
}

// pump takes everything off the carrier until that ends.
func (c *Conn) pump() {
	buffer := make([]byte, 16<<10)
	for {
		n, err := c.raw.Read(buffer)
		if n > 0 {
			c.received.Store(true)
			if err := c.decoder.decode(buffer[:n], c); err != nil {
				c.fail(err)
				return
			}
		}
		if err != nil {
			c.fail(err)
			return
		}
	}
}

func (c *Conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil {
		c.failure = err
	}
	c.wakeAll()
}

func (c *Conn) wakeAll() {
	c.readable.Broadcast()
	c.writable.Broadcast()
	c.changed.Broadcast()
}

func (c *Conn) frame(k kind, number int) error {
	answer := kind(0)
	c.mu.Lock()
	switch k {
	case kindOpen, kindAccept:
		if c.opened {
			c.mu.Unlock()
			return errors.New("the peer opened the connection twice")
		}
		c.opened, c.accepted, c.credit = true, k == kindAccept, number&0xffff
	case kindRefuse:
		c.refused = true
	case kindData:
		c.unreturned += units(number)
		if c.unreturned > c.settings.Window {
			c.mu.Unlock()
			return fmt.Errorf("the peer sent more than the window of %d units", c.settings.Window)
		}
	case kindCredit:
		c.credit = min(c.credit+number, MaxWindow)
		c.writable.Broadcast()
	case kindEnd:
		c.peerEnded = true
		c.readable.Broadcast()
	case kindClose:
		c.peerEnded = true
		answer = kindClosed
	case kindClosed:
		c.peerKnows = true
	case kindPing:
		answer = kindPong
	}
	c.mu.Unlock()
	if answer != 0 {
		c.send(answer, 0) // an error of the carrier comes up in its Read
	}
	switch k {
	case kindOpen, kindAccept, kindRefuse, kindClose, kindClosed:
		c.mu.Lock()
		c.peerClosed = c.peerClosed || k == kindClose // once it is answered, for then the carrier may go
		c.wakeAll()
		c.mu.Unlock()
	}
	return nil
}

func (c *Conn) data(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if c.taken == len(c.in) {
		c.in, c.taken = c.in[:0], 0
	} else if len(c.in)+len(p) > cap(c.in) && c.taken > 0 {
		c.in, c.taken = c.in[:copy(c.in, c.in[c.taken:])], 0
	}
	c.in = append(c.in, p...)
	c.readable.Signal()
}

func (c *Conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	for {
		switch {
		case c.closed:
			c.mu.Unlock()
			return 0, c.fault("read", net.ErrClosed)
		case c.readLimit.Passed():
			c.mu.Unlock()
			return 0, c.fault("read", os.ErrDeadlineExceeded)
		case len(p) == 0:
			c.mu.Unlock()
			return 0, nil
		case c.taken < len(c.in):
			return c.take(p), nil
		case c.peerEnded:
			c.mu.Unlock()
			return 0, io.EOF
		case c.failure != nil:
			c.mu.Unlock()
			return 0, c.fault("read", c.failure)
		}
		c.readLimit.Wait(&c.readable)
	}
}

// take reads the data that has arrived and returns units to the peer once they are many. It releases mu.
func (c *Conn) take(p []byte) int {
	n := copy(p, c.in[c.taken:])
	c.taken += n
	free := c.unreturned - (len(c.in)-c.taken+unit-1)/unit
	if free < c.settings.Window/4 || free == 0 || c.peerEnded {
		free = 0
	}
	c.unreturned -= free
	c.mu.Unlock()
	if free > 0 {
		c.send(kindCredit, free)
	}
	return n
}

func (c *Conn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	wrote := 0
	for {
		n, err := c.reserve(len(p) - wrote)
		if err == nil && n > 0 {
			err = c.sendData(p[wrote : wrote+n])
		}
		if err != nil {
			return wrote, c.fault("write", err)
		}
		if wrote += n; wrote == len(p) { // what goes wrong from now on is returned by the next Write
			return wrote, nil
		}
	}
}

// reserve waits for space in the peer's window and returns how many of the bytes may be sent.
func (c *Conn) reserve(bytes int) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, net.ErrClosed
		case c.sendLimit.Passed():
			return 0, os.ErrDeadlineExceeded
		case c.failure != nil:
			return 0, c.failure
		case c.ended || c.peerClosed:
			return 0, syscall.EPIPE
		case bytes == 0:
			return 0, nil
		case c.credit > 0:
			n := min(bytes, fitting(c.credit))
			c.credit -= units(n)
			return n, nil
		}
		c.sendLimit.Wait(&c.writable)
	}
}

func (c *Conn) sendData(p []byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.out = append(appendFrame(c.out[:0], kindData, len(p)), p...)
	_, err := c.raw.Write(c.out)
	return err
}

func (c *Conn) send(k kind, number int) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.out = appendFrame(c.out[:0], k, number)
	_, err := c.raw.Write(c.out)
	return err
}

// fault is an error in the words of package net.
func (c *Conn) fault(op string, err error) error {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	switch {
	case closed:
		err = net.ErrClosed
	case err == os.ErrDeadlineExceeded, err == syscall.EPIPE:
	case errors.Is(err, syscall.ECONNREFUSED): // the peer's process is gone, as its machine reports
		err = syscall.ECONNRESET
	case errors.Is(err, net.ErrClosed), errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
		err = syscall.ECONNRESET // the carrier ended, which this side's owner did not ask for
	}
	return &net.OpError{Op: op, Net: c.settings.Name, Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// CloseWrite notifies the peer that no data follows what was written.
func (c *Conn) CloseWrite() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	again, closed := c.ended, c.closed
	c.ended = true
	c.mu.Unlock()
	if closed {
		return c.fault("close", net.ErrClosed)
	}
	if again {
		return nil
	}
	return c.send(kindEnd, 0)
}

// Close returns at once. What was written still arrives, if the process runs long enough to send it.
func (c *Conn) Close() error { return c.close(goodbyeWait) }

// close is Close with a bound on how long the peer may take to close too.
func (c *Conn) close(waitLimit time.Duration) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return c.fault("close", net.ErrClosed)
	}
	c.closed = true
	c.in, c.taken = nil, 0
	c.readLimit.Stop()
	c.sendLimit.Stop()
	c.wakeAll()
	c.mu.Unlock()
	go c.sendClose(waitLimit)
	return nil
}

// sendClose gives the carrier up when nothing is left to arrive.
func (c *Conn) sendClose(waitLimit time.Duration) {
	c.send(kindClose, 0) // after the data, which its writers sent before
	late := time.AfterFunc(waitLimit, func() { c.fail(os.ErrDeadlineExceeded) })
	c.mu.Lock()
	for c.failure == nil && !c.peerClosed {
		c.changed.Wait()
	}
	late.Reset(closedWait)
	for c.failure == nil && !c.peerKnows {
		c.changed.Wait()
	}
	if c.probeTimer != nil {
		c.probeTimer.Stop()
		c.probeTimer = nil
	}
	alive := c.failure == nil
	c.mu.Unlock()
	late.Stop()
	if alive {
		<-time.After(lastWait)
	}
	c.raw.Close()
	c.released()
}

func (c *Conn) LocalAddr() net.Addr  { return c.raw.LocalAddr() }
func (c *Conn) RemoteAddr() net.Addr { return c.raw.RemoteAddr() }
