package native

import (
	"encoding"
	"reflect"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// marshaler encodes a type by its own methods.
type marshaler struct {
	typ     reflect.Type
	marshal func(v any, dst []byte) ([]byte, error) // v is a pointer to a typ
	decode  func(v any, data []byte) error
}

var (
	binaryMarshaler   = reflect.TypeFor[encoding.BinaryMarshaler]()
	binaryUnmarshaler = reflect.TypeFor[encoding.BinaryUnmarshaler]()
	textMarshaler     = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// marshalerOf returns how t encodes itself, or nil. Both directions must be there; binary comes before text. A pointer
// type has none: it is a pointer to a type that has.
func marshalerOf(t reflect.Type) (*marshaler, valueKind) {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return nil, 0
	}
	m, pt := &marshaler{typ: t}, reflect.PointerTo(t)
	switch {
	case pt.Implements(binaryMarshaler) && pt.Implements(binaryUnmarshaler):
		m.marshal = func(v any, dst []byte) ([]byte, error) {
			if a, ok := v.(encoding.BinaryAppender); ok {
				return a.AppendBinary(dst)
			}
			b, err := v.(encoding.BinaryMarshaler).MarshalBinary()
			return append(dst, b...), err
		}
		m.decode = func(v any, data []byte) error { return v.(encoding.BinaryUnmarshaler).UnmarshalBinary(data) }
		return m, binaryKind
	case pt.Implements(textMarshaler) && pt.Implements(textUnmarshaler):
		m.marshal = func(v any, dst []byte) ([]byte, error) {
			if a, ok := v.(encoding.TextAppender); ok {
				return a.AppendText(dst)
			}
			b, err := v.(encoding.TextMarshaler).MarshalText()
			return append(dst, b...), err
		}
		m.decode = func(v any, data []byte) error {
			if err := layout.CheckDigits(t, data); err != nil {
				return err
			}
			return v.(encoding.TextUnmarshaler).UnmarshalText(data)
		}
		return m, textKind
	}
	return nil, 0
}

func hasMarshaler(t reflect.Type) bool {
	m, _ := marshalerOf(t)
	return m != nil
}

// appendValue calls the method on a copy, since a method may keep its receiver and the value may be on a stack.
func (m *marshaler) appendValue(dst []byte, at unsafe.Pointer) ([]byte, *codec.Error) {
	own := reflect.New(m.typ)
	own.Elem().Set(reflect.NewAt(m.typ, at).Elem())
	start := len(dst) + 1
	out, err := m.marshal(own.Interface(), append(dst, 0))
	if err != nil {
		return dst, m.refused(-1, "cannot be encoded", err)
	}
	if len(out) < start {
		return dst, encodeFault(m.typ.String() + " removed bytes that were not its own")
	}
	return closeLength(out, start), nil
}

func (m *marshaler) refused(offset int, what string, err error) *codec.Error {
	f := fault(offset, m.typ.String()+" "+what+": "+err.Error())
	f.Err = err
	return f
}

func (d *decoder) marshaler(m *marshaler, at unsafe.Pointer) {
	start := d.pos
	data := d.take(d.uvarint())
	if d.fault != nil {
		return
	}
	own := reflect.New(m.typ)
	// The method must copy what it keeps (encoding.BinaryUnmarshaler), so data is safe in both modes.
	if err := m.decode(own.Interface(), data); err != nil {
		d.fault = m.refused(start, "cannot be decoded", err)
		return
	}
	reflect.NewAt(m.typ, at).Elem().Set(own.Elem())
}
