package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/internal/deadline"
	"github.com/sabir-go/sabir/internal/seal"
)

// conn is one side of a session.
type conn struct {
	hub *Hub
	end
	peer string // the other side's inbox

	keyed        bool // the session is sealed, or will be
	channel      atomic.Pointer[seal.Channel]
	numbering    sync.Mutex // held while a packet is sealed and published, so that numbers go in order; taken last
	sealedPacket []byte     // the sealed packet

	writing sync.Mutex // held by Write, so that its bytes stay together; taken before sending
	sending sync.Mutex // held while publishing parts of the stream, so that they go in order; taken before mu

	mu            sync.Mutex // guards the rest
	sealing       sealing
	readable      sync.Cond
	writable      sync.Cond
	readDeadline  deadline.Deadline
	writeDeadline deadline.Deadline
	out           outgoing
	in            incoming
	opened        chan struct{} // closed when the other side has the session, or when it is over
	state         state
	cause         error // why the session is over; nil after Close

	wants        wants
	queued       bool      // it is in the hub's list of work
	progress     time.Time // when something of what was sent was last confirmed or asked for
	pause        time.Duration
	unheardSince time.Time // since when the broker reports no subscriber of the other inbox
	closedAt     time.Time
}

type state int

const (
	opening state = iota
	open
	closing // closed on this side, and something that the other side may miss is kept
	over
)

func newConn(h *Hub, e end, peer string) *conn {
	c := &conn{hub: h, end: e, peer: peer, opened: make(chan struct{}), pause: probeAfter}
	c.readable.L = &c.mu
	c.writable.L = &c.mu
	return c
}

// packet is one to the other side.
func (c *conn) packet(k kind) packet {
	return packet{kind: k, toDialler: !c.dialled, session: c.session}
}

// send publishes a packet that is not part of the stream. A failure is no fault: a peer that misses it asks.
func (c *conn) send(p packet) { c.publish(p.append(nil), c.hub.broker.Publish) }

// dial asks the other hub for the session until it has an answer.
func (c *conn) dial(ctx context.Context) error {
	hello := c.packet(kindOpen)
	hello.text = []byte(c.hub.inbox)
	if c.keyed {
		offer, state, err := c.hub.config.Keys.Offer(rand.Reader, seal.Own(), prologue(c.session, c.hub.inbox, c.peer), nil)
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.sealing.offer = state
		c.mu.Unlock()
		hello.text = append(append(hello.text, 0), offer...)
	}
	again := time.NewTicker(probeAfter)
	defer again.Stop()
	for {
		if err := c.hub.broker.Probe(c.peer, hello.append(nil)); errors.Is(err, net.ErrClosed) {
			return err
		}
		select {
		case <-c.opened:
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.cause
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	n, report, err := c.read(p)
	var ack packet
	if report {
		ack = c.packet(kindAck)
		ack.at, ack.taken = c.in.received, c.in.taken
	}
	c.mu.Unlock()
	if report {
		c.send(ack)
	}
	if err != nil && err != io.EOF {
		err = c.opError("read", err)
	}
	return n, err
}

func (c *conn) read(p []byte) (n int, report bool, err error) {
	for {
		switch {
		case c.state == closing, c.state == over && c.cause == nil:
			return 0, false, net.ErrClosed
		case c.readDeadline.Passed():
			return 0, false, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, false, nil
		case len(c.in.queue) > 0:
			n, report = c.in.take(p)
			return n, report, nil
		case c.in.finished:
			return 0, false, io.EOF
		case c.state == over:
			return 0, false, c.cause
		}
		c.readDeadline.Wait(&c.readable)
	}
}

func (c *conn) Write(p []byte) (int, error) {
	one := net.Buffers{p}
	n, err := c.WriteBuffers(&one)
	return int(n), err
}

// WriteBuffers implements transports.BufferWriter.
func (c *conn) WriteBuffers(buffers *net.Buffers) (n int64, err error) {
	left := 0
	for _, b := range *buffers {
		left += len(b)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	for {
		size, err := c.waitForWindow(left)
		if err == nil && size > 0 {
			err = c.sendData(buffers, size)
		}
		if err != nil {
			return n, c.opError("write", err)
		}
		if n += int64(size); left == size {
			return n, nil
		}
		left -= size
	}
}

// waitForWindow waits until some of the bytes may be sent, and returns how many.
func (c *conn) waitForWindow(want int) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if err := c.writeFault(); err != nil {
			return 0, err
		}
		if free := Window - c.out.waiting(); free >= min(want, Window/4) { // not in crumbs
			return min(want, free, c.hub.largest), nil
		}
		c.writeDeadline.Wait(&c.writable)
	}
}

func (c *conn) writeFault() error {
	switch {
	case c.state == closing, c.state == over && c.cause == nil:
		return net.ErrClosed
	case c.state == over:
		return c.cause
	case c.in.finished:
		return os.NewSyscallError("write", syscall.EPIPE)
	case c.writeDeadline.Passed():
		return os.ErrDeadlineExceeded
	}
	return nil
}

// sendData publishes the first size bytes of the buffers.
func (c *conn) sendData(buffers *net.Buffers, size int) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.mu.Lock()
	if err := c.writeFault(); err != nil {
		c.mu.Unlock()
		return err
	}
	if c.out.arrived == c.out.sent {
		c.progress, c.pause = time.Now(), probeAfter
	}
	head := c.packet(kindData)
	head.at, head.taken = c.out.sent, c.in.taken
	c.in.reported = c.in.taken
	data := gather(head.append(c.out.buffer(maxHeader+size)), buffers, size)
	c.out.add(data, size)
	c.mu.Unlock()
	c.publish(data, c.hub.broker.Publish) // what is lost is asked for
	return nil
}

