package actor

import (
	"context"
	"encoding/binary"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
)

// maxInbound bounds the calls of one peer that are being handled.
const maxInbound = 1 << 18

// call sends a call and registers the caller for the reply.
func (s *session) call(to PID, l *envelope, c callBody, by *Process) error {
	values, ok := l.body.(outgoing)
	if !ok {
		return errNoWireForm
	}
	ctx := c.context()
	if ctx == nil {
		ctx = context.Background()
	}
	number, err := s.typeNumberOfCall(ctx, by, l.body.kind())
	if err != nil {
		return err
	}
	a := &pendingReply{request: c.replyTo()}
	if err := s.addPending(a); err != nil {
		return err
	}
	posted := false
	defer func() {
		if !posted { // also where what writes the input ends the goroutine
			s.takePending(a.number)
		}
	}()
	buffer := buffers.Get().(*[]byte)
	data := binary.AppendUvarint(append((*buffer)[:0], byte(opCall)), a.number)
	data = appendHead(data, l, to)
	data = s.appendContext(data, ctx)
	data = binary.AppendUvarint(data, number)
	if data, _, err = encode(data, values, 0, postBytes); err != nil {
		return s.system.faults.contain("writing a call", l.body.kind().name, err)
	}
	if w, ok := a.request.to.(interface{ setAwaited(*pendingReply) }); ok {
		w.setAwaited(a)
	}
	if posted = s.link.TryPost(linkTopic, data); posted {
		giveBuffer(buffer, data)
		return nil
	}
	bound, cancel := withCallTimeout(ctx)
	defer cancel()
	reuse, err := s.post(bound, by, data)
	if reuse {
		giveBuffer(buffer, data)
	}
	if err != nil {
		return asCallTimeout(bound, err)
	}
	posted = true
	return nil
}

// typeNumberOfCall is typeNumber, with the time that a call has. It makes no context for a type that the peer knows.
func (s *session) typeNumberOfCall(ctx context.Context, by *Process, k *kind) (uint64, error) {
	if known, ok := s.types.Load(k); ok {
		return known.(uint64), nil
	}
	bound, cancel := withCallTimeout(ctx)
	defer cancel()
	number, err := s.typeNumber(bound, by, k)
	if err != nil {
		return 0, asCallTimeout(bound, err)
	}
	return number, nil
}

// These flags mark which parts of a context follow in a call.
const (
	withTimeout   = 1
	withRequestID = 2
	withMetadata  = 4
)

// appendContext appends the context of a call: the time left, the request id, and the metadata with the trace in it.
func (s *session) appendContext(dst []byte, ctx context.Context) []byte {
	if ctx == context.Background() {
		return append(dst, 0)
	}
	ctx = s.system.node.Carry(ctx)
	var flags byte
	deadline, limited := ctx.Deadline()
	info := sabir.InfoFromContext(ctx)
	id, pairs := info.RequestID, info.Metadata
	if limited {
		flags |= withTimeout
	}
	if id != "" {
		flags |= withRequestID
	}
	if len(pairs) > 0 {
		flags |= withMetadata
	}
	dst = append(dst, flags)
	if limited {
		dst = binary.AppendUvarint(dst, uint64(max(time.Until(deadline), time.Microsecond)/time.Microsecond))
	}
	if id != "" {
		dst = appendText(dst, id)
	}
	if len(pairs) > 0 {
		dst = binary.AppendUvarint(dst, uint64(len(pairs)))
		for key, value := range pairs {
			dst = appendText(appendText(dst, key), value)
		}
	}
	return dst
}

// maxTimeout bounds the timeout that a peer may ask for, so that it cannot overflow.
const maxTimeout = 100 * 365 * 24 * time.Hour

const maxMetadata = 48 << 10 // as on the links themselves

func (p *postReader) context() (context.Context, context.CancelFunc) {
	flags := p.byte()
	ctx := context.Background()
	var timeout time.Duration
	if flags&withTimeout != 0 {
		timeout = time.Duration(min(p.uvarint(), uint64(maxTimeout/time.Microsecond))) * time.Microsecond
	}
	if flags&withRequestID != 0 {
		ctx = sabir.WithRequestID(ctx, p.text(maxMetadata))
	}
	if flags&withMetadata != 0 {
		pairs := p.uvarint()
		before := len(p.data)
		for range min(pairs, maxPairs+1) {
			key, value := p.text(maxMetadata), p.text(maxMetadata)
			if p.bad || pairs > maxPairs || before-len(p.data) > maxMetadata {
				p.bad = true
				break
			}
			ctx = sabir.WithMetadata(ctx, key, value)
		}
	}
	if p.bad {
		return nil, nil
	}
	if timeout > 0 {
		return context.WithTimeout(ctx, timeout)
	}
	return context.WithCancel(ctx)
}

// remoteCall is a call that a process of another node makes here. It sends the reply back to that node.
type remoteCall struct {
	session       *session
	number        uint64
	answer        atomic.Bool // the call has been answered
	cancelContext context.CancelFunc
	forwardedTo   atomic.Pointer[pendingReply] // set if it was forwarded to a third node
}

