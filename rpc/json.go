package rpc

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"reflect"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/protobuf"
)

// protoJSON is the JSON of Protocol Buffers (https://protobuf.dev/programming-guides/json): 64-bit integers are strings, bytes base64,
// names in lower camel case. It is not the JSON of codec/json. Fields that the type does not have are skipped, or refused by
// strictProtoJSON.
var (
	protoJSON       = codec.Contained(jsonFormat{})
	strictProtoJSON = codec.Contained(jsonFormat{strict: true})
)

// jsonFormat goes by the descriptor of a type: from JSON to the message, and from there by codec/protobuf to the value.
type jsonFormat struct{ strict bool }

func (jsonFormat) Name() string { return "protojson" }

func (f jsonFormat) Decode(data []byte, v any) error {
	if len(data) == 0 {
		return protobuf.Decode(nil, v)
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
	return protobuf.Decode(wire, v)
}

func (f jsonFormat) Append(dst []byte, v any) ([]byte, error) {
	m, err := messageOf(v)
	if err != nil {
		return dst, err
	}
	wire, err := protobuf.Append(nil, v)
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
