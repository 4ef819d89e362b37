package actor

import (
	"context"
	"encoding/binary"
	"reflect"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/native"
)

// errNoWireForm: a value cannot be sent to another node, since its type, or what is in it, has no form in the native codec.
var errNoWireForm = sabir.NewError(sabir.CodeInvalidArgument, "NoWireForm", "the value cannot be sent to another node")

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

// outgoing is a body whose values can be written for another node: a *batch[T] or a *call[T].
type outgoing interface {
	body
	// values is how many there are.
	values() int
	// pointer points to one of them.
	pointer(i int) any
}

// growing is a *batch[T] into which values are read that came from another node.
type growing interface {
	outgoing
	// grow adds a zero value and returns a pointer to it.
	grow() any
	// shrink takes out the last value.
	shrink()
	full() bool
}

// coded is the native codec of the type, compiled when first needed: most messages never leave their node.
func (k *kind) coded() (*native.Dynamic, error) {
	if c := k.codec.Load(); c != nil {
		return c, nil
	}
	c, err := native.Of(k.of)
	if err != nil {
		return nil, noWireForm(k.name, err)
	}
	k.codec.Store(c)
	return c, nil
}

func noWireForm(name string, err error) error {
	return sabir.Errorf(errNoWireForm.Code, errNoWireForm.Name, "%s: %s: %w", errNoWireForm.Message, name, err)
}

// encode appends values from the one at i on, each with its length before it, while dst is not longer than limit; at least
// one. next is the first that was not appended. Where one cannot be encoded, next is the one after it.
func encode(dst []byte, values outgoing, i, limit int) (out []byte, next int, err error) {
	c, err := values.kind().coded()
	if err != nil {
		return dst, i + 1, err
	}
	for first, end := i, values.values(); i < end; i++ {
		start := len(dst)
		if dst, err = c.AppendValue(append(dst, 0), values.pointer(i)); err != nil {
			return dst[:start], i + 1, noWireForm(values.kind().name, err)
		}
		dst = closeValue(dst, start)
		if len(dst) > limit && i > first {
			return dst[:start], i, nil
		}
	}
	return dst, i, nil
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

// reader reads values of one type that came from another node.
type reader struct {
	of    *kind
	codec *native.Dynamic
	code  bool // see hasCode
}

// reader makes the reader of values that were written with another schema.
func (k *kind) reader(writer *native.Schema) (*reader, error) {
	c, err := k.coded()
	if err != nil {
		return nil, err
	}
	if c.Schema().Hash() != writer.Hash() {
		if c, err = c.From(writer); err != nil {
			return nil, noWireForm(k.name, err)
		}
	}
	return &reader{k, c, hasCode(k.of)}, nil
}

// envelope reads as many of the values as go together. A value that its type refuses is left out: then there is an error,
// and an envelope only if there were others before it.
func (r *reader) envelope(p *postReader) (*envelope, error) {
	data := p.bytes()
	if p.bad {
		return nil, errMalformed
	}
	b := r.of.typed.emptyBatch(len(p.data) == 0)
	var err error
	for {
		if err = decode(r.codec, r.code, data, b.grow()); err != nil {
			b.shrink()
			break
		}
		if b.full() || len(p.data) == 0 {
			break
		}
		if data = p.bytes(); p.bad {
			err = errMalformed
			break
		}
	}
	if b.values() == 0 {
		b.free()
		return nil, err
	}
	e := b.envelope()
	e.count = int32(b.values())
	return e, err
}

// call reads one value.
func (r *reader) call(data []byte, to Request, ctx context.Context) (*envelope, error) {
	c := r.of.typed.emptyCall(to, ctx)
	if err := decode(r.codec, r.code, data, c.pointer(0)); err != nil {
		c.free()
		return nil, err
	}
	return c.envelope(), nil
}

// declared is a type that the peer has declared in this session. Only the session's reader uses it.
type declared struct {
	name    string
	writer  *native.Schema
	read    *reader
	err     error          // why it cannot be read
	answers []answerReader // for each type that a caller waited for
	warned  bool           // it was logged that messages of the type cannot be read
}

// maxAnswerTypes bounds the decoders that are kept for one declared type.
const maxAnswerTypes = 64

// reader returns the decoder for messages of the type. It is an error if the type is not registered here or cannot be
// translated.
func (d *declared) reader(node string) (*reader, error) {
	if d.read == nil && d.err == nil {
		known, ok := registered.Load(d.name)
		if !ok { // it may be later
			return nil, problem(ErrNotHandled, node, "no behaviour here handles %s, and it is not registered", d.name)
		}
		d.read, d.err = known.(typedKind).kind().reader(d.writer)
	}
	return d.read, d.err
}

// answerReader reads answers as the type that a caller waits for.
type answerReader struct {
	of    reflect.Type
	codec *native.Dynamic
}

// readAnswer reads the answer of a declared type, to a caller that waits for an out of type t, into what v points to.
func (d *declared) readAnswer(t reflect.Type, data []byte, v any) error {
	for _, known := range d.answers {
		if known.of == t {
			return decode(known.codec, hasCode(t), data, v)
		}
	}
	if name := typeName(t); name != d.name {
		return sabir.Errorf(ErrNotHandled.Code, ErrNotHandled.Name, "%s: it is %s that came, not %s", ErrNotHandled.Message, d.name, name)
	}
	c, err := native.Of(t)
	if err != nil {
		return sabir.Errorf(errNoWireForm.Code, errNoWireForm.Name, "answers cannot come as %s: %w", t, err)
	}
	if c.Schema().Hash() != d.writer.Hash() {
		if c, err = c.From(d.writer); err != nil {
			return sabir.Errorf(ErrNotHandled.Code, ErrNotHandled.Name, "the process answers with %s, which is no %s: %w", d.name, t, err)
		}
	}
	if len(d.answers) < maxAnswerTypes {
		d.answers = append(d.answers, answerReader{t, c})
	}
	return decode(c, hasCode(t), data, v)
}

// receiveAnswer decodes the answer that came from another node and completes the call.
func (w *waiter[Out]) receiveAnswer(from *session, turn uint64, d *declared, data []byte) {
	var out Out
	err := d.readAnswer(reflect.TypeFor[Out](), data, &out)
	if err != nil {
		err = from.system.faults.contain("reading an answer from "+from.node, d.name, err)
	}
	if !w.claim(turn) {
		return
	}
	w.value, w.err = out, err
	w.done <- struct{}{}
}