func (s *session) readCall(r *postReader) error {
	number := r.uvarint()
	h := s.head(r)
	if r.bad {
		return errMalformed
	}
	ctx, release := r.context()
	d := s.typeOf(r)
	value := r.bytes()
	if err := r.end(); err != nil {
		if release != nil {
			release()
		}
		return err
	}
	c := &remoteCall{session: s, number: number, cancelContext: release}
	values, err := d.reader(s.system.nodeName())
	if err != nil {
		release()
		s.fail(number, err)
		return nil
	}
	l, err := values.call(value, Request{to: c}, ctx)
	if err != nil { // its type refuses it
		release()
		s.fail(number, s.system.faults.contain("reading a call", d.name, err))
		return nil
	}
	s.mu.Lock()
	if s.inbound == nil || s.inbound[number] != nil {
		s.mu.Unlock()
		release()
		l.body.free()
		if s.ended.Load() {
			return nil
		}
		return errMalformed
	}
	full := len(s.inbound) >= maxInbound
	if !full {
		s.inbound[number] = c
	}
	s.mu.Unlock()
	if full {
		_ = s.system.refuse(l, problem(ErrTooMany, s.system.nodeName(), "%d calls of %s are being answered", maxInbound, s.node))
		return nil
	}
	_ = s.deliver(h, l, len(value)) // where it fails, failed notifies the caller
	return nil
}

// readCancel ends the context of a call whose caller no longer waits.
func (s *session) readCancel(r *postReader) error {
	number := r.uvarint()
	if err := r.end(); err != nil {
		return err
	}
	s.mu.Lock()
	c := s.inbound[number]
	s.mu.Unlock()
	if c != nil && c.claim() {
		c.cancel()
	}
	return nil
}

// claim reports whether the call was still open, and closes it: only one answer is sent.
func (c *remoteCall) claim() bool {
	if !c.answer.CompareAndSwap(false, true) {
		return false
	}
	s := c.session
	s.mu.Lock()
	delete(s.inbound, c.number)
	s.mu.Unlock()
	return true
}

// cancel ends the context of the call, because the caller no longer waits.
func (c *remoteCall) cancel() {
	c.answer.Store(true)
	c.cancelContext()
	if a := c.forwardedTo.Load(); a != nil {
		a.cancel()
	}
}

func (c *remoteCall) failed(_ uint64, err error) {
	if c.claim() {
		c.cancelContext()
		c.session.fail(c.number, err)
	}
}

// answered is not used: replyRemote sends the answers of known types.
func (c *remoteCall) answered(_ uint64, out any) {
	c.failed(0, problem(errNoWireForm, c.session.system.nodeName(), "%T", out))
}

// replyRemote must not be inlined: the answer is moved to the heap there, and only for callers on other nodes.
//
//go:noinline
func replyRemote[Out any](c *remoteCall, by *Process, out Out) {
	c.reply(by, &messagesOf[Out]().k, &out)
}

// reply sends an answer, to which out points, to a call of another node. It may wait if the link is full.
func (c *remoteCall) reply(by *Process, k *kind, out any) {
	if k.of.Kind() == reflect.Interface { // of a handler that answers with values of any type
		c.replyAny(by, reflect.ValueOf(out).Elem().Interface())
		return
	}
	if buffer, data := c.beginAnswer(by, k); buffer != nil {
		codec, err := k.coded()
		if err == nil {
			data, err = codec.AppendValue(data, out)
		}
		c.finishAnswer(by, k, buffer, data, err)
	}
}

// replyAny answers with a value by its own type.
func (c *remoteCall) replyAny(by *Process, out any) {
	if c.answer.Load() {
		return
	}
	if known, ok := kinds.Load(reflect.TypeOf(out)); ok {
		pointer := reflect.New(reflect.TypeOf(out))
		pointer.Elem().Set(reflect.ValueOf(out))
		c.reply(by, known.(typedKind).kind(), pointer.Interface())
		return
	}
	c.failed(0, problem(errNoWireForm, c.session.system.nodeName(), "the answer is a %T, of which this program knows nothing: see Register", out))
}

// beginAnswer returns a buffer, and the beginning of an answer in it to which the value is to be appended; nil where no answer is to be made.
func (c *remoteCall) beginAnswer(by *Process, of *kind) (buffer *[]byte, data []byte) {
	if c.answer.Load() {
		return nil, nil
	}
	number, err := c.session.typeNumber(context.Background(), by, of)
	if err != nil {
		c.failed(0, err)
		return nil, nil
	}
	buffer = buffers.Get().(*[]byte)
	data = binary.AppendUvarint(append((*buffer)[:0], byte(opAnswer)), c.number)
	return buffer, binary.AppendUvarint(data, number)
}

// finishAnswer sends what beginAnswer began, unless the value could not be written, or the call was answered meanwhile.
func (c *remoteCall) finishAnswer(by *Process, of *kind, buffer *[]byte, data []byte, failed error) {
	s := c.session
	if failed != nil {
		giveBuffer(buffer, data)
		c.failed(0, s.system.faults.contain("writing an answer", of.name, noWireForm(of.name, failed)))
		return
	}
	if !c.claim() {
		giveBuffer(buffer, data)
		return
	}
	c.cancelContext()
	reuse, err := s.post(context.Background(), by, data)
	if reuse {
		giveBuffer(buffer, data)
	}
	if err != nil && !s.ended.Load() { // too large for the peer
		s.fail(c.number, err)
	}
}

// setAwaited keeps the request to the other node, so that wait can cancel it there.
func (w *waiter[Out]) setAwaited(a *pendingReply) { w.remote.Store(a) }
