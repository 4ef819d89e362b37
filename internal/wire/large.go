package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// largeMessage is a value of more than chunkSize on its way out, in a first frame and chunks.
type largeMessage struct {
	kind  kind  // of the first frame; kindChunk where that was appended before
	flags uint8 // of the first frame, without flagMore
	of    uint8 // which of flagsOf the chunks have
	id    uint32
	head  []byte // of a post: its topic; of a reply: its pairs
	value []byte

	begun bool // a part of it may have reached the peer
	held  bool // after an error: the writer may still be reading value
}

// sendLarge sends m from this goroutine, some chunks at a time, and other frames go between. It returns before everything
// was sent where ctx has ended, or with errStopped where stop had something; the peer then has a part of it.
func (l *Link) sendLarge(ctx context.Context, stop <-chan struct{}, m *largeMessage) error {
	// Two, so that the next turn is ready when the writer is done with one.
	var turns [2]segment
	left, first := m.value, m.kind != kindChunk
	for i := 0; len(left) > 0; i++ {
		seg := &turns[i%2]
		if err := l.waitForSegment(ctx, stop, m, seg); err != nil {
			l.takeBack(m, &turns)
			return err
		}
		seg.heads, seg.parts, seg.size, seg.frames = seg.heads[:0], seg.parts[:0], 0, 0
		seg.heads = slices.Grow(seg.heads, turnChunks*headerSize+len(m.head)+binary.MaxVarintLen64)
		for range turnChunks {
			n := min(len(left), chunkSize)
			seg.add(m, first, left[:n], n < len(left))
			left, first = left[n:], false
			if len(left) == 0 {
				break
			}
		}
		if err := l.queueSegment(m, seg); err != nil {
			l.takeBack(m, &turns)
			return err
		}
	}
	for i := range turns {
		if err := l.waitForSegment(ctx, stop, m, &turns[i]); err != nil {
			l.takeBack(m, &turns)
			return err
		}
	}
	return nil
}

// add adds a frame to what is written at once.
func (s *segment) add(m *largeMessage, first bool, part []byte, more bool) {
	k, flags := kindChunk, m.of
	if m.kind == kindData {
		k, flags = kindData, m.flags // a stream has one message under way at a time, so its frames need no other kind
	}
	before := len(s.heads)
	var extra [binary.MaxVarintLen64]byte
	if first {
		k, flags = m.kind, m.flags
		total := binary.AppendUvarint(extra[:0], uint64(len(m.value)))
		s.heads = appendHeader(s.heads, len(m.head)+len(total)+len(part), m.id, k, flags|flagMore)
		s.heads = append(append(s.heads, m.head...), total...)
	} else {
		if more {
			flags |= flagMore
		}
		s.heads = appendHeader(s.heads, len(part), m.id, k, flags)
	}
	s.parts = append(s.parts, s.heads[before:], part)
	s.size += len(s.heads) - before + len(part)
	s.frames++
}

// queueSegment gives seg to the writer.
func (l *Link) queueSegment(m *largeMessage, seg *segment) error {
	if seg.done == nil {
		seg.done = make(chan struct{}, 1)
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return l.lostBy(m.begun)
	}
	seg.queued = true
	l.large = append(l.large, seg)
	l.unlockAndWrite(writeInBackground)
	return nil
}

// waitForSegment waits until seg was written, if it was queued.
func (l *Link) waitForSegment(ctx context.Context, stop <-chan struct{}, m *largeMessage, seg *segment) error {
	if !seg.queued {
		return nil
	}
	select {
	case <-seg.done:
		m.begun, seg.queued = true, false
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-stop:
		return errStopped
	case <-l.done:
		return l.lostBy(true)
	}
}

// takeBack takes back what was queued and is not being written yet.
func (l *Link) takeBack(m *largeMessage, turns *[2]segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range turns {
		seg := &turns[i]
		if !seg.queued {
			continue
		}
		if at := slices.Index(l.large, seg); at >= 0 {
			l.large = slices.Delete(l.large, at, at+1)
			continue
		}
		m.begun = true
		select {
		case <-seg.done:
		default:
			m.held = true
		}
	}
}

// sendAndRetract sends a large post. Where that ends early the peer gets a cancel and forgets what it has of it.
func (l *Link) sendAndRetract(ctx context.Context, m *largeMessage) error {
	err := l.sendLarge(ctx, nil, m)
	if err != nil && m.begun {
		l.mu.Lock()
		if !l.closed {
			l.append(m.id, kindCancel, m.of, nil)
		}
		l.unlockAndWrite(writeInBackground)
	}
	return err
}

// partKey names a value of the peer of which a part has come.
type partKey struct {
	of uint8 // flagsOf
	id uint32
}

// assembly is a value of the peer of which a part has come. The reader alone has it.
type assembly struct {
	key   partKey
	total int
	buf   []byte
	flags uint8  // of the first frame
	pairs []Pair // of a reply

	in     *Inbound // a request whose value this is
	stream *Stream  // or the stream of which it is a message
	topic  uint8    // or the topic of a post
}

// maxParts is the number of values that may be under way in parts, besides the messages of streams. The link's account bounds
// their bytes.
const maxParts = 4 << 10

