package wire

import (
	"context"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/transport"
)

const (
	// highWater is how many bytes wait to be written before those who append wait too.
	highWater = 1 << 20
	// hardMark is how many bytes wait at most. Who may not wait, the reader and its answers to refused requests, pings and
	// the like, gets there only where the peer asks for more and more without reading the answers. The link then ends.
	hardMark = 8 << 20
	// keepBuffer is the largest outgoing buffer that is kept for later.
	keepBuffer = 2 << 20
	// callerRounds is how often a caller writes for others before the writer's goroutine takes over.
	callerRounds = 3
	// turnChunks is how many chunks of a large message are written at once; then it is the turn of others.
	turnChunks = 4
	// largestWrite is how many bytes one write has at most where it may block, so that progress shows.
	largestWrite = 256 << 10
)

// writer is the outgoing side of a link. Link.mu guards it.
//
// Frames are appended to pending. There is at most one who writes: it holds the role as long as busy is set, takes pending
// for an empty buffer, writes it without the lock, and looks again. So all frames that were appended during a write go out
// with the next one, and the order in which frames are appended is the order on the wire. Who appends and finds busy set has
// nothing more to do; else it takes the role, or wakes the writer's goroutine to take it.
type writer struct {
	pending []byte
	spare   []byte     // the other buffer, nil while it is being written
	large   []*segment // of large messages, one of which goes out after pending in each write
	busy    bool
	room    chan struct{} // closed when pending is below highWater again; nil where nobody waits

	// Of who has the role.
	raw   *rawWriter // nil where conn cannot write without waiting
	rest  []byte     // what a write that must not wait has left to the goroutine
	full  []byte     // the buffer of which rest is the end
	fault error      // of a write that must not wait

	wake      chan struct{} // gives the role to the writer's goroutine. Of room 1: there is one role
	takenOut  int64         // bytes that were taken from pending so far
	framesOut uint64
	writes    atomic.Uint64
	since     atomic.Int64 // when the write began that may block; 0 where there is none
}

// append appends a frame. It runs under mu.
func (l *Link) append(id uint32, k kind, flags uint8, body []byte) {
	l.framesOut++
	l.pending = appendFrame(l.pending, id, k, flags, body)
}

