package layout

import (
	"encoding"
	"fmt"
	"reflect"
	"unsafe"
)

// marshaler encodes a type by its own methods.
type marshaler struct {
	marshal func(v any, dst []byte) ([]byte, error) // v is a pointer to the type
	decode  func(v any, data []byte) error
}

// marshalerOf returns how t encodes itself, or nil. Both directions must be there; binary comes before text. A pointer
// type has none: it is a pointer to a type that has.
func marshalerOf(t reflect.Type) (*marshaler, Kind) {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return nil, 0
	}
	pt := reflect.PointerTo(t)
	switch {
	case pt.Implements(binaryMarshaler) && pt.Implements(binaryUnmarshaler):
		return &marshaler{
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
		return &marshaler{
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

// Marshal appends the result of the value's own MarshalBinary or MarshalText; t is Binary or Text. The method gets a copy, since
// it may keep its receiver.
func (t *Type) Marshal(dst []byte, at unsafe.Pointer) ([]byte, error) {
	own := reflect.New(t.Go)
	own.Elem().Set(reflect.NewAt(t.Go, at).Elem())
	out, err := t.marshaler.marshal(own.Interface(), dst)
	if err != nil {
		return dst, refuse(t.Go.String()+" cannot be encoded: ", err)
	}
	if len(out) < len(dst) {
		return dst, fmt.Errorf("%s removed bytes that were not its own", t.Go)
	}
	return out, nil
}

// Unmarshal gives data to the own method of a new value of type t, which is Binary or Text, and puts the value at at. The
// method must copy what it keeps, as encoding.BinaryUnmarshaler requires.
func (t *Type) Unmarshal(at unsafe.Pointer, data []byte) error {
	own := reflect.New(t.Go)
	if err := t.marshaler.decode(own.Interface(), data); err != nil {
		return refuse(t.Go.String()+" cannot be decoded: ", err)
	}
	reflect.NewAt(t.Go, at).Elem().Set(own.Elem())
	return nil
}

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
