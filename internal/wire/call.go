package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Call is a request of this side and its reply. It is used by one goroutine, and again and again:
//
//	c := link.Call(route)
//	defer c.Free()
//	buf := wire.AppendRef(c.Buf(), number)
//	buf, err = codec.Append(buf, in)
//	err = c.Do(ctx, buf)
//	err = codec.Decode(c.Reply(), &out)
type Call struct {
	Meta // set between Link.Call and Do

	link  *Link
	route *Route
	out   []byte // the request's value; kept for the next call
	small []byte // where short replies are copied; kept for the next call
	large []byte // where a long one was put together

	// The answer. The code that removes the call from its entry sets these and then sends on done, once; see calls.
	reply      []byte
	pairs      []Pair
	schema     *Schema
	compressed bool
	err        error
	done       chan struct{} // its capacity is 1, so that the sender never waits

	// Guarded by Link.mu.
	id       uint32
	start    int64 // where in the stream of bytes the request begins
	deadline int64 // in the link's time, 0 for none
	next     *Call // the next of those that wait for an entry
	waiting  bool
}

// keepCall is the largest buffer that stays with a Call or an Inbound for the next one.
const keepCall = 64 << 10

// Call begins a call along r, which must be a CallRoute of this link. It must be given back with Free.
func (l *Link) Call(r *Route) *Call {
	c, ok := l.unused.Get().(*Call)
	if !ok {
		c = &Call{done: make(chan struct{}, 1)}
	}
	c.link, c.route = l, r
	return c
}

// Buf is an empty buffer for the request's value, which begins with a schema number (see AppendRef). What was made of it
// by appending goes to Do.
func (c *Call) Buf() []byte {
	if hint := int(c.route.sizeHint.Load()); hint > cap(c.out) && hint > keepCall {
		c.out = largeBuffer(hint)
	}
	return c.out[:0]
}

// Reply is the answer's value without its schema number. It is valid until Free.
func (c *Call) Reply() []byte { return c.reply }

// Pairs returns the names and values that came beside the value or the error; nil for none, and where Meta.TakesPairs was not set.
func (c *Call) Pairs() []Pair { return c.pairs }

// Schema is the one in which the answer was written, nil where it has none.
func (c *Call) Schema() *Schema { return c.schema }

// Owned reports whether the reply has a buffer of its own, as long ones do. Its bytes may be kept beyond Free after Keep.
func (c *Call) Owned() bool { return c.large != nil && !c.compressed }

// Keep leaves the reply's buffer to the caller; see Owned.
func (c *Call) Keep() { c.large = nil }

// Free gives the call back. Neither it nor its reply may be used afterwards.
func (c *Call) Free() {
	c.out = keepSmall(c.out)
	c.small = keepSmall(c.small)
	freeLarge(c.large)
	c.large, c.reply, c.pairs, c.schema, c.err, c.compressed = nil, nil, nil, nil, nil, false
	c.Meta = Meta{}
	l := c.link
	c.link, c.route = nil, nil
	l.unused.Put(c)
}

// Do sends value, which was made from Buf, and waits for the answer. It is called once. Its errors are
//
//   - *Failure: the peer's error, or one of this side that kept the request from being sent;
//   - *LostError: the link was lost before or after the request may have reached the peer;
//   - ctx.Err(), and context.DeadlineExceeded when Timeout is over first. The peer gets a cancel when ctx ends; a Timeout was
//     sent with the request.
func (c *Call) Do(ctx context.Context, value []byte) error {
	l := c.link
	c.out = value
	c.route.noteSize(len(value))
	value, flags, err := l.shrink(value)
	if err != nil {
		return err
	}
	if err := l.checkHead(c.route, &c.Meta); err != nil {
		return err
	}
	if ctx.Done() != nil {
		flags |= flagCancellable
	}
	if c.TakesPairs && c.route.Kind != EventRoute {
		flags |= flagPairs
	}
	deadline := int64(0)
	if c.Timeout > 0 {
		deadline = l.now() + int64(c.Timeout)
	}

	if err := c.lockWithEntry(ctx, deadline); err != nil {
		return err
	}
	if err := l.takesNew(); err != nil {
		l.mu.Unlock()
		c.freeEntry()
		return err
	}
	number, head, headFlags := l.headOf(c.route, &c.Meta)
	flags |= headFlags
	c.start = l.bytesTaken + int64(len(l.pending))
	l.watchDeadline(c, deadline)
	if len(value) <= chunkSize {
		l.appendHeaded(c.id, kindRequest, flags, number, head, value)
		if l.calls.taken > 1 {
			l.unlockAndWrite(writeAfterYield)
		} else {
			l.unlockAndWrite(writeNow)
		}
		return c.wait(ctx)
	}
	// The first frame has the head, whose numbers count for its place in the order, and nothing of the value.
	l.appendHeaded(c.id, kindRequest, flags|flagMore, number, binary.AppendUvarint(head, uint64(len(value))), nil)
	id := c.id
	l.mu.Unlock()
	m := largeMessage{kind: kindChunk, id: id, value: value, begun: true}
	err = l.sendLarge(ctx, c.done, &m)
	if m.held {
		c.out = nil // the writer may still be reading it
	}
	if err == errStopped { // the answer came, or the deadline, before the request was sent completely
		l.cancelUnsent(id)
		return c.answered()
	}
	return c.wait(ctx)
}

