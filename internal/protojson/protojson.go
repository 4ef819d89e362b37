// Package protojson is the JSON of Protocol Buffers (https://protobuf.dev/programming-guides/json) for values that package codec/protobuf writes: 64-bit
// integers are strings, bytes base64, names in lower camel case. It is not the JSON of codec/json.
package protojson

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"reflect"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/protobuf"
)

// Codec skips fields that the type does not have, and Strict refuses them.
var (
	Codec  = codec.Contained(format{})
	Strict = codec.Contained(format{strict: true})
)

// format goes by the descriptor of a type: from JSON to the message, and from there by codec/protobuf to the value.
type format struct{ strict bool }

// Name implements codec.Codec.
func (format) Name() string { return "protojson" }

// Decode implements codec.Codec.
func (f format) Decode(data []byte, v any) error {
	if len(data) == 0 {
		return protobuf.Codec.Decode(nil, v)
	}
	m, err := messageOf(v)
	if err != nil {
		return err
	}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: !f.strict}).Unmarshal(data, m); err != nil {
		return &codec.Error{Codec: f.Name(), Offset: -1, Message: err.Error(), Err: err}
	}
	wire, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	return protobuf.Codec.Decode(wire, v)
}

// Append implements codec.Codec.
func (f format) Append(dst []byte, v any) ([]byte, error) {
	m, err := messageOf(v)
	if err != nil {
		return dst, err
	}
	wire, err := protobuf.Codec.Append(nil, v)
	if err != nil {
		return dst, err
	}
	if err := proto.Unmarshal(wire, m); err != nil {
		return dst, err
	}
	text, err := protojson.Marshal(m)
	if err != nil {
		return dst, &codec.Error{Codec: f.Name(), Offset: -1, Message: err.Error(), Err: err}
	}
	out := bytes.NewBuffer(dst)
	if err := stdjson.Compact(out, text); err != nil { // the library puts spaces where it likes
		return dst, err
	}
	return out.Bytes(), nil
}

// messageOf is an empty message for what v points to.
func messageOf(v any) (*dynamicpb.Message, error) {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil, errors.New("a value has to be given by its pointer")
	}
	d, err := protobuf.Descriptor(t.Elem())
	if err != nil {
		return nil, err
	}
	return dynamicpb.NewMessage(d), nil
}
