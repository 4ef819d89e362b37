package dubbo

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxPending bounds what waits to be written to a connection whose other side reads slowly.
	maxPending = 32 << 20
	// writeLimit is the time in which the other side must take something.
	writeLimit = 10 * time.Second
)

// connection carries frames both ways. Frames are written by whoever has one; while somebody writes, those of others gather and go
// together.
type connection struct {
	net.Conn
	reader *bufio.Reader
	held   *bodies

	callbacks  callbacks
	streams    context.Context // of callbacks: ends with the connection of a consumer, and when the node stops
	endStreams context.CancelFunc

	lastRead, lastSent atomic.Int64 // in Unix ns

	mu       sync.Mutex
	writing  bool
	written  sync.Cond // nobody writes any more
	failed   error
	pending  []byte
	spare    []byte
	eventIDs atomic.Int64
}

var errSlow = errors.New("the other side does not read what is sent to it")

func newConnection(c net.Conn, held *bodies) *connection {
	one := &connection{Conn: c, reader: bufio.NewReaderSize(c, 32<<10), held: held}
	one.written.L = &one.mu
	one.streams, one.endStreams = context.WithCancel(context.Background())
	now := time.Now().UnixNano()
	one.lastRead.Store(now)
	one.lastSent.Store(now)
	return one
}

// next reads a frame. Heartbeats of the other side are answered here, and those of this side are over once something is read.
func (c *connection) next() (frame, error) {
	for {
		f, err := readFrame(c.reader, c.held)
		if err != nil {
			return f, err
		}
		c.lastRead.Store(time.Now().UnixNano())
		if !f.is(flagEvent) || isReadOnly(f.body) {
			return f, nil
		}
		c.held.free(len(f.body))
		if f.is(flagRequest) && f.is(flagTwoWay) {
			c.send(setLength(append(appendHeader(nil, flagEvent, statusOK, f.id), 'N')))
		}
	}
}

func isReadOnly(body []byte) bool {
	return len(body) == 2 && body[0] == 1 && string(body[1:]) == readOnly
}

// beat sends a heartbeat, which the other side answers.
func (c *connection) beat() {
	c.send(setLength(append(appendHeader(nil, flagRequest|flagTwoWay|flagEvent, 0, c.eventIDs.Add(-1)), 'N')))
}

// announceStop sends the event that no more calls are taken.
func (c *connection) announceStop() {
	c.send(setLength(append(appendHeader(nil, flagRequest|flagEvent, 0, c.eventIDs.Add(-1)), 1, readOnly[0])))
}

// look sends a heartbeat after silence, and closes a connection that was silent for three times as long.
func (c *connection) look(now time.Time, interval time.Duration) {
	read, sent := now.Sub(time.Unix(0, c.lastRead.Load())), now.Sub(time.Unix(0, c.lastSent.Load()))
	switch {
	case read > 3*interval:
		c.Close()
	case read >= interval && sent >= interval/2, sent >= interval:
		c.beat()
	}
}

// send writes a whole frame, which is the caller's again when it returns. Where it cannot be written, the connection is closed.
func (c *connection) send(whole []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil && len(c.pending)+len(whole) > maxPending {
		c.fail(errSlow)
	}
	if c.failed != nil {
		return c.failed
	}
	c.pending = append(c.pending, whole...)
	if c.writing {
		return nil
	}
	c.writing = true
	for len(c.pending) > 0 && c.failed == nil {
		c.mu.Unlock()
		runtime.Gosched() // calls that end now too add their frames, which saves a write for each
		c.mu.Lock()
		out := c.pending
		c.pending, c.spare = c.spare[:0], nil
		c.mu.Unlock()
		now := time.Now()
		c.lastSent.Store(now.UnixNano())
		err := c.SetWriteDeadline(now.Add(writeLimit))
		if err == nil {
			_, err = c.Write(out)
		}
		c.mu.Lock()
		if err != nil {
			c.fail(err)
		}
		if cap(out) <= keepBody {
			c.spare = out
		}
	}
	c.writing = false
	c.written.Broadcast()
	return c.failed
}

// flush waits until all that was sent is written, which writeLimit bounds.
func (c *connection) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.writing {
		c.written.Wait()
	}
}

// fail ends the connection. The caller holds mu.
func (c *connection) fail(err error) {
	c.failed, c.pending, c.spare = err, nil, nil
	c.Close()
}

// isEnd reports whether an error of reading only says that the connection has ended.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) }
