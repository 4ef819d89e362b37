package protobuf

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// message is the compiled form of a Go type: a struct, or a box around what is no message by itself.
type message struct {
	typ      *layout.Type
	fields   []field // by number
	byNumber map[protowire.Number]int
	arrays   int // how many of the fields are arrays

	entry bool // of a map that Protocol Buffers has as such
}

// shape is the number of times that a field may occur.
type shape uint8

const (
	single   shape = iota // not written where it is zero
	optional              // a pointer: written unless it is nil
	always                // written also where it is zero
	list
	array
	mapping
)

// kindDuration is the kind of a time.Duration, which other codecs take for the integer that it is.
const kindDuration = layout.Custom + 1

var durationType = reflect.TypeFor[time.Duration]()

// field is one field of a message.
type field struct {
	number protowire.Number
	tag    uint64 // as on the wire; of a packed list that of its bytes
	shape  shape
	packed bool
	value  value // of a list its element, of a map its entry
	typ    *layout.Type
	name   string
	step   string
	off    uintptr
	slot   int // of an array: its counter in a decoding
}

// value describes how one value is written after its tag.
type value struct {
	kind layout.Kind // Struct for a message, Pointer for a pointer to one, Map for an entry
	wire protowire.Type
	typ  *layout.Type
	msg  *message // of Struct, Pointer and Map
}

// plans holds every compiled type: reflect.Type to *message. It grows with the types of the program, never with input.
var plans sync.Map

var rules = layout.Rules{Tag: codecName, Custom: protobuf{}.Claims}

// planOf returns the plan of t, compiling it on first use. That of a pointer to a struct is the struct's.
func planOf(t reflect.Type) (*message, *codec.Error) {
	if known, ok := plans.Load(t); ok {
		return known.(*message), nil
	}
	described, err := layout.Of(t, rules)
	if err != nil {
		return nil, fault(-1, err.Error())
	}
	if described.Kind == layout.Pointer && described.Elem.Kind == layout.Struct {
		described = described.Elem
	}
	c := compiler{messages: make(map[*layout.Type]*message), boxes: make(map[*layout.Type]*layout.Type)}
	compiled, err := c.message(c.asMessage(described))
	if err != nil {
		return nil, fault(-1, err.Error())
	}
	kept, _ := plans.LoadOrStore(t, compiled)
	return kept.(*message), nil
}

// compiler is one compilation: a type and all below it.
type compiler struct {
	messages map[*layout.Type]*message
	boxes    map[*layout.Type]*layout.Type
}

// asMessage is t where it is a struct, else a box around it.
func (c *compiler) asMessage(t *layout.Type) *layout.Type {
	if t.Kind == layout.Struct {
		return t
	}
	if c.boxes[t] == nil {
		c.boxes[t] = layout.Box(t)
	}
	return c.boxes[t]
}

// message returns the unfinished message while t is being compiled.
func (c *compiler) message(t *layout.Type) (*message, error) {
	if known, ok := c.messages[t]; ok {
		return known, nil
	}
	if !t.Boxed && t.Go.Kind() == reflect.Struct && reflect.PointerTo(t.Go).Implements(messageType) {
		return nil, fmt.Errorf("%s is a generated message, which is used by its pointer only", t.Go)
	}
	m := &message{typ: t, byNumber: make(map[protowire.Number]int)}
	c.messages[t] = m
	next := protowire.Number(1)
	for _, described := range t.Fields {
		number, err := numberOf(described, next)
		if err != nil {
			return nil, fmt.Errorf("%w (field %s of %s)", err, described.GoName, t.Go)
		}
		f, err := c.field(described.Type)
		if err != nil {
			return nil, err
		}
		f.name, f.step, f.off = described.Name, described.Step, described.Offset
		f.setNumber(number)
		if f.shape == array {
			f.slot = m.arrays
			m.arrays++
		}
		if other, taken := m.byNumber[number]; taken {
			return nil, fmt.Errorf("fields %s and %s of %s both have number %d", m.fields[other].name, f.name, t.Go, number)
		}
		m.byNumber[number] = len(m.fields)
		m.fields = append(m.fields, f)
		next = number + 1
	}
	return m, nil
}

