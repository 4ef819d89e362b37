package simulation

import (
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/internal/deadline"
)

// flowLimit is the number of bytes that are under way in one direction before writers block, as in the buffers of a socket.
const flowLimit = 64 << 10

// flow is one direction of a connection. What is written arrives later, in order.
type flow struct {
	path *path

	mu          sync.Mutex
	changed     sync.Cond
	random      *rand.Rand
	segments    []segment
	size        int
	lastArrival time.Time
	arrival     *time.Timer

	readTimer, writeTimer deadline.Deadline

	readerClosed, writerClosed bool
	readerReset, writerReset   bool // this side of the connection got a reset
	severed                    bool // nothing written arrives any more, which the writer does not see
}

// segment holds the bytes of one write while they are under way.
type segment struct {
	data    []byte // nil for the end
	arrives time.Time
}

func newFlow(p *path, random *rand.Rand) *flow {
	f := &flow{path: p, random: random}
	f.changed.L = &f.mu
	return f
}

func (f *flow) read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case f.readerClosed:
			return 0, net.ErrClosed
		case f.readerReset:
			return 0, os.NewSyscallError("read", syscall.ECONNRESET)
		case f.readTimer.Passed():
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case len(f.segments) > 0 && !f.severed && !f.path.held.Load():
			s := &f.segments[0]
			if left := time.Until(s.arrives); left > 0 {
				f.wakeAfter(left)
				break
			}
			if s.data == nil {
				return 0, io.EOF
			}
			n := copy(p, s.data)
			if s.data = s.data[n:]; len(s.data) == 0 {
				f.segments = f.segments[1:]
			}
			f.size -= n
			f.changed.Broadcast()
			return n, nil
		}
		f.readTimer.Wait(&f.changed)
	}
}

// wakeAfter wakes readers when the first segment arrives.
func (f *flow) wakeAfter(d time.Duration) {
	if f.arrival == nil {
		f.arrival = time.AfterFunc(d, func() { f.change(func() {}) })
	} else {
		f.arrival.Reset(d)
	}
}

func (f *flow) write(p []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(p) > 0 {
		switch {
		case f.writerClosed:
			return n, net.ErrClosed
		case f.writerReset:
			return n, os.NewSyscallError("write", syscall.ECONNRESET)
		case f.writeTimer.Passed():
			return n, os.ErrDeadlineExceeded
		case f.size == flowLimit:
			f.writeTimer.Wait(&f.changed)
			continue
		}
		part := p[:min(len(p), flowLimit-f.size)]
		p = p[len(part):]
		n += len(part)
		f.put(append(make([]byte, 0, len(part)), part...))
	}
	return n, nil
}

// put sends a segment on its way; nil is the end.
func (f *flow) put(data []byte) {
	arrives := time.Now().Add(f.path.delay(f.random, len(data)))
	if arrives.Before(f.lastArrival) {
		arrives = f.lastArrival
	}
	f.lastArrival = arrives
	f.segments = append(f.segments, segment{data, arrives})
	f.size += len(data)
	f.changed.Broadcast()
}

// change sets something that waiting reads and writes must see.
func (f *flow) change(set func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set()
	f.changed.Broadcast()
}

// closeWriter is Close of the side that writes: what is under way still arrives.
func (f *flow) closeWriter() {
	f.change(func() {
		if !f.writerClosed {
			f.writerClosed = true
			f.put(nil)
		}
		f.writeTimer.Stop()
	})
}

// closeReader is Close of the side that reads. The writer's side gets a reset when it has sent something that nobody takes.
func (f *flow) closeReader() {
	f.change(func() {
		f.readerClosed = true
		f.readTimer.Stop()
		if f.arrival != nil {
			f.arrival.Stop()
		}
		f.segments, f.size = nil, 0
	})
}

// conn is one side of a connection.
type conn struct {
	in, out      *flow
	local, peer  address
	closing      sync.Once
	closedOnSide func()
}

// address is a node's name.
type address string

func (address) Network() string  { return "sim" }
func (a address) String() string { return scheme + "://" + string(a) }

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.errorOf("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	if c.peerClosed() {
		return 0, c.errorOf("write", os.NewSyscallError("write", syscall.EPIPE))
	}
	n, err := c.out.write(p)
	running.Load().written.Add(int64(n))
	return n, c.errorOf("write", err)
}

// peerClosed reports whether the end of the other side's direction has arrived: it takes nothing more.
func (c *conn) peerClosed() bool {
	f := c.in
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.segments)
	return n > 0 && f.segments[n-1].data == nil && !f.severed && !f.path.held.Load() && !time.Now().Before(f.segments[n-1].arrives)
}

func (c *conn) errorOf(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: scheme, Source: c.local, Addr: c.peer, Err: err}
}

func (c *conn) Close() error {
	err := c.errorOf("close", net.ErrClosed)
	c.closing.Do(func() {
		err = nil
		c.out.closeWriter()
		c.in.closeReader()
		c.closedOnSide()
	})
	return err
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.peer }

func (c *conn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.change(func() { c.in.readTimer.Set(t) })
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.change(func() { c.out.writeTimer.Set(t) })
	return nil
}