// appendValue appends a frame with a whole value. It runs under mu.
func (l *Link) appendHeaded(id uint32, k kind, flags uint8, r *Route, head, value []byte) {
	l.framesOut++
	number := r.number
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

// lockWithRoom locks mu when there is room in the outgoing buffer. It does not lock where the link has ended, ctx ended or
// stop had something first; stop may be nil.
func (l *Link) lockWithRoom(ctx context.Context, stop <-chan struct{}) error {
	l.mu.Lock()
	if len(l.pending) < highWater && !l.closed {
		return nil
	}
	for {
		if l.closed {
			l.mu.Unlock()
			return l.lostBy(false)
		}
		if len(l.pending) < highWater {
			return nil
		}
		if l.room == nil {
			l.room = make(chan struct{})
		}
		room := l.room
		l.mu.Unlock()
		select {
		case <-room:
		case <-l.done:
		case <-ctx.Done():
			return ctx.Err()
		case <-stop:
			return errStopped
		}
		l.mu.Lock()
	}
}

// writeBy is who writes what was appended, where nobody does yet.
type writeBy int

const (
	byCaller   writeBy = iota // this goroutine, at once
	byYielding                // this goroutine, after others that are ready to run had the chance to append too
	byWriter                  // the writer's goroutine, so that this one can go on
)

// unlockAndWrite unlocks mu and sees to it that what was appended is written.
func (l *Link) unlockAndWrite(by writeBy) {
	if l.busy || l.closed || len(l.pending) == 0 && len(l.large) == 0 {
		l.mu.Unlock()
		return
	}
	l.busy = true
	l.mu.Unlock()
	if l.raw == nil || by == byWriter {
		l.wake <- struct{}{}
		return
	}
	if by == byYielding {
		runtime.Gosched()
	}
	l.writeWithoutWaiting()
}

// flush writes what is pending where nobody does.
func (l *Link) flush() {
	l.mu.Lock()
	l.unlockAndWrite(byCaller)
}

// writeWithoutWaiting writes what is pending for this goroutine and all others, until nothing is left, or for some rounds,
// or until the connection takes no more. It has the role and gives it up, or to the writer's goroutine.
func (l *Link) writeWithoutWaiting() {
	var written []byte
	for range callerRounds {
		l.mu.Lock()
		l.giveBack(written)
		if l.nothingLeft() {
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

		n, err := l.raw.write(buf)
		l.writes.Add(1)
		if err != nil {
			l.fault = err
			l.wake <- struct{}{} // the goroutine may wait with it, see writeFailed
			return
		}
		if n < len(buf) {
			l.rest, l.full = buf[n:], buf
			l.wake <- struct{}{}
			return
		}
		written = buf
	}
	l.mu.Lock()
	l.giveBack(written)
	if l.nothingLeft() {
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	l.wake <- struct{}{}
}

// nothingLeft gives up the role where there is nothing to write. It runs under mu.
func (l *Link) nothingLeft() bool {
	if len(l.pending) > 0 || len(l.large) > 0 {
		return false
	}
	l.busy = false
	if l.leaving.draining.Load() {
		l.leaving.signal()
	}
	return true
}

// takePending takes what is pending, to be written. It runs under mu.
func (l *Link) takePending() []byte {
	buf := l.pending
	l.pending, l.spare = l.spare, nil
	l.takenOut += int64(len(buf))
	if l.room != nil {
		close(l.room)
		l.room = nil
	}
	return buf
}

// giveBack keeps a buffer that was written for later. It runs under mu.
func (l *Link) giveBack(buf []byte) {
	if cap(buf) == 0 || cap(buf) > keepBuffer {
		return
	}
	if l.pending == nil {
		l.pending = buf[:0]
		return
	}
	l.spare = buf[:0]
}

// writeLoop is the writer's goroutine. It writes where that may block, so that no caller is held up, and where those who
// appended have something better to do.
func (l *Link) writeLoop() {
	for {
		select {
		case <-l.wake:
			runtime.Gosched() // so that others who are ready to run append too, and more goes in one write
			if err := l.writeAll(); err != nil {
				l.writeFailed(err)
			}
		case <-l.done:
			return
		}
	}
}

// writeFailed ends the link, over which nothing can be sent any more. Where the peer has said that it goes, it may just have
// closed, and its last words are still to be read: the link then ends when they have been, or after closeBound. It keeps the
// role of who writes.
func (l *Link) writeFailed(err error) {
	l.mu.Lock()
	going := l.leaving.peerGone
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

// writeAll has the role, and gives it up when nothing is left to write.
func (l *Link) writeAll() error {
	if l.fault != nil {
		return l.fault
	}
	written := l.full
	if err := l.writeWaiting(l.rest); err != nil {
		return err
	}
	l.rest, l.full = nil, nil
	for {
		l.mu.Lock()
		l.giveBack(written)
		if l.nothingLeft() || l.closed {
			l.mu.Unlock()
			return nil
		}
		buf := l.takePending()
		var seg *segment
		if len(l.large) > 0 {
			seg = l.large[0]
			l.large = slices.Delete(l.large, 0, 1)
			l.takenOut += int64(seg.size)
			l.framesOut += uint64(seg.frames)
		}
		l.mu.Unlock()

		var err error
		if seg == nil {
			err = l.writeWaiting(buf)
		} else {
			buf, err = l.writeSegment(buf, seg)
		}
		if err != nil {
			return err
		}
		written = buf
	}
}

// writeWaiting writes buf, however long that takes, in parts that show progress.
func (l *Link) writeWaiting(buf []byte) error {
	for len(buf) > 0 {
		part := buf[:min(len(buf), largestWrite)]
		l.since.Store(l.now())
		n, err := l.conn.Write(part)
		l.since.Store(0)
		l.writes.Add(1)
		if err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}

// writeSegment writes buf and then some chunks of a large message, and tells its sender. It returns buf, which may have
// grown.
func (l *Link) writeSegment(buf []byte, seg *segment) ([]byte, error) {
	var err error
	if l.gathers {
		if len(buf) > largestWrite {
			err = l.writeWaiting(buf)
		} else if len(buf) > 0 {
			seg.parts = slices.Insert(seg.parts, 0, buf)
		}
		if err == nil {
			l.since.Store(l.now())
			_, err = transport.WriteBuffers(l.conn, &seg.parts)
			l.since.Store(0)
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

// segment is one turn of a large message: the bytes between which no other frames go.
type segment struct {
	heads  []byte // the headers, and what is before the value
	parts  net.Buffers
	size   int
	frames int
	queued bool          // for the sender: given to the writer, and not known to be written
	done   chan struct{} // of room 1: was written
}

// stuckWriting tells whether a write has gone on for longer than the limit.
func (l *Link) stuckWriting(limit time.Duration) bool {
	since := l.since.Load()
	return since != 0 && l.now()-since > int64(limit)
}