// numberOf returns the number in the tag, or the number after that of the field before.
func numberOf(f layout.Field, next protowire.Number) (protowire.Number, error) {
	tag, ok := f.Tag.Lookup(codecName)
	if !ok {
		tag = strconv.Itoa(int(next))
	}
	n, err := strconv.ParseInt(tag, 10, 32)
	if number := protowire.Number(n); err == nil && number.IsValid() && (number < protowire.FirstReservedNumber || number > protowire.LastReservedNumber) {
		return number, nil
	}
	return 0, fmt.Errorf("%q is no number of a field: want 1 to %d without %d to %d",
		tag, protowire.MaxValidNumber, protowire.FirstReservedNumber, protowire.LastReservedNumber)
}

func (f *field) setNumber(number protowire.Number) {
	f.number = number
	wire := f.value.wire
	if f.packed {
		wire = protowire.BytesType
	}
	f.tag = protowire.EncodeTag(number, wire)
}

// field compiles a field of type t, but for what only its struct knows.
func (c *compiler) field(t *layout.Type) (f field, err error) {
	f.typ = t
	switch t.Kind {
	case layout.Pointer:
		f.shape = optional
		t = t.Elem
		if t.Kind == layout.Any || t.Kind == layout.Pointer { // which may be nil as well
			t = c.asMessage(t)
		}
		f.value, err = c.value(t)
	case layout.Slice, layout.Array:
		f.shape = list
		if t.Kind == layout.Array {
			f.shape = array
		}
		f.value, err = c.value(t.Elem)
		f.packed = f.value.wire != protowire.BytesType
	case layout.Map:
		f.shape = mapping
		f.value, err = c.entry(t)
	default:
		if t.Kind == layout.Binary || t.Kind == layout.Text {
			f.shape = always
		}
		f.value, err = c.value(t)
	}
	return f, err
}

// value compiles a value that is not a field: an element, the target of a pointer, a key or value of a map.
func (c *compiler) value(t *layout.Type) (v value, err error) {
	v = value{kind: t.Kind, typ: t, wire: protowire.BytesType}
	if t.Go == durationType {
		v.kind = kindDuration
		return v, nil
	}
	switch t.Kind {
	case layout.Bool, layout.Int8, layout.Int16, layout.Int32, layout.Int64, layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64:
		v.wire = protowire.VarintType
	case layout.Float32:
		v.wire = protowire.Fixed32Type
	case layout.Float64:
		v.wire = protowire.Fixed64Type
	case layout.Struct:
		v.msg, err = c.message(t)
	case layout.Pointer:
		if t.Elem.Kind == layout.Struct {
			v.msg, err = c.message(t.Elem)
			break
		}
		v.kind = layout.Struct
		v.msg, err = c.message(c.asMessage(t))
	case layout.Slice, layout.Array, layout.Map:
		v.kind = layout.Struct
		v.msg, err = c.message(c.asMessage(t))
	}
	return v, err
}

// entry compiles the message that a map repeats: field 1 is the key and field 2 the value. Its fields do not lie in
// one struct: their addresses are those of layout.Entries.
func (c *compiler) entry(t *layout.Type) (value, error) {
	m := &message{typ: t, byNumber: map[protowire.Number]int{1: 0, 2: 1}}
	for i, part := range []*layout.Type{t.Key, t.Elem} {
		v, err := c.value(part)
		if err != nil {
			return value{}, err
		}
		if i == 0 && v.kind == kindDuration { // a message is no key
			v.kind, v.wire = layout.Int64, protowire.VarintType
		}
		f := field{value: v, typ: part, shape: always, name: [...]string{"key", "value"}[i]}
		f.setNumber(protowire.Number(i + 1))
		m.fields = append(m.fields, f)
	}
	switch t.Key.Kind {
	case layout.Float32, layout.Float64, layout.Bytes, layout.ByteArray, layout.Binary, layout.Time, layout.Struct, layout.Array:
	default:
		m.entry = true
	}
	return value{kind: layout.Map, typ: t, wire: protowire.BytesType, msg: m}, nil
}

// fault makes an error of this codec at an unknown place. The path is put before it on the way out.
func fault(offset int, text string) *codec.Error {
	return &codec.Error{Codec: codecName, Offset: int64(offset), Message: text}
}
