package mem

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/internal/deadline"
)

const (
	// defaultLimit is the number of bytes that one direction holds before writers block.
	defaultLimit = 64 << 10
	// firstRing is the size of the first buffer; it doubles when it is full, so that idle connections stay small.
	firstRing = 2 << 10
)

// flow is one direction of a connection: a bounded ring of bytes between one side's writes and the other's reads.
type flow struct {
	mu       sync.Mutex
	readable sync.Cond
	writable sync.Cond

	ring  []byte
	start int
	size  int
	limit int

	readTimer, writeTimer deadline.Deadline

	writing      bool // a write is under way, whose bytes stay together
	ended        bool // the writer announced that it has no more
	writerClosed bool // the writer's side is closed
	readerClosed bool // the reader's side is closed
	stalled      bool // nothing passes, as on a network that drops everything
	cut          bool // the connection was reset
}

func newFlow(limit int) *flow {
	f := &flow{limit: limit}
	f.readable.L = &f.mu
	f.writable.L = &f.mu
	return f
}

func (f *flow) read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case f.readerClosed:
			return 0, net.ErrClosed
		case f.cut:
			return 0, os.NewSyscallError("read", syscall.ECONNRESET)
		case f.readTimer.Passed():
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case f.stalled:
			// What is in the ring has not arrived yet.
		case f.size > 0:
			n := f.take(p)
			f.writable.Broadcast()
			return n, nil
		case f.ended:
			return 0, io.EOF
		}
		f.readTimer.Wait(&f.readable)
	}
}

// write writes all parts, and returns how many bytes went into the ring.
func (f *flow) write(parts ...[]byte) (n int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.writing {
		if err := f.writeFault(); err != nil {
			return 0, err
		}
		f.writeTimer.Wait(&f.writable)
	}
	f.writing = true
	defer func() {
		f.writing = false
		f.writable.Broadcast()
	}()
	if err := f.writeFault(); err != nil {
		return 0, err
	}
	for _, part := range parts {
		for len(part) > 0 {
			if err := f.writeFault(); err != nil {
				return n, err
			}
			if f.size == f.limit {
				f.writeTimer.Wait(&f.writable)
				continue
			}
			put := f.put(part)
			part = part[put:]
			n += int64(put)
			f.readable.Broadcast()
		}
	}
	return n, nil
}

func (f *flow) writeFault() error {
	switch {
	case f.writerClosed:
		return net.ErrClosed
	case f.cut:
		return os.NewSyscallError("write", syscall.ECONNRESET)
	case f.writeTimer.Passed():
		return os.ErrDeadlineExceeded
	case f.ended, f.readerClosed && !f.stalled:
		return os.NewSyscallError("write", syscall.EPIPE)
	}
	return nil
}

// take moves what there is from the ring to p.
func (f *flow) take(p []byte) int {
	n := 0
	for f.size > 0 && n < len(p) {
		run := f.ring[f.start:min(f.start+f.size, len(f.ring))]
		moved := copy(p[n:], run)
		n += moved
		f.size -= moved
		f.start = (f.start + moved) % len(f.ring)
	}
	if f.size == 0 {
		f.start = 0 // so that the next bytes are one copy
	}
	return n
}

// put moves what the ring has space for from p to it.
func (f *flow) put(p []byte) int {
	if want := min(f.size+len(p), f.limit); want > len(f.ring) {
		f.grow(want)
	}
	n := 0
	for f.size < len(f.ring) && n < len(p) {
		at := (f.start + f.size) % len(f.ring)
		end := len(f.ring)
		if at < f.start {
			end = f.start
		}
		moved := copy(f.ring[at:end], p[n:])
		n += moved
		f.size += moved
	}
	return n
}

func (f *flow) grow(want int) {
	ring := make([]byte, min(f.limit, max(want, 2*len(f.ring), firstRing)))
	size := f.size
	f.take(ring)
	f.ring, f.start, f.size = ring, 0, size
}

// change sets something that waiting reads and writes must see.
func (f *flow) change(set func(*flow)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(f)
	f.readable.Broadcast()
	f.writable.Broadcast()
}

func (f *flow) end() { f.change(func(f *flow) { f.ended = true }) }

// closeWriter is Close on the side that writes: the reader still gets what is in the ring.
func (f *flow) closeWriter() {
	f.change(func(f *flow) {
		f.ended, f.writerClosed = true, true
		f.writeTimer.Stop()
	})
}

// closeReader is Close on the side that reads: what is in the ring will not be read.
func (f *flow) closeReader() {
	f.change(func(f *flow) {
		f.readerClosed = true
		f.readTimer.Stop()
		f.drop()
	})
}

func (f *flow) reset() {
	f.change(func(f *flow) {
		f.cut = true
		f.drop()
	})
}

func (f *flow) drop() { f.ring, f.start, f.size = nil, 0, 0 }

func (f *flow) stall(stalled bool) { f.change(func(f *flow) { f.stalled = stalled }) }

func (f *flow) readDeadline(at time.Time)  { f.change(func(f *flow) { f.readTimer.Set(at) }) }
func (f *flow) writeDeadline(at time.Time) { f.change(func(f *flow) { f.writeTimer.Set(at) }) }
