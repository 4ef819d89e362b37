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
	head  []byte
	out   []byte // the request's value; kept for the next call
	small []byte // where short replies are copied; kept for the next call
	large []byte // where a long one was put together

	// The answer. Who takes the call out of its slot sets it and then sends on done.
	reply      []byte
	schema     *Schema
	compressed bool
	err        error
	done       chan struct{} // of room 1

	// Guarded by Link.mu.
	id       uint32
	start    int64 // where in the stream of bytes the request begins
	deadline int64 // in the link's time, 0 for none
	next     *Call // among those that wait for a slot
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

// Schema is the one in which the answer was written, nil where it has none.
func (c *Call) Schema() *Schema { return c.schema }

// Owned tells whether the reply has a buffer of its own, as long ones do. Its bytes may be kept beyond Free after Keep.
func (c *Call) Owned() bool { return c.large != nil && !c.compressed }

// Keep leaves the reply's buffer to the caller; see Owned.
func (c *Call) Keep() { c.large = nil }

// Free gives the call back. Neither it nor its reply may be used afterwards.
func (c *Call) Free() {
	c.out = keepSmall(c.out)
	c.small = keepSmall(c.small)
	freeLarge(c.large)
	c.large, c.reply, c.schema, c.err, c.compressed = nil, nil, nil, nil, false
	c.Meta = Meta{}
	l := c.link
	c.link, c.route = nil, nil
	l.unused.Put(c)
}

// Do sends value, which was made from Buf, and waits for the answer. It is called once. Its errors are
//
//   - *Failure: the peer's error, or one of this side that kept the request from being sent;
//   - *LostError: the link was lost before or after the request may have reached the peer;
//   - ctx.Err(), and context.DeadlineExceeded when Timeout is over first. The peer is told when ctx ends; a Timeout it was
//     told with the request.
func (c *Call) Do(ctx context.Context, value []byte) error {
	l := c.link
	c.out = value
	value, flags, err := l.shrink(value)
	if err != nil {
		return err
	}
	head, headFlags, err := l.appendHead(c.head[:0], &c.Meta)
	if err != nil {
		return err
	}
	c.head = head
	flags |= headFlags
	if ctx.Done() != nil {
		flags |= flagCancellable
	}
	deadline := int64(0)
	if c.Timeout > 0 {
		deadline = l.now() + int64(c.Timeout)
	}

	if err := c.lockWithSlot(ctx, deadline); err != nil {
		return err
	}
	if err := l.announceForNew(c.route); err != nil {
		l.mu.Unlock()
		c.giveUpSlot()
		return err
	}
	c.start = l.takenOut + int64(len(l.pending))
	l.watchDeadline(c, deadline)
	if len(value) <= chunkSize {
		l.appendHeaded(c.id, kindRequest, flags, c.route, head, value)
		if l.calls.taken > 1 {
			l.unlockAndWrite(byYielding)
		} else {
			l.unlockAndWrite(byCaller)
		}
		return c.wait(ctx)
	}
	id := c.id
	l.mu.Unlock()
	m := largeMessage{kind: kindRequest, flags: flags, id: id, route: c.route, head: head, value: value}
	err = l.sendLarge(ctx, c.done, &m)
	c.keepHint(len(value))
	if m.held {
		c.out = nil // the writer may still be reading it
	}
	switch {
	case err == errStopped: // the answer came, or the deadline, before the request was sent completely
		l.giveUpRest(id, m.begun)
		return c.answered()
	case err != nil && !m.begun: // the peer knows nothing of it, so it will not answer
		c.giveUpSlot()
		return err
	}
	return c.wait(ctx)
}

// wait waits for the answer to a request that was sent.
func (c *Call) wait(ctx context.Context) error {
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
	if !c.link.abandon(c) {
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

// keepHint remembers how large the route's values are, for the next Buf.
func (c *Call) keepHint(size int) { c.route.sizeHint.Store(int64(size)) }

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

// appendHead appends what stands between the route and the value, and returns the flags that tell what it is.
func (l *Link) appendHead(dst []byte, m *Meta) (_ []byte, flags uint8, _ error) {
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
	if len(dst) > maxHead-2*maxUvarint32 {
		return nil, 0, &Failure{Code: codeResourceExhausted, Name: NameHeadTooLarge, Node: l.config.Node,
			Message: fmt.Sprintf("metadata, request id and caller have %d bytes, at most %d are allowed", len(dst), maxHead-2*maxUvarint32)}
	}
	return dst, flags, nil
}

const maxUvarint32 = 5

// announceForNew tells the peer of the route where needed, and refuses where the link takes no new work. It runs under mu.
func (l *Link) announceForNew(r *Route) error {
	if l.leaving.peerGone || l.leaving.draining.Load() {
		return &LostError{Node: l.peer.Node, Err: ErrGoingAway}
	}
	return l.announce(r)
}

// errStopped says that a wait was ended by what it was to be ended by.
var errStopped = errors.New("stopped")
