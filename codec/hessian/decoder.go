package hessian

import (
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// Decoder reads several values from one stream, as the body of a Dubbo message is: they share one numbering of values, of
// classes and of types, so that the second argument may refer to the first.
//
// One goroutine at a time may use a Decoder. The data must not change between the calls; nothing that was decoded refers
// to it.
type Decoder struct {
	data     []byte
	pos      int
	promised int // bytes behind pos that belong to elements already counted
	depth    int
	fault    *codec.Error

	unregistered, converting bool

	refs     []numbered
	next     int // the number of the next value: less than len(refs) while a value is read once more
	views    map[view]unsafe.Pointer
	reread   int // bytes that were read more than once
	repeated int // bytes that references by value stand for
	defs     []definition
	nextDef  int
	types    []string // parts of the data
	nextTyp  int
	names    []string // of the fields of all definitions: parts of the data

	// What is left of the memory for small values, which goes to the next message.
	block   []byte
	texts   []string
	doubles []float64
}

// NewDecoder returns a Decoder of data.
func NewDecoder(data []byte) *Decoder { return &Decoder{data: data} }

// Decode reads the next value into v, a non-nil pointer. The error is a [*codec.Error]; after one the Decoder returns it
// again until it is reset, since it does not know where the next value would begin. It never panics: where a method of the
// value does, the error wraps a [codec.PanicError].
func (d *Decoder) Decode(v any) (err error) {
	defer remember(&err, &d.fault)
	defer codec.Contain(codecName, &err)
	if d.fault != nil {
		return d.fault
	}
	p, at, err := targetOf(v)
	if err != nil {
		return err
	}
	if !d.value(p, at) {
		return d.fault
	}
	return nil
}

// Skip reads the next value without keeping it. Later values may refer to it.
func (d *Decoder) Skip() error {
	if d.fault != nil || !d.skip() {
		return d.fault
	}
	return nil
}

// Len returns how many bytes have not been read yet. It is 0 after the last value.
func (d *Decoder) Len() int { return len(d.data) - d.pos }

// Unregistered makes an any take each object as an [Object] until the Decoder is reset, whether a Go struct is registered for its class or
// not: for those who look at values as the wire has them.
func (d *Decoder) Unregistered() { d.unregistered = true }

// Reset starts a new stream. It forgets all values and the error.
func (d *Decoder) Reset(data []byte) {
	d.clear()
	d.data = data
}

// keptRefs is the most capacity that a Decoder in the pool keeps, in entries.
const keptRefs = 1024

func (d *Decoder) release() {
	d.clear()
	decoders.Put(d)
}

func (d *Decoder) clear() {
	clear(d.refs)
	clear(d.defs)
	clear(d.types)
	clear(d.names)
	d.refs, d.defs, d.types, d.names = d.refs[:0], d.defs[:0], d.types[:0], d.names[:0]
	if cap(d.refs) > keptRefs {
		d.refs = nil
	}
	if cap(d.defs)+cap(d.types)+cap(d.names) > keptRefs {
		d.defs, d.types, d.names = nil, nil, nil
	}
	if cap(d.block) > blockBytes {
		d.block = nil
	}
	d.data, d.fault, d.views, d.unregistered, d.converting = nil, nil, nil, false, false
	d.pos, d.promised, d.depth, d.next, d.reread, d.repeated, d.nextDef, d.nextTyp = 0, 0, 0, 0, 0, 0, 0, 0
}

// fail records a fault at the current place and returns false.
func (d *Decoder) fail(message string) bool {
	if d.fault == nil {
		d.fault = fault(d.pos, message)
	}
	return false
}

// mismatch records that the value at the current place is not what is wanted.
func (d *Decoder) mismatch(want string) bool {
	if d.fault == nil {
		got := "the end of the data"
		if d.pos < len(d.data) {
			got = kindNames[kinds[d.data[d.pos]]]
		}
		d.fault = &codec.Error{Codec: codecName, Offset: int64(d.pos), Want: want, Got: got}
	}
	return false
}

func (d *Decoder) byte() byte {
	if d.pos >= len(d.data) {
		d.fail(endsEarly)
		return 0
	}
	b := d.data[d.pos]
	d.pos++
	return b
}

// peek returns the next byte, or 0 and a fault.
func (d *Decoder) peek() byte {
	if d.pos >= len(d.data) {
		d.fail(endsEarly)
		return 0
	}
	return d.data[d.pos]
}

// take returns the next n bytes of the data itself, or nil and a fault.
func (d *Decoder) take(n int) []byte {
	if n > len(d.data)-d.pos {
		d.fail(endsEarly)
		return nil
	}
	start := d.pos
	d.pos += n
	return d.data[start:d.pos:d.pos]
}

// promise checks that n elements of at least one byte each can follow, and keeps those bytes for them: lists inside
// the elements cannot claim them once more.
func (d *Decoder) promise(n int) bool {
	if free := len(d.data) - d.pos - d.promised; n > free {
		return d.fail("a count of more elements than there are bytes left")
	}
	d.promised += n
	return true
}

// enter counts one more level and reports whether it is allowed.
func (d *Decoder) enter() bool {
	if d.depth == maxDepth {
		return d.fail(tooDeep)
	}
	d.depth++
	return true
}

// atEnd takes the end of a list or map if it is next.
func (d *Decoder) atEnd() bool {
	if d.peek() == tagEnd {
		d.pos++
		return true
	}
	return d.fault != nil
}