var errTooMuchAtOnce = errors.New("too much at once")

// begin notes the first part of a value. It fails where there is too much under way.
func (r *reader) begin(a *assembly, part []byte) error {
	if len(part) > a.total {
		return protocolError("a value of %d bytes has more in its first frame", a.total)
	}
	limit := r.link.config.Limits.Message
	if a.total > limit {
		return errTooMuchAtOnce
	}
	if a.stream == nil {
		if r.parts[a.key] != nil {
			return protocolError("value %d begins twice", a.key.id)
		}
		if len(r.parts) >= maxParts || !r.link.memory.Take(a.total) {
			return errTooMuchAtOnce
		}
		r.parts[a.key] = a
		if a.in != nil {
			a.in.held = a.total
		}
	}
	a.make(len(part))
	a.buf = append(a.buf, part...)
	return nil
}

// eager is the memory a value gets when its first part has come, whatever length it announces. Messages of streams are
// not among maxParts, so theirs get it while streams hold little.
const eager = 2<<20 + 4<<10

// make allocates memory for n more bytes: at most eager, or twice what has really come.
func (a *assembly) make(n int) {
	if cap(a.buf)-len(a.buf) >= n {
		return
	}
	capacity := 2 * (len(a.buf) + n)
	if a.stream == nil || !a.stream.link.memory.Crowded() {
		capacity = max(capacity, eager)
	}
	capacity = min(capacity, a.total)
	var grown []byte
	if capacity < chunkSize {
		grown = make([]byte, 0, capacity)
	} else {
		grown = largeBuffer(capacity)
	}
	grown = append(grown, a.buf...)
	if a.stream != nil {
		a.stream.in.Add(cap(grown) - cap(a.buf))
	}
	freeLarge(a.buf)
	a.buf = grown
}

// forget lets a value go that will not be completed, or that is.
func (r *reader) forget(a *assembly) {
	if a.stream == nil {
		delete(r.parts, a.key)
		if a.in == nil { // else it is the request's
			r.link.memory.Give(a.total)
		}
	}
}

// Buffers of 128 KiB to 4 MiB are kept for later, at most maxKept bytes of them in the process. A sync.Pool would not do:
// values of this size make the garbage collector run so often that it would be empty most of the time. They come in
// classes, four to each doubling, so that a value wastes a fifth of its buffer at most.
var (
	smallestLarge = largeClass(128 << 10)
	largestLarge  = largeClass(4 << 20)
)

const maxKept = 16 << 20

// largeClass is the greatest class whose buffers have no more than n bytes.
func largeClass(n int) int {
	doubling := bits.Len(uint(n)) - 1
	return 4*doubling + n>>(doubling-2)&3
}

// classSize returns the size in bytes of the buffers of a class.
func classSize(class int) int { return (4 + class&3) << (class/4 - 2) }

var largeBuffers struct {
	mu   sync.Mutex
	free map[int][][]byte // by their class
	kept int              // bytes
}

// largeBuffer returns an empty buffer for n bytes.
func largeBuffer(n int) []byte {
	class := max(largeClass(max(n, 4)), smallestLarge)
	if classSize(class) < n {
		class++
	}
	if class > largestLarge {
		return uncleared(n)
	}
	if b := takeLarge(class); b != nil {
		return b
	}
	return uncleared(classSize(class))
}

// takeLarge is a kept buffer of a class; nil for none.
func takeLarge(class int) []byte {
	p := &largeBuffers
	p.mu.Lock()
	defer p.mu.Unlock()
	free := p.free[class]
	last := len(free) - 1
	if last < 0 {
		return nil
	}
	b := free[last]
	free[last] = nil
	p.free[class] = free[:last]
	p.kept -= cap(b)
	return b
}

// uncleared is an empty buffer for n bytes whose memory may hold anything: clearing a mebibyte takes as long as copying it, and
// no byte is read here that was not written first. A strings.Builder makes such memory; it is dropped here, so its
// string, which must not change, is not kept.
func uncleared(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), b.Cap())[:0]
}

// freeLarge keeps the buffer for later; nothing may use it any more.
func freeLarge(b []byte) {
	if cap(b) < classSize(smallestLarge) {
		return
	}
	class := largeClass(cap(b))
	p := &largeBuffers
	p.mu.Lock()
	defer p.mu.Unlock()
	if class > largestLarge || p.kept+cap(b) > maxKept {
		return
	}
	if p.free == nil {
		p.free = make(map[int][][]byte)
	}
	p.free[class] = append(p.free[class], b[:0])
	p.kept += cap(b)
}

// Buffer returns an empty buffer for a value of n bytes. Give it back with FreeBuffer.
func Buffer(n int) []byte { return largeBuffer(n) }

// FreeBuffer gives a buffer back; nothing may use it any more.
func FreeBuffer(b []byte) { freeLarge(b) }

// keepSmall is the buffer, emptied, if it is small enough to stay with its owner.
func keepSmall(b []byte) []byte {
	if cap(b) > keepCall {
		freeLarge(b)
		return nil
	}
	return b[:0]
}
