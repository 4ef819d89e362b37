package stream

import "sync"

// outbox is what waits to be written. One goroutine puts values in, another takes out all there is at once, so that what
// comes together is written together and nothing waits for more. It has two buffers, of which one is written while the
// other fills: 64 KiB together.
type outbox struct {
	mu     sync.Mutex
	fill   []byte
	taken  []byte
	inside bool // the last value in fill is not there whole
	ended  bool
	shut   bool
	err    error // why it ended; nil where all is said
	pong   []byte
	pinged bool // pong is to be sent

	ready chan struct{} // something is there, or it ended
	room  chan struct{} // something was taken, or it is shut
}

const outboxSize = 32 << 10

func newOutbox() *outbox {
	return &outbox{ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put appends the parts of one value, waiting for room where they have none. It returns false when nobody takes any more.
func (b *outbox) put(parts ...[]byte) bool {
	b.mu.Lock()
	b.inside = true
	for _, part := range parts {
		for !b.shut && len(part) > 0 {
			n := min(len(part), outboxSize-len(b.fill))
			if n == 0 {
				b.mu.Unlock()
				signal(b.ready)
				<-b.room
				b.mu.Lock()
				continue
			}
			b.fill = append(b.fill, part[:n]...)
			part = part[n:]
		}
	}
	b.inside = false
	shut := b.shut
	b.mu.Unlock()
	signal(b.ready)
	return !shut
}

// offer is put by many goroutines, none of which can wait: false means that there was no room. A value that is larger than
// all the room goes into an empty outbox.
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
	b.mu.Unlock()
	signal(b.ready)
	return true
}

// answerPing has a pong written between two messages. Of several pings the last is answered (RFC 6455, section 5.5.3).
func (b *outbox) answerPing(payload []byte) {
	b.mu.Lock()
	b.pong, b.pinged = append(b.pong[:0], payload...), true
	b.mu.Unlock()
	signal(b.ready)
}

// end says that nothing follows.
func (b *outbox) end(err error) {
	b.mu.Lock()
	if !b.ended {
		b.ended, b.err = true, err
	}
	b.mu.Unlock()
	signal(b.ready)
}

// close says that nobody takes any more.
func (b *outbox) close() {
	b.mu.Lock()
	b.shut = true
	b.mu.Unlock()
	signal(b.room)
}

// parcel is what was in an outbox.
type parcel struct {
	data   []byte // until the next take
	inside bool   // the rest of the last value is still to come
	ended  bool
	err    error
	pong   []byte
	pinged bool
}

// take empties the outbox.
func (b *outbox) take() parcel {
	b.mu.Lock()
	p := parcel{data: b.fill, inside: b.inside, ended: b.ended, err: b.err}
	if b.pinged && !b.inside {
		p.pong, p.pinged, b.pinged = append([]byte(nil), b.pong...), true, false
	}
	spare := b.taken
	if cap(spare) > outboxSize {
		spare = nil // of a large event
	}
	b.fill, b.taken = spare[:0], b.fill
	b.mu.Unlock()
	signal(b.room)
	return p
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
