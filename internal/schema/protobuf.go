package schema

import (
	"encoding"
	"reflect"
	"strings"
)

var (
	binaryMarshaler   = reflect.TypeFor[encoding.BinaryMarshaler]()
	binaryUnmarshaler = reflect.TypeFor[encoding.BinaryUnmarshaler]()
	textMarshaler     = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// protoScalars are the types that scalars of Go have in Protocol Buffers.
var protoScalars = map[reflect.Kind]string{reflect.Bool: "bool", reflect.String: "string", reflect.Float32: "float", reflect.Float64: "double",
	reflect.Int: "int64", reflect.Int8: "int32", reflect.Int16: "int32", reflect.Int32: "int32", reflect.Int64: "int64",
	reflect.Uint: "uint64", reflect.Uint8: "uint32", reflect.Uint16: "uint32", reflect.Uint32: "uint32", reflect.Uint64: "uint64", reflect.Uintptr: "uint64"}

// protoType is the type that codec/protobuf writes values of t as, where their JSON is another: a UUID is a text there and 16 bytes here.
// "" says that the JSON tells it. another means that the JSON of a scalar is not the usual one of its kind.
func protoType(t reflect.Type, another bool) string {
	pointer := reflect.PointerTo(t)
	switch {
	case t == timeType, t == durationType, t.Kind() == reflect.Interface:
		return ""
	case pointer.Implements(binaryMarshaler) && pointer.Implements(binaryUnmarshaler):
		return "optional bytes"
	case pointer.Implements(textMarshaler) && pointer.Implements(textUnmarshaler):
		return "optional string"
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8, another && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "bytes"
	case another:
		return protoScalars[t.Kind()]
	}
	return ""
}

// protoKey is the type of a map's keys in Protocol Buffers; "" for texts, which they are in JSON.
func protoKey(t reflect.Type) string {
	if t == timeType {
		return "google.protobuf.Timestamp"
	}
	own := strings.TrimPrefix(protoType(t, true), "optional ")
	if t == durationType {
		own = "int64"
	}
	if own == "string" {
		return ""
	}
	return own
}

// present notes that a member which does not show it by null may be missing, for a pointer: with a number or a text Protocol Buffers
// must be told, or 0 would be the same as nothing, and a Go program must be told with all.
func present(s *Schema, t reflect.Type) {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() == reflect.Interface || strings.HasPrefix(s.ProtoType, "optional") {
		return
	}
	s.ProtoType = strings.TrimSpace("optional " + s.ProtoType)
}
