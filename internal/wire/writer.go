package wire

import (
	"context"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/transports"
)

const (
	// highWater is the number of bytes that wait to be written before appending goroutines wait too.
	highWater = 1 << 20
	// hardMark is the maximum of waiting bytes. The reader must never wait, so its answers to pings and to refused requests are
	// appended above highWater too. They reach hardMark only if the peer keeps asking and does not read: the link then ends.
	hardMark = 8 << 20
	// keepBuffer is the largest outgoing buffer that is kept for later.
	keepBuffer = 2 << 20
	// callerRounds is the number of writes by a caller in a row before the writer's goroutine takes over. Without a limit one
	// caller would write for all others, and look for its own answer late.
	callerRounds = 3
	// turnChunks is the number of chunks of a large message that are written at once; then it is the turn of others.
	turnChunks = 4
	// largestWrite bounds a write that may block. The link counts as stuck after Config.WriteTimeout without a finished write,
	// so a write must be small enough to finish in that time on a slow network.
	largestWrite = 256 << 10
)

// writer is the outgoing side of a link. Link.mu guards its fields, except those of the goroutine with the writer's role.
//
// At most one goroutine writes at a time: it has the writer's role, and busy is set meanwhile. It swaps pending for an empty
// buffer, writes the full one without the lock, and looks at pending again. So all frames that were appended during a write
// leave together with the next one, in the order in which they were appended.
//
// When a write may be skipped: a goroutine that has appended a frame may return without writing only if busy is set. The
// goroutine with the role looks at pending under the lock before it clears busy, so it cannot miss the frame. If busy is not
// set, unlockAndWrite must take the role, or pass it to the writer's goroutine by wake; otherwise the frame would stay
// until another is sent. Two exceptions are explained where they are: jobs, and the batches of the reader.
//
// Ownership of the buffers: pending belongs to the holder of the lock, a buffer that is being written to the goroutine with the
// role alone. It becomes spare, or pending again, only by recycle after the write has returned, since the operating
// system and TLS read it until then.
//
// Lock order: Stream.mu, Link.mu, then streamTables.mu and leaving.mu. Code that has Link.mu must not lock a Stream: streams send
// credit while they hold their own lock. Nothing blocks under Link.mu; wake has space for the one role that there is, so
// passing the role never blocks either.
type writer struct {
	pending    []byte
	spare      []byte        // the other buffer, nil while it is being written
	large      []*segment    // of large messages, one of which goes out after pending in each write
	busy       bool          // a goroutine has the writer's role
	spaceFreed chan struct{} // closed when pending was taken to be written; nil while nothing waits for that

	// Only the goroutine with the role uses these; wake passes them on with it.
	raw          *rawWriter // writes without waiting; nil for connections that cannot, such as TLS
	unsent       []byte     // the end of unsentBuffer, or of its records, which the connection did not take without waiting
	unsentBuffer []byte
	rawError     error // of the last write without waiting

	wake       chan struct{} // passes the role to the writer's goroutine; its capacity is 1, as there is one role
	bytesTaken int64         // how many bytes were taken from pending so far: a call sees by it whether its request may have left
	framesOut  uint64
	writes     atomic.Uint64
	writeStart atomic.Int64 // when the write began that may block; 0 while there is none
}

// append appends a frame. It runs under mu.
func (l *Link) append(id uint32, k kind, flags uint8, body []byte) {
	l.framesOut++
	l.pending = appendFrame(l.pending, id, k, flags, body)
}

// appendHeaded appends a frame with a head and a whole value, or none. It runs under mu.
func (l *Link) appendHeaded(id uint32, k kind, flags uint8, number uint32, head, value []byte) {
	l.framesOut++
	l.pending = appendHeader(l.pending, uvarintLen(number)+len(head)+len(value), id, k, flags)
	l.pending = AppendRef(l.pending, number)
	l.pending = append(l.pending, head...)
	l.pending = append(l.pending, value...)
}

func uvarintLen(n uint32) int {
	size := 1
	for n >= 0x80 {
		n >>= 7
		size++
	}
	return size
}

