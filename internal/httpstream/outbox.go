package httpstream

import (
	"sync"

	"github.com/sabir-go/sabir/internal/memory"
)

// outbox holds the values that wait to be written. One goroutine puts values in, another takes everything at once, so that
// values that come together are written together and none waits for more. It has two buffers: one is written while the other
// fills, 64 KiB together.
type outbox struct {
	window *memory.Window // counts what waits here

	mu     sync.Mutex
	fill   []byte
	taken  []byte
	unsent int  // bytes of taken that are not written yet
	inside bool // the last value in fill is not complete
	ended  bool
	closed bool  // nothing is taken any more
	err    error // why it ended; nil for a good end
	pong   []byte
	pinged bool // pong is to be sent

	ready      chan struct{} // signals that something is there, or that it ended
	spaceFreed chan struct{} // signals that something was taken, or that it is closed
}

const outboxSize = 32 << 10

func newOutbox(window *memory.Window) *outbox {
	return &outbox{window: window, ready: make(chan struct{}, 1), spaceFreed: make(chan struct{}, 1)}
}

// put appends the parts of one value and waits for space. It returns false if nothing is taken any more.
func (b *outbox) put(parts ...[]byte) bool {
	waiting := 0
	for _, part := range parts {
		waiting += memoryOf(part)
	}
	b.window.Add(waiting)
	defer b.window.Remove(waiting)
	b.mu.Lock()
	b.inside = true
	for _, part := range parts {
		for !b.closed && len(part) > 0 {
			n := min(len(part), outboxSize-len(b.fill))
			if n == 0 {
				b.mu.Unlock()
				signal(b.ready)
				<-b.spaceFreed
				b.mu.Lock()
				continue
			}
			b.fill = append(b.fill, part[:n]...)
			b.window.Add(n)
			part = part[n:]
		}
	}
	b.inside = false
	shut := b.closed
	b.mu.Unlock()
	signal(b.ready)
	return !shut
}

// offer is put for many goroutines that must not wait: false means that there was no space. A value larger than the buffer fits
// into an empty outbox only.
func (b *outbox) offer(parts ...[]byte) bool {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	b.mu.Lock()
	if len(b.fill) > 0 && len(b.fill)+size > outboxSize {
		b.mu.Unlock()
		return false
	}
	for _, part := range parts {
		b.fill = append(b.fill, part...)
	}
	b.window.Add(size)
	b.mu.Unlock()
	signal(b.ready)
	return true
}

// memoryOf is about the memory that bytes hold which were appended one after the other.
func memoryOf(b []byte) int { return min(cap(b), 2*len(b)) }

// replyPing schedules a pong between two messages. Of several pings, the last is answered (RFC 6455, section 5.5.3).
func (b *outbox) replyPing(payload []byte) {
	b.mu.Lock()
	b.pong, b.pinged = append(b.pong[:0], payload...), true
	b.mu.Unlock()
	signal(b.ready)
}

// end records that nothing follows.
func (b *outbox) end(err error) {
	b.mu.Lock()
	if !b.ended {
		b.ended, b.err = true, err
	}
	b.mu.Unlock()
	signal(b.ready)
}

// close records that nothing is taken any more.
func (b *outbox) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	signal(b.spaceFreed)
}

// pendingOutput is the output that take has taken out of an outbox.
type pendingOutput struct {
	data   []byte // until the next take
	inside bool   // the rest of the last value is still to come
	ended  bool
	err    error
	pong   []byte
	pinged bool
}

// take empties the outbox.
func (b *outbox) take() pendingOutput {
	b.mu.Lock()
	p := pendingOutput{data: b.fill, inside: b.inside, ended: b.ended, err: b.err}
	if b.pinged && !b.inside {
		p.pong, p.pinged, b.pinged = append([]byte(nil), b.pong...), true, false
	}
	b.sentTaken()
	b.fill, b.taken = b.taken[:0], b.fill
	b.unsent = len(b.taken)
	b.mu.Unlock()
	signal(b.spaceFreed)
	return p
}

// sent records that what was taken is written.
func (b *outbox) sent() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sentTaken()
}

// sentTaken is sent with mu held.
func (b *outbox) sentTaken() {
	if b.unsent > 0 {
		b.window.Remove(b.unsent)
		b.unsent = 0
	}
	if cap(b.taken) > outboxSize {
		b.taken = nil // of a large event
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
