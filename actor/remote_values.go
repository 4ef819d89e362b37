package actor

import (
	"context"
	"encoding/binary"
	"reflect"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/native"
)

// ErrNoWireForm: a value cannot be sent to another node, since its type, or what is in it, has no form in the native codec.
var ErrNoWireForm = sabir.NewError(sabir.CodeInvalidArgument, "NoWireForm", "the value cannot be sent to another node")

// registered holds the kinds that may be decoded by the name of their type: string to typedKind.
var registered sync.Map

// Register lets processes get messages and calls of type M from other nodes. For the types of the handlers of a behaviour
// Define does it; the others, which OnAnyMessage handles, and those of interfaces need it. Nothing but what was registered is ever
// built from the wire.
//
// The type is known by the path of its package and its name, the same on all nodes. Two types with one name, as those
// declared inside functions may have, are a mistake: the first counts.
func Register[M any]() { register(&messagesOf[M]().k) }

func register(k *kind) { registered.LoadOrStore(k.name, k.typed) }

// outgoing is implemented by bodies that can be encoded for another node: *batch[T] and *call[T].
type outgoing interface {
	// encode appends values from the one at i on, each with its length before it, while dst is not longer than limit; at least
	// one. next is the first that was not appended. Where one cannot be encoded, next is the one after it.
	encode(dst []byte, i, limit int) (out []byte, next int, err error)
}

// wireForm is the part of a typedKind that concerns the wire.
type wireForm interface {
	// schema describes the values as this program writes them.
	schema() (*native.Schema, error)
	// reader reads values that were written with another schema.
	reader(writer *native.Schema) (reader, error)
	// answer answers a call of another node with a value of the type.
	answer(c *remoteCall, by *Process, out any)
}

func (m *messages[T]) answer(c *remoteCall, by *Process, out any) { replyRemote(c, by, out.(T)) }

// reader makes envelopes of what came from another node.
type reader interface {
	// envelope reads as many of the values as go together. A value that its type refuses is left out: then there is an error,
	// and an envelope only if there were others before it.
	envelope(p *postReader) (*envelope, error)
	// call reads one value.
	call(data []byte, r Request, ctx context.Context) (*envelope, error)
}

// coded is the native codec of T, compiled when first needed: most messages never leave their node.
func (m *messages[T]) coded() *native.Type[T] {
	if c := m.codec.Load(); c != nil {
		return c
	}
	c := native.For[T]()
	m.codec.Store(c)
	return c
}

func (m *messages[T]) schema() (*native.Schema, error) {
	c := m.coded()
	if err := c.Err(); err != nil {
		return nil, noWireForm(m.k.name, err)
	}
	return c.Schema(), nil
}

func noWireForm(name string, err error) error {
	return sabir.Errorf(ErrNoWireForm.Code, ErrNoWireForm.Name, "%s: %s: %w", ErrNoWireForm.Message, name, err)
}

func (b *batch[T]) encode(dst []byte, i, limit int) ([]byte, int, error) {
	c := b.of.coded()
	for first := i; i < len(b.items); i++ {
		start := len(dst)
		var err error
		if dst, err = c.Append(append(dst, 0), &b.items[i]); err != nil {
			return dst[:start], i + 1, noWireForm(b.of.k.name, err)
		}
		dst = closeValue(dst, start)
		if len(dst) > limit && i > first {
			return dst[:start], i, nil
		}
	}
	return dst, i, nil
}

func (c *call[In]) encode(dst []byte, i, _ int) ([]byte, int, error) {
	start := len(dst)
	out, err := c.of.coded().Append(append(dst, 0), &c.in)
	if err != nil {
		return dst, i + 1, noWireForm(c.of.k.name, err)
	}
	return closeValue(out, start), i + 1, nil
}

// closeValue writes the length of the value whose bytes begin after the byte at start.
func closeValue(dst []byte, start int) []byte {
	n := len(dst) - start - 1
	if n < 0x80 {
		dst[start] = byte(n)
		return dst
	}
	var length [binary.MaxVarintLen64]byte
	more := binary.PutUvarint(length[:], uint64(n)) - 1
	dst = append(dst, length[:more]...)
	copy(dst[start+1+more:], dst[start+1:start+1+n])
	copy(dst[start:], length[:more+1])
	return dst
}

// typedReader reads values of T.
type typedReader[T any] struct {
	of    *messages[T]
	codec *native.Type[T]
	code  bool // see hasCode
}