// lockWithSpace waits until fewer than highWater bytes are pending, and then locks mu. If the link or ctx ends before that, or
// stop receives something, it returns an error and mu is not locked. A nil stop never receives. size is what waits with the caller, in
// bytes; 0 where that is counted already.
func (l *Link) lockWithSpace(ctx context.Context, stop <-chan struct{}, size int) error {
	l.mu.Lock()
	if len(l.pending) < highWater && !l.closed {
		return nil
	}
	l.memory.Hold(size)
	defer l.memory.Give(size)
	for {
		if l.closed {
			l.mu.Unlock()
			return l.lostBy(false)
		}
		if len(l.pending) < highWater {
			return nil
		}
		if l.spaceFreed == nil {
			l.spaceFreed = make(chan struct{})
		}
		freed := l.spaceFreed
		l.mu.Unlock()
		select {
		case <-freed:
		case <-l.done:
		case <-ctx.Done():
			return ctx.Err()
		case <-stop:
			return errStopped
		}
		l.mu.Lock()
	}
}

// writeMode sets which goroutine takes the writer's role if none has it. A caller that then waits for an answer writes
// itself, which saves a switch to another goroutine; code that has more to do, or holds a lock, leaves it to the writer's.
type writeMode int

const (
	writeNow          writeMode = iota // this goroutine, at once
	writeAfterYield                    // this goroutine, after other goroutines that are ready to run could append too: their frames then share the write
	writeInBackground                  // the writer's goroutine, so that this one can go on
)

// unlockAndWrite unlocks mu and makes sure that what was appended will be written, by this goroutine or by another.
func (l *Link) unlockAndWrite(by writeMode) {
	if l.busy || l.closed || len(l.pending) == 0 && len(l.large) == 0 {
		l.mu.Unlock()
		return
	}
	l.busy = true
	l.mu.Unlock()
	if l.raw == nil || by == writeInBackground {
		l.wake <- struct{}{}
		return
	}
	if by == writeAfterYield {
		runtime.Gosched()
	}
	l.writeWithoutWaiting()
}

// flush writes the pending frames, unless another goroutine has the role and does so.
func (l *Link) flush() {
	l.mu.Lock()
	l.unlockAndWrite(writeNow)
}

