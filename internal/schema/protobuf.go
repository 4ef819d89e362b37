package schema

import (
	"encoding"
	"reflect"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/layout"
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

// Fields are the fields that an object has in Protocol Buffers.
func (s *Schema) Fields() Properties {
	if s.ProtoFields != nil {
		return s.ProtoFields
	}
	return s.Properties
}

// protoRules are those by which codec/protobuf finds the fields of a struct.
var protoRules = layout.Rules{Tag: "protobuf", Opaque: func(t reflect.Type) bool {
	own, _ := layout.MarshalerOf(t)
	return own != nil || t == timeType
}}

// protoFields notes the fields of a struct where codec/protobuf has others than the JSON: an embedded pointer is a field with a message of its
// own, and what one of the two skips by its tag the other may have. Members are those of the JSON that s has already. A type that has no fields in
// Protocol Buffers, since one of them cannot be described, may be all the same in JSON.
func (b *builder) protoFields(s *Schema, t reflect.Type, members []member) {
	fields, _ := protoRules.Members(t)
	sameField := func(m member, f layout.Member) bool { return slices.Equal(m.Index, f.Index) }
	if slices.EqualFunc(members, fields, sameField) {
		return
	}
	if b.set.listing == nil {
		b.set.listing = make(map[reflect.Type]bool)
	}
	if b.set.listing[t] { // it has itself inside
		return
	}
	b.set.listing[t] = true
	defer delete(b.set.listing, t)
	var list Properties
	for _, f := range fields {
		known := slices.IndexFunc(members, func(m member) bool { return sameField(m, f) })
		if known >= 0 {
			list = append(list, s.Properties[known])
			continue
		}
		of, err := b.protoField(member{f, true})
		if err != nil {
			return
		}
		list = append(list, Property{f.Name, of})
	}
	s.ProtoFields = list
}

// protoField describes a field that is no member. What it embeds is described in its place, so that documents of the JSON get no type that nothing
// in them refers to.
func (b *builder) protoField(m member) (*Schema, error) {
	inner := m.Type
	if inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	if inner.Kind() != reflect.Struct || !m.Anonymous && !m.Has("embed") || protoRules.Opaque(inner) || b.set.listing[inner] {
		v, err := b.member(m)
		return v.schema, err
	}
	s := &Schema{Type: Types{"object"}}
	if _, err := b.members(s, inner, true); err != nil {
		return nil, err
	}
	return s, b.annotate(s, m)
}

// ownFields notes the fields of a struct whose JSON is made by its methods.
func (b *builder) ownFields(s *Schema, t reflect.Type) {
	if t.Kind() == reflect.Struct && s.ProtoType == "" {
		b.protoFields(s, t, nil)
	}
}
