package actor

import (
	"context"
	"encoding/binary"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
)

// maxInbound is how many calls of a peer are answered at once.
const maxInbound = 1 << 18

// call sends a call, and notes who waits for the answer.
func (s *session) call(to PID, l *letter, c asked, by *Process) error {
	values, ok := l.body.(outgoing)
	if !ok {
		return ErrNoWireForm
	}
	ctx := c.context()
	if ctx == nil {
		ctx = context.Background()
	}
	number, err := s.typeNumber(by, l.body.kind())
	if err != nil {
		return err
	}
	a := &awaited{request: c.asks()}
	if err := s.await(a); err != nil {
		return err
	}
	buffer := buffers.Get().(*[]byte)
	data := binary.AppendUvarint(append((*buffer)[:0], byte(verbCall)), a.number)
	data = appendHead(data, l, to)
	data = s.appendContext(data, ctx)
	data = binary.AppendUvarint(data, number)
	if data, _, err = values.encode(data, 0, postBytes); err != nil {
		s.came(a.number)
		return err
	}
	if w, ok := a.request.to.(interface{ sentAway(*awaited) }); ok {
		w.sentAway(a)
	}
	if s.link.TryPost(Topic, data) {
		giveBuffer(buffer, data)
		return nil
	}
	bound, cancel := within(ctx)
	defer cancel()
	reuse, err := s.post(bound, by, data)
	if reuse {
		giveBuffer(buffer, data)
	}
	if err != nil {
		s.came(a.number)
		return s.system.late(bound, err)
	}
	return nil
}

// What of a context travels.
const (
	withTimeout   = 1
	withRequestID = 2
	withMetadata  = 4
)

// appendContext appends what a call takes along: the time that is left, request id, metadata and with it the trace.
func (s *session) appendContext(dst []byte, ctx context.Context) []byte {
	if ctx == context.Background() {
		return append(dst, 0)
	}
	ctx = s.system.node.Carry(ctx)
	var flags byte
	deadline, limited := ctx.Deadline()
	id, pairs := sabir.RequestID(ctx), sabir.Metadata(ctx)
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

// maxTimeout bounds what a peer says of its time, so that it cannot overflow.
const maxTimeout = 100 * 365 * 24 * time.Hour

const maxMetadata = 48 << 10 // as on the links themselves

func (p *parcel) context() (context.Context, context.CancelFunc) {
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

// awayCall is a call of a process on another node. It is who waits for the answer.
type awayCall struct {
	session  *session
	number   uint64
	answer   atomic.Bool // has been given
	released context.CancelFunc
	onward   atomic.Pointer[awaited] // where it was forwarded to another node
}

func (s *session) readCall(r *parcel) error {
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
	c := &awayCall{session: s, number: number, released: release}
	values, err := d.reader(s.system.homeName())
	if err != nil {
		release()
		s.fail(number, err)
		return nil
	}
	l, err := values.call(value, Request{to: c}, ctx)
	if err != nil { // its type refuses it
		release()
		s.fail(number, err)
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
		_ = s.system.refuse(l, problem(ErrTooMany, s.system.homeName(), "%d calls of %s are being answered", maxInbound, s.node))
		return nil
	}
	_ = s.deliver(h, l) // where it fails, the caller is told by failed
	return nil
}

func (s *session) readCancel(r *parcel) error {
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

// claim tells whether the call was not answered or given up before.
func (c *awayCall) claim() bool {
	if !c.answer.CompareAndSwap(false, true) {
		return false
	}
	s := c.session
	s.mu.Lock()
	delete(s.inbound, c.number)
	s.mu.Unlock()
	return true
}

// cancel ends the context of the call: nobody waits any more.
func (c *awayCall) cancel() {
	c.answer.Store(true)
	c.released()
	if a := c.onward.Load(); a != nil {
		a.giveUp()
	}
}

func (c *awayCall) failed(_ uint64, err error) {
	if c.claim() {
		c.released()
		c.session.fail(c.number, err)
	}
}

// answered is not used: see answer.
func (c *awayCall) answered(_ uint64, out any) {
	c.failed(0, problem(ErrNoWireForm, c.session.system.homeName(), "%T", out))
}

// answerAway answers a call of another node. It may wait where the link is full.
func answerAway[Out any](c *awayCall, by *Process, out Out) {
	s, m := c.session, messagesOf[Out]()
	if c.answer.Load() {
		return
	}
	if m.k.of.Kind() == reflect.Interface { // of a handler that answers with values of any type
		if known, ok := kinds.Load(reflect.TypeOf(out)); ok {
			known.(typedKind).answer(c, by, out)
			return
		}
		c.failed(0, problem(ErrNoWireForm, s.system.homeName(), "the answer is a %T, of which this program knows nothing: see Register", out))
		return
	}
	number, err := s.typeNumber(by, &m.k)
	if err != nil {
		c.failed(0, err)
		return
	}
	buffer := buffers.Get().(*[]byte)
	data := binary.AppendUvarint(append((*buffer)[:0], byte(verbAnswer)), c.number)
	data = binary.AppendUvarint(data, number)
	if data, err = m.coded().Append(data, &out); err != nil {
		giveBuffer(buffer, data)
		c.failed(0, noWireForm(m.k.name, err))
		return
	}
	if !c.claim() {
		giveBuffer(buffer, data)
		return
	}
	c.released()
	reuse, err := s.post(context.Background(), by, data)
	if reuse {
		giveBuffer(buffer, data)
	}
	if err != nil && !s.ended.Load() { // too large for the peer
		s.fail(c.number, err)
	}
}

// sentAway notes that the answer comes from another node, which is to know when nobody waits any more.
func (w *waiter[Out]) sentAway(a *awaited) { w.away.Store(a) }
