// Package protobuf is the codec for the generated messages of Protocol Buffers
// (https://protobuf.dev/programming-guides/encoding). Importing it makes every call whose input and output are such
// messages travel in their own format:
//
//	import _ "github.com/sabir-go/sabir/codec/protobuf"
//
// It takes proto.Message values only: pointers to generated structs. Encoding and decoding are
// google.golang.org/protobuf's, which bounds nesting at 10,000 and checks UTF-8.
package protobuf

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/codec"
)

// Name is the name of this codec in URLs, flags and handshakes.
const Name = "protobuf"

func init() { codec.Register(protobuf{}) }

type protobuf struct{}

func (protobuf) Name() string { return Name }

var messageType = reflect.TypeFor[proto.Message]()

// Claims takes pointers to generated messages.
func (protobuf) Claims(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Implements(messageType)
}

// Append encodes v, a message or a pointer to a variable that holds one. A nil message is written as an empty one.
func (protobuf) Append(dst []byte, v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		if m, ok = held(v); !ok {
			return dst, refused(v)
		}
	}
	out, err := proto.MarshalOptions{}.MarshalAppend(dst, m)
	if err != nil {
		return dst, &codec.Error{Codec: Name, Offset: -1, Message: err.Error(), Err: err}
	}
	return out, nil
}

// Decode decodes into v, a message, which is emptied first, or a pointer to a variable for one, which gets a new one.
func (protobuf) Decode(data []byte, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		target := reflect.ValueOf(v)
		if target.Kind() != reflect.Pointer || target.IsNil() || !(protobuf{}).Claims(target.Type().Elem()) {
			return refused(v)
		}
		fresh := reflect.New(target.Type().Elem().Elem())
		target.Elem().Set(fresh)
		m = fresh.Interface().(proto.Message)
	}
	if err := proto.Unmarshal(data, m); err != nil {
		return &codec.Error{Codec: Name, Offset: -1, Message: err.Error(), Err: err}
	}
	return nil
}

// held is the message in the variable that v points to.
func held(v any) (proto.Message, bool) {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Type().Elem().Kind() != reflect.Pointer {
		return nil, false
	}
	m, ok := p.Elem().Interface().(proto.Message)
	return m, ok
}

func refused(v any) error {
	return &codec.Error{Codec: Name, Offset: -1, Message: fmt.Sprintf("%T is no protobuf message: want a pointer to a generated struct", v)}
}
