package layout

import (
	"encoding"
	"errors"
	"reflect"
	"unsafe"
)

// Marshaler encodes a type by its own methods.
type Marshaler struct {
	typ     reflect.Type
	marshal func(v any, dst []byte) ([]byte, error) // v is a pointer to the type
	decode  func(v any, data []byte) error
}

// MarshalerOf returns how t encodes itself, and whether as Binary or as Text; nil for a type that does not. Both directions must be there; binary
// comes before text. A pointer type has none: it is a pointer to a type that has.
func MarshalerOf(t reflect.Type) (*Marshaler, Kind) {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return nil, 0
	}
	pt := reflect.PointerTo(t)
	switch {
	case pt.Implements(binaryMarshaler) && pt.Implements(binaryUnmarshaler):
		return &Marshaler{
			typ: t,
			marshal: func(v any, dst []byte) ([]byte, error) {
				if a, ok := v.(encoding.BinaryAppender); ok {
					return a.AppendBinary(dst)
				}
				b, err := v.(encoding.BinaryMarshaler).MarshalBinary()
				return append(dst, b...), err
			},
			decode: func(v any, data []byte) error { return v.(encoding.BinaryUnmarshaler).UnmarshalBinary(data) },
		}, Binary
	case pt.Implements(textMarshaler) && pt.Implements(textUnmarshaler):
		return &Marshaler{
			typ: t,
			marshal: func(v any, dst []byte) ([]byte, error) {
				if a, ok := v.(encoding.TextAppender); ok {
					return a.AppendText(dst)
				}
				b, err := v.(encoding.TextMarshaler).MarshalText()
				return append(dst, b...), err
			},
			decode: func(v any, data []byte) error {
				if err := CheckDigits(t, data); err != nil {
					return err
				}
				return v.(encoding.TextUnmarshaler).UnmarshalText(data)
			},
		}, Text
	}
	return nil, 0
}

// Append appends the result of the method of the value at at. The method gets a copy, since it may keep its receiver, and the value may be on
// a stack.
func (m *Marshaler) Append(dst []byte, at unsafe.Pointer) ([]byte, error) {
	own := reflect.New(m.typ)
	own.Elem().Set(reflect.NewAt(m.typ, at).Elem())
	out, err := m.marshal(own.Interface(), dst)
	if err == nil && len(out) < len(dst) {
		err = errors.New("it removed bytes that were not its own")
	}
	if err != nil {
		return dst, refuse(m.typ.String()+" cannot be encoded: ", err)
	}
	return out, nil
}

// Decode gives data to the method of a new value, and puts the value at at. The method must copy what it keeps, as
// encoding.BinaryUnmarshaler requires.
func (m *Marshaler) Decode(at unsafe.Pointer, data []byte) error {
	own := reflect.New(m.typ)
	if err := m.decode(own.Interface(), data); err != nil {
		return refuse(m.typ.String()+" cannot be decoded: ", err)
	}
	reflect.NewAt(m.typ, at).Elem().Set(own.Elem())
	return nil
}

// Marshal appends the result of the value's own MarshalBinary or MarshalText; t is Binary or Text.
func (t *Type) Marshal(dst []byte, at unsafe.Pointer) ([]byte, error) {
	return t.marshaler.Append(dst, at)
}

// Unmarshal gives data to the own method of a new value of type t, which is Binary or Text, and puts the value at at.
func (t *Type) Unmarshal(at unsafe.Pointer, data []byte) error { return t.marshaler.Decode(at, data) }

// refusal is an error of a value's method.
type refusal struct {
	text  string
	cause error
}

// refuse asks the cause for its text here, where a panic of its Error method is contained. Package fmt would recover that
// panic itself and put its value into the text, which goes to the peer.
func refuse(what string, cause error) error { return &refusal{what + cause.Error(), cause} }

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.cause }