// gather appends the first size bytes of the buffers, and takes them out.
func gather(data []byte, buffers *net.Buffers, size int) []byte {
	for size > 0 {
		first := (*buffers)[0]
		moved := min(len(first), size)
		data = append(data, first[:moved]...)
		size -= moved
		if moved < len(first) {
			(*buffers)[0] = first[moved:]
			break
		}
		(*buffers)[0] = nil
		*buffers = (*buffers)[1:]
	}
	return data
}

// Close ends the session on both sides. The other side still reads what was written.
func (c *conn) Close() error {
	c.mu.Lock()
	if c.state == closing || c.state == over && c.cause == nil {
		c.mu.Unlock()
		return c.opError("close", net.ErrClosed)
	}
	if c.state == over {
		c.cause = nil
		c.mu.Unlock()
		return nil
	}
	if c.state == opening {
		c.finish(net.ErrClosed)
		c.cause = nil
		c.want(wantReset)
		c.mu.Unlock()
		return nil
	}
	c.state, c.closedAt = closing, time.Now()
	c.in.queue = nil
	c.stopDeadlines()
	c.want(wantClose)
	c.mu.Unlock()
	return nil
}

// lingers reports whether the other side may still miss, and read, what was written before Close.
func (c *conn) lingers() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == closing && !c.in.finished && c.unheardSince.IsZero()
}

// finish ends the session on this side for good. It runs under mu.
func (c *conn) finish(cause error) {
	if c.state == over {
		return
	}
	if c.state != closing {
		c.cause = cause
	}
	if c.state == opening {
		close(c.opened)
	}
	c.state = over
	c.out = outgoing{}
	c.stopDeadlines()
	c.hub.forget(c)
}

// stopDeadlines wakes all waiting goroutines, which then see that the session is over. It runs under mu.
func (c *conn) stopDeadlines() {
	c.readDeadline.Stop()
	c.writeDeadline.Stop()
	c.readable.Broadcast()
	c.writable.Broadcast()
}

func (c *conn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "bus", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

func (c *conn) LocalAddr() net.Addr  { return addr(c.hub.Addr()) }
func (c *conn) RemoteAddr() net.Addr { return addr(c.hub.broker.Addr() + "#" + c.peer) }

func (c *conn) SetDeadline(t time.Time) error {
	return c.setDeadlines(t, &c.readDeadline, &c.writeDeadline)
}

func (c *conn) SetReadDeadline(t time.Time) error { return c.setDeadlines(t, &c.readDeadline) }

func (c *conn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(t, &c.writeDeadline) }

func (c *conn) setDeadlines(t time.Time, deadlines ...*deadline.Deadline) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == closing || c.state == over && c.cause == nil {
		return c.opError("set deadline", net.ErrClosed)
	}
	for _, d := range deadlines {
		d.Set(t)
	}
	c.readable.Broadcast()
	c.writable.Broadcast()
	return nil
}
