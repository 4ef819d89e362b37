package nats

import (
	"net"
	"runtime"
	"sync"
	"time"
)

// batchedConn is a connection that is written to by a goroutine. Before each write this lets those run that are ready to: what they publish goes
// with it. nats.go writes as soon as one of many messages is there, so a node that 100 callers asked wrote about every second answer
// alone: that was a quarter of its processor time, and a third of the server's.
type batchedConn struct {
	net.Conn

	mu      sync.Mutex
	changed *sync.Cond // of mu: pending was taken, or writing ended
	pending []byte
	spare   []byte // for pending
	writing bool   // until end. There is no goroutine between writes: nats.go does not close every connection that it gives up
	failed  error  // nothing is written any more
}

func newBatchedConn(c net.Conn) *batchedConn {
	b := &batchedConn{Conn: c}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// worthWriting is the number of bytes that are written at once, by the goroutine that has them: there is little to gain from more, and a batch
// of requests between two nodes would wait for the hand-over.
const worthWriting = 8 << 10

// Write hands data over to the goroutine. It waits while there is as much as nats.go itself keeps. The error of a write is that of the next one;
// meanwhile the connection is closed, so that nats.go's reader ends.
func (b *batchedConn) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.pending) >= writeBuffer && b.failed == nil {
		b.changed.Wait()
	}
	if b.failed != nil {
		return 0, b.failed
	}
	b.pending = append(b.pending, data...)
	if b.writing || len(b.pending) == 0 {
		return len(data), nil
	}
	b.writing = true
	if len(data) >= worthWriting {
		b.writePending()
	}
	if len(b.pending) > 0 && b.failed == nil {
		go b.writeAll()
	} else {
		b.end()
	}
	return len(data), b.failed
}

func (b *batchedConn) writeAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.pending) > 0 && b.failed == nil {
		b.mu.Unlock()
		runtime.Gosched()
		b.mu.Lock()
		b.writePending()
	}
	b.end()
}

// end runs under mu.
func (b *batchedConn) end() {
	b.writing = false
	b.changed.Broadcast()
}

// writePending runs under mu, which it gives up meanwhile.
func (b *batchedConn) writePending() {
	out := b.pending
	b.pending, b.spare = b.spare, nil
	b.changed.Broadcast()
	b.mu.Unlock()
	err := b.Conn.SetWriteDeadline(time.Now().Add(WriteLimit))
	if err == nil {
		_, err = b.Conn.Write(out)
	}
	if err != nil {
		b.Conn.Close()
	}
	b.mu.Lock()
	if err != nil && b.failed == nil {
		b.failed = err
	}
	if cap(out) <= 2*writeBuffer { // one large message should not cost memory for as long as the connection lasts
		b.spare = out[:0]
	}
}

// SetDeadline is for reading: writes have a limit of their own.
func (b *batchedConn) SetDeadline(t time.Time) error { return b.SetReadDeadline(t) }

// SetWriteDeadline does nothing: see SetDeadline.
func (b *batchedConn) SetWriteDeadline(time.Time) error { return nil }

// Close writes what was handed over, for which the server has WriteLimit, and ends the connection.
func (b *batchedConn) Close() error {
	b.mu.Lock()
	for b.writing {
		b.changed.Wait()
	}
	if b.failed == nil {
		b.failed = net.ErrClosed
	}
	b.mu.Unlock()
	return b.Conn.Close()
}