func (m *messages[T]) reader(writer *native.Schema) (reader, error) {
	c := m.coded()
	if err := c.Err(); err != nil {
		return nil, noWireForm(m.k.name, err)
	}
	if own := c.Schema(); own.Hash() != writer.Hash() {
		var err error
		if c, err = c.From(writer); err != nil {
			return nil, noWireForm(m.k.name, err)
		}
	}
	return &typedReader[T]{m, c, hasCode[T]()}, nil
}

func (r *typedReader[T]) envelope(p *postReader) (*envelope, error) {
	data := p.bytes()
	if p.bad {
		return nil, errMalformed
	}
	if len(p.data) == 0 {
		var message T
		if err := decode(r.codec, r.code, data, &message); err != nil {
			return nil, err
		}
		return &r.of.envelopeOf(message).head, nil
	}
	b := r.of.run()
	var err error
	for {
		n := len(b.items)
		b.items = b.items[:n+1]
		if err = decode(r.codec, r.code, data, &b.items[n]); err != nil {
			clear(b.items[n:])
			b.items = b.items[:n]
			break
		}
		if n+1 == cap(b.items) || len(p.data) == 0 {
			break
		}
		if data = p.bytes(); p.bad {
			err = errMalformed
			break
		}
	}
	if len(b.items) == 0 {
		b.free()
		return nil, err
	}
	b.head.count = int32(len(b.items))
	return &b.head, err
}

func (r *typedReader[T]) call(data []byte, to Request, ctx context.Context) (*envelope, error) {
	var in T
	if err := decode(r.codec, r.code, data, &in); err != nil {
		return nil, err
	}
	c := r.of.call(in, to)
	c.ctx = ctx
	return &c.head, nil
}

// declared is a type that the peer has declared in this session. Only the session's reader uses it.
type declared struct {
	name    string
	writer  *native.Schema
	read    reader
	err     error // why it cannot be read
	answers []any // *native.Type[Out] for each Out that a caller waited for
	warned  bool  // it was logged that messages of the type cannot be read
}

// maxAnswerTypes bounds the decoders that are kept for one declared type.
const maxAnswerTypes = 64

// reader returns the decoder for messages of the type. It is an error if the type is not registered here or cannot be
// translated.
func (d *declared) reader(node string) (reader, error) {
	if d.read == nil && d.err == nil {
		known, ok := registered.Load(d.name)
		if !ok { // it may be later
			return nil, problem(ErrNotHandled, node, "no behaviour here handles %s, and it is not registered", d.name)
		}
		d.read, d.err = known.(typedKind).reader(d.writer)
	}
	return d.read, d.err
}

// answerOf returns the decoder for answers of a declared type to a caller that waits for an Out.
func answerOf[Out any](d *declared) (*native.Type[Out], error) {
	for _, known := range d.answers {
		if c, ok := known.(*native.Type[Out]); ok {
			return c, nil
		}
	}
	if name := typeName(reflect.TypeFor[Out]()); name != d.name {
		return nil, sabir.Errorf(ErrNotHandled.Code, ErrNotHandled.Name, "%s: it is %s that came, not %s", ErrNotHandled.Message, d.name, name)
	}
	c := native.For[Out]()
	if err := c.Err(); err != nil {
		return nil, sabir.Errorf(ErrNoWireForm.Code, ErrNoWireForm.Name, "answers cannot come as %s: %w", reflect.TypeFor[Out](), err)
	}
	if c.Schema().Hash() != d.writer.Hash() {
		var err error
		if c, err = c.From(d.writer); err != nil {
			return nil, sabir.Errorf(ErrNotHandled.Code, ErrNotHandled.Name, "the process answers with %s, which is no %s: %w", d.name, reflect.TypeFor[Out](), err)
		}
	}
	if len(d.answers) < maxAnswerTypes {
		d.answers = append(d.answers, c)
	}
	return c, nil
}

// receiveAnswer decodes the answer that came from another node and completes the call.
func (w *waiter[Out]) receiveAnswer(from *session, turn uint64, d *declared, data []byte) {
	var out Out
	c, err := answerOf[Out](d)
	if err == nil {
		err = decode(c, hasCode[Out](), data, &out)
	}
	if err != nil {
		err = from.system.faults.contain("reading an answer from "+from.node, d.name, err)
	}
	if !w.claim(turn) {
		return
	}
	w.value, w.err = out, err
	w.done <- struct{}{}
}