// writeWithoutWaiting has the role and writes what is pending, its own frames and those of others. It clears busy when nothing
// is left. It passes the role to the writer's goroutine after callerRounds writes, or when the connection takes no more
// bytes at once, since the caller of a function must not be blocked by a slow peer.
func (l *Link) writeWithoutWaiting() {
	var written []byte
	for range callerRounds {
		l.mu.Lock()
		l.recycle(written)
		if l.releaseIfIdle() {
			l.mu.Unlock()
			return
		}
		if len(l.large) > 0 {
			l.mu.Unlock()
			l.wake <- struct{}{}
			return
		}
		buf := l.takePending()
		l.mu.Unlock()

		out := l.sealed(buf)
		n, err := l.raw.write(out)
		l.writes.Add(1)
		if err != nil {
			l.rawError = err
			l.wake <- struct{}{} // the goroutine reports it: writeFailed may have to wait, and this goroutine must not
			return
		}
		if n < len(out) {
			l.unsent, l.unsentBuffer = out[n:], buf
			l.wake <- struct{}{}
			return
		}
		written = buf
	}
	l.mu.Lock()
	l.recycle(written)
	if l.releaseIfIdle() {
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	l.wake <- struct{}{}
}

// releaseIfIdle releases the role if nothing is left to write, and reports whether it did. It runs under mu: a frame that is
// appended after that finds busy cleared.
func (l *Link) releaseIfIdle() bool {
	if len(l.pending) > 0 || len(l.large) > 0 {
		return false
	}
	l.busy = false
	if l.leaving.draining.Load() {
		l.leaving.signal()
	}
	return true
}

// takePending returns the pending frames for the goroutine with the role to write, which owns the buffer until recycle. It
// runs under mu and wakes those that wait for space.
func (l *Link) takePending() []byte {
	buf := l.pending
	l.pending, l.spare = l.spare, nil
	l.bytesTaken += int64(len(buf))
	if l.spaceFreed != nil {
		close(l.spaceFreed)
		l.spaceFreed = nil
	}
	return buf
}

// recycle makes a buffer whose write has returned available again. It runs under mu. Large buffers are left to the garbage
// collector: one burst should not cost memory for as long as the link lasts.
func (l *Link) recycle(buf []byte) {
	if cap(buf) == 0 || cap(buf) > keepBuffer {
		return
	}
	if l.pending == nil {
		l.pending = buf[:0]
		return
	}
	l.spare = buf[:0]
}

// writeLoop is the writer's goroutine. It makes the writes that may block, so that no caller is held up, and the writes that
// others leave to it because they have more to do.
func (l *Link) writeLoop() {
	for {
		select {
		case <-l.wake:
			runtime.Gosched() // so that others that are ready to run append too, and more goes in one write
			if err := l.writeAll(); err != nil {
				l.writeFailed(err)
			}
		case <-l.done:
			return
		}
	}
}

// writeFailed ends the link, over which nothing can be sent any more. If the peer has sent a goaway, it may have closed the
// connection after its last answers, which are still to be read: the link then ends when the reader has got there, or after
// closeBound. The role is kept, so that no other goroutine tries to write.
func (l *Link) writeFailed(err error) {
	l.mu.Lock()
	going := l.leaving.goawayReceived
	l.mu.Unlock()
	if going {
		bound := time.NewTimer(closeBound)
		defer bound.Stop()
		select {
		case <-l.done:
		case <-bound.C:
		}
	}
	l.fail(err)
}

// writeAll has the role and writes until nothing is left, then gives the role up. Between two chunks of large messages it
// writes what is pending, so that a small frame never waits for a whole large message.
func (l *Link) writeAll() error {
	if l.rawError != nil {
		return l.rawError
	}
	written := l.unsentBuffer
	if err := l.writeWaiting(l.unsent); err != nil {
		return err
	}
	l.unsent, l.unsentBuffer = nil, nil
	for {
		l.mu.Lock()
		l.recycle(written)
		if l.releaseIfIdle() || l.closed {
			l.mu.Unlock()
			return nil
		}
		buf := l.takePending()
		var seg *segment
		if len(l.large) > 0 {
			seg = l.large[0]
			l.large = slices.Delete(l.large, 0, 1)
			l.bytesTaken += int64(seg.size)
			l.framesOut += uint64(seg.frames)
		}
		l.mu.Unlock()

		var err error
		if seg == nil {
			err = l.writeWaiting(l.sealed(buf))
		} else {
			buf, err = l.writeSegment(buf, seg)
		}
		if err != nil {
			return err
		}
		written = buf
	}
}

// sealed returns what goes over the connection for buf: records in a buffer that the next call overwrites, or buf itself. Only
// the goroutine with the role calls it, after all of the last result was written.
func (l *Link) sealed(buf []byte) []byte {
	if l.sealer == nil {
		return buf
	}
	return l.sealer.records(buf)
}

// writeWaiting writes all of buf, however long the peer takes, in parts of at most largestWrite bytes.
func (l *Link) writeWaiting(buf []byte) error {
	for len(buf) > 0 {
		part := buf[:min(len(buf), largestWrite)]
		l.writeStart.Store(l.now())
		n, err := l.under.Write(part)
		l.writeStart.Store(0)
		l.writes.Add(1)
		if err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}

// writeSegment writes buf and then some chunks of a large message. It then signals the sender, which owns the message and must
// not change or free it before. It returns buf, which may have grown.
func (l *Link) writeSegment(buf []byte, seg *segment) ([]byte, error) {
	var err error
	if l.sealer != nil {
		buf, err = l.writeSealed(buf, seg)
	} else if l.gathers {
		if len(buf) > largestWrite {
			err = l.writeWaiting(buf)
		} else if len(buf) > 0 {
			seg.parts = slices.Insert(seg.parts, 0, buf)
		}
		if err == nil {
			l.writeStart.Store(l.now())
			_, err = transports.WriteBuffers(l.conn, &seg.parts)
			l.writeStart.Store(0)
			l.writes.Add(1)
		}
	} else {
		for _, part := range seg.parts {
			buf = append(buf, part...)
		}
		err = l.writeWaiting(buf)
	}
	seg.done <- struct{}{}
	return buf, err
}

// writeSealed seals the chunks where they are, each in a record of its own: the peer opens it directly into the buffer of the
// value. What stands before a chunk goes into one record with what was pending. It returns buf, which may have grown.
func (l *Link) writeSealed(buf []byte, seg *segment) ([]byte, error) {
	l.sealer.reset()
	for _, part := range seg.parts {
		if len(part) < straightAbove {
			buf = append(buf, part...)
			continue
		}
		l.sealer.add(buf)
		l.sealer.add(part)
		buf = buf[:0]
	}
	l.sealer.add(buf)
	return buf, l.writeWaiting(l.sealer.buf)
}

// segment is some chunks of a large message that are written together, with no other frames between them.
type segment struct {
	heads  []byte // the headers, and what is before the value
	parts  net.Buffers
	size   int
	frames int
	queued bool          // used by the sender: the writer has it, and may still be reading the message
	done   chan struct{} // receives once when it was written; its capacity is 1, so that the writer never waits
}
