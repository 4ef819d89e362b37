package protobuf

import (
	"fmt"
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// codecName is the name of this codec in URLs, flags and handshakes.
const codecName = "protobuf"

// Codec is the one that package codec/protobuf exports.
var Codec = codec.Contained(protobuf{})

func init() { codec.Register(Codec) }

type protobuf struct{}

func (protobuf) Name() string { return codecName }

var messageType = reflect.TypeFor[proto.Message]()

// Claims takes pointers to generated messages.
func (protobuf) Claims(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Implements(messageType)
}

func (protobuf) Append(dst []byte, v any) ([]byte, error) {
	if m, ok := v.(proto.Message); ok {
		return appendProto(dst, m)
	}
	t, at, ok := layout.Source(v)
	if !ok {
		return dst, fault(-1, "a nil pointer has no value to encode")
	}
	if t.Kind() == reflect.Pointer && t.Implements(messageType) {
		return appendProto(dst, reflect.ValueOf(v).Elem().Interface().(proto.Message))
	}
	m, err := planOf(t)
	if err != nil {
		return dst, err
	}
	if m.typ.Go != t { // a pointer to a struct
		if at = *(*unsafe.Pointer)(at); at == nil {
			return dst, nil
		}
	}
	out, err := appendMessage(dst, m, at, layout.MaxDepth)
	if err != nil {
		return dst, err
	}
	return out, nil
}

func appendProto(dst []byte, m proto.Message) ([]byte, error) {
	out, err := proto.MarshalOptions{}.MarshalAppend(dst, m)
	if err != nil {
		return dst, &codec.Error{Codec: codecName, Offset: -1, Message: err.Error(), Err: err}
	}
	return out, nil
}

func (protobuf) Decode(data []byte, v any) error {
	if m, ok := v.(proto.Message); ok {
		return decodeProto(data, v, m)
	}
	t, at, ok := layout.Target(v)
	if !ok {
		return fault(-1, fmt.Sprintf("Decode needs a pointer that is not nil, got %T", v))
	}
	if t.Kind() == reflect.Pointer && t.Implements(messageType) {
		fresh := reflect.New(t.Elem())
		reflect.ValueOf(v).Elem().Set(fresh)
		return decodeProto(data, v, fresh.Interface().(proto.Message))
	}
	m, err := planOf(t)
	if err != nil {
		return err
	}
	if m.typ.Go != t { // a pointer to a struct
		fresh := reflect.New(m.typ.Go)
		reflect.ValueOf(v).Elem().Set(fresh)
		at = fresh.UnsafePointer()
	}
	m.typ.Zero(at)
	d := decoder{data: data}
	if err := d.message(m, data, at, layout.MaxDepth); err != nil {
		return err
	}
	return nil
}

func decodeProto(data []byte, v any, m proto.Message) error {
	if !m.ProtoReflect().IsValid() {
		return fault(-1, fmt.Sprintf("Decode needs a pointer that is not nil, got a nil %T", v))
	}
	if err := proto.Unmarshal(data, m); err != nil {
		return &codec.Error{Codec: codecName, Offset: -1, Message: err.Error(), Err: err}
	}
	return nil
}