// wait waits for the answer to a request that was sent.
func (c *Call) wait(ctx context.Context) error {
	if read := c.link.turn.read; read != nil {
		read(c, ctx)
	}
	gone := ctx.Done()
	if gone == nil {
		<-c.done
		return c.answered()
	}
	select {
	case <-c.done:
		return c.answered()
	case <-gone:
	}
	if !c.link.cancelCall(c) {
		<-c.done // the answer was on its way
		return c.answered()
	}
	return ctx.Err()
}

// answered looks at the answer after done.
func (c *Call) answered() error {
	if c.err != nil || !c.compressed {
		return c.err
	}
	plain, err := c.link.expand(c.reply)
	if err != nil {
		return err
	}
	c.reply = plain
	return nil
}

// shrink checks the length of a value, and compresses it where that was agreed and pays.
func (l *Link) shrink(value []byte) (_ []byte, flags uint8, _ error) {
	if len(value) > l.peer.Limits.Message {
		return nil, 0, l.tooLarge(len(value))
	}
	if l.peer.Compression == NoCompression || len(value) < l.config.CompressAbove {
		return value, 0, nil
	}
	_, n := binary.Uvarint(value)
	if n <= 0 {
		return value, 0, nil
	}
	smaller, ok := l.peer.Compression.compress(append(make([]byte, 0, len(value)), value[:n]...), value[n:])
	if !ok {
		return value, 0, nil
	}
	return smaller, flagCompressed, nil
}

// expand decompresses a value that the peer compressed.
func (l *Link) expand(value []byte) ([]byte, error) {
	plain, err := l.peer.Compression.decompress(nil, value, l.config.Limits.Message)
	if err != nil {
		return nil, &Failure{Code: codeInternal, Name: NameBadCompression, Node: l.config.Node, Message: "what node " + l.peer.Node + " sent cannot be decompressed: " + err.Error()}
	}
	return plain, nil
}

func (l *Link) tooLarge(size int) *Failure {
	return &Failure{Code: codeResourceExhausted, Name: NameMessageTooLarge, Node: l.config.Node,
		Message: fmt.Sprintf("a value of %d bytes: node %s accepts at most %d", size, l.peer.Node, l.peer.Limits.Message)}
}

// checkHead refuses a request or a stream whose head would be too long, or whose route the peer would not accept.
func (l *Link) checkHead(r *Route, m *Meta) error {
	if err := l.checkRoute(r); err != nil {
		return err
	}
	size := 8*binary.MaxVarintLen64 + len(m.Event) + len(m.Caller) + len(m.RequestID)
	for _, group := range m.Groups {
		size += len(group) + 3 // the length, and a byte for the number 0
	}
	for key, value := range m.Metadata {
		size += len(key) + len(value) + 7 // the lengths of both, and a byte for a number
	}
	if size > maxHead {
		return &Failure{Code: codeResourceExhausted, Name: NameHeadTooLarge, Node: l.config.Node,
			Message: fmt.Sprintf("metadata, request id and the names of caller, event and groups have %d bytes, at most %d are allowed", size, maxHead)}
	}
	return nil
}

// headOf makes what stands before the value in a request or in an open: the number of the route and, valid as long as mu is held,
// the rest, with the flags that describe it. What it declares to the peer for that is appended before it returns. It
// runs under mu, and its frame must be appended before mu is unlocked: see numbers.
func (l *Link) headOf(r *Route, m *Meta) (number uint32, head []byte, flags uint8) {
	l.frame++
	number = l.numberOf(r)
	if cap(l.head) > keepHead {
		l.head = nil
	}
	dst := l.head[:0]
	if r.Kind == EventRoute {
		dst = l.appendName(dst, m.Event)
	}
	if m.Timeout > 0 {
		flags |= flagTimeout
		dst = binary.AppendUvarint(dst, uint64(max(m.Timeout/time.Microsecond, 1)))
	}
	if m.Level > 0 || m.Caller != "" {
		flags |= flagNested
		dst = binary.AppendUvarint(dst, uint64(max(m.Level, 0)))
		dst = l.appendName(dst, m.Caller)
	}
	if m.RequestID != "" {
		flags |= flagRequestID
		dst = appendString(dst, m.RequestID)
	}
	if len(m.Metadata) > 0 {
		flags |= flagMetadata
		dst = binary.AppendUvarint(dst, uint64(len(m.Metadata)))
		for key, value := range m.Metadata {
			dst = appendString(l.appendName(dst, key), value)
		}
	}
	if len(m.Groups) > 0 && l.groups {
		flags |= flagGroups
		dst = binary.AppendUvarint(dst, uint64(len(m.Groups)))
		for _, group := range m.Groups {
			dst = l.appendName(dst, group)
		}
	}
	l.head = dst
	return number, dst, flags
}

// keepHead is the largest buffer of a head that stays with the link.
const keepHead = 4 << 10

// takesNew refuses where the link takes no new work. It runs under mu.
func (l *Link) takesNew() error {
	if l.leaving.goawayReceived || l.leaving.draining.Load() {
		return &LostError{Node: l.peer.Node, Err: ErrGoingAway}
	}
	return nil
}

// errStopped means that a wait was ended by what it was to be ended by.
var errStopped = errors.New("stopped")
