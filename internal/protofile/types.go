package protofile

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/protoname"
	"github.com/sabir-go/sabir/internal/schema"
)

const (
	emptyType     = "google.protobuf.Empty"
	valueType     = "google.protobuf.Value"
	structType    = "google.protobuf.Struct"
	nullType      = "google.protobuf.NullValue"
	timestampType = "google.protobuf.Timestamp"
	durationType  = "google.protobuf.Duration"
)

// imports are the files of the well-known types.
var imports = map[string]string{emptyType: "google/protobuf/empty.proto", valueType: "google/protobuf/struct.proto",
	structType: "google/protobuf/struct.proto", nullType: "google/protobuf/struct.proto",
	timestampType: "google/protobuf/timestamp.proto", durationType: "google/protobuf/duration.proto"}

// shape is the form of a schema as a field in proto3.
type shape struct {
	name     string // of the type; that of a map's values
	repeated bool
	isMap    bool
	key      string // of a map, where it is no string
	message  bool   // has presence without "optional"
	null     bool   // may be null
	present  bool   // zero is told from nothing
	note     string
}

func (s shape) single() bool { return !s.repeated && !s.isMap }

// label returns the text before the field's name: the type with its label.
func (s shape) label() string {
	switch {
	case s.isMap:
		return "map<" + cmp.Or(s.key, "string") + ", " + s.name + ">"
	case s.repeated:
		return "repeated " + s.name
	case (s.null || s.present) && !s.message:
		return "optional " + s.name
	}
	return s.name
}

// boxed reports whether the shape needs a message of its own to be in a list or a map, which hold no null; only pointers to structs are
// there as they are.
func (s shape) boxed() bool {
	_, known := imports[s.name]
	return !s.single() || s.null && (!s.message || known)
}

// shape returns the form of a schema as a field. place is the name for a message that has to be made for it.
func (f *file) shape(s *schema.Schema, place string) shape {
	present := optional(s)
	s, null := f.plain(s)
	out := f.bare(s, place)
	out.null = null || slices.Contains(s.Type, "null") && len(s.Type) > 1
	if (out.null || present) && !out.single() { // a pointer to a list
		out = shape{name: f.wrap(place+"Value", out), message: true}
	}
	out.present = present || optional(s)
	if path, ok := imports[out.name]; ok {
		f.imports[path] = true
		out.message = out.name != nullType
	}
	return out
}

func (f *file) bare(s *schema.Schema, place string) shape {
	if name, ok := typeName(s.Ref); ok {
		if message, ok := f.types[name]; ok {
			return shape{name: message, message: true}
		}
		return shape{name: valueType} // a type of no members, or one that is not there
	}
	kinds := withoutNull(s.Type)
	if own := strings.TrimPrefix(strings.TrimPrefix(s.ProtoType, "optional"), " "); own != "" && s.AdditionalProperties == nil {
		return shape{name: own}
	}
	if s.ProtoFields != nil {
		return f.object(s, place)
	}
	if len(kinds) != 1 {
		if len(s.Type) == 1 {
			return shape{name: nullType}
		}
		return shape{name: valueType}
	}
	switch kinds[0] {
	case "boolean":
		return shape{name: "bool"}
	case "integer":
		return integer(s)
	case "number":
		if s.Format == "float" {
			return shape{name: "float"}
		}
		return shape{name: "double"}
	case "string":
		return text(s)
	case "array":
		return f.list(s, place)
	case "object":
		return f.object(s, place)
	}
	return shape{name: valueType}
}

func integer(s *schema.Schema) shape {
	switch s.Format {
	case "duration-ns":
		return shape{name: durationType}
	case "int32", "int16", "int8":
		return shape{name: "int32"}
	case "uint32", "uint16", "uint8":
		return shape{name: "uint32"}
	case "uint64", "uint":
		return shape{name: "uint64"}
	}
	return shape{name: "int64"}
}

func text(s *schema.Schema) shape {
	switch {
	case s.ContentEncoding == "base64":
		return shape{name: "bytes"}
	case s.Format == "date-time":
		return shape{name: timestampType}
	}
	return shape{name: "string", note: enumNote(s)}
}

// list is a repeated field. Items that are lists or maps themselves, or may be null, need a message or a value between.
func (f *file) list(s *schema.Schema, place string) shape {
	if s.Items == nil {
		return shape{name: valueType, repeated: true, message: true}
	}
	item := f.element(s.Items, place+"Item")
	return shape{name: item.name, repeated: true, note: item.note}
}

// element is the form of what a list or a map holds. A list or a map in it has a message, which is known before what is inside, since that may be the same
// type: so is that of a struct without a name.
func (f *file) element(s *schema.Schema, place string) shape {
	if name, ok := f.begun[s]; ok {
		return shape{name: name, message: true}
	}
	if in, _ := f.plain(s); !holds(in) {
		out := f.shape(s, place)
		if out.boxed() {
			return shape{name: f.wrap(place, out), message: true}
		}
		return out
	}
	name := f.begin(s, place)
	defer delete(f.begun, s)
	f.fields(name, "", []row{{json: "value", shape: f.shape(s, place)}}, []int32{1})
	return shape{name: name, message: true}
}

// begin names the message of a schema, by which what is inside refers to it.
func (f *file) begin(s *schema.Schema, place string) string {
	name := f.taken.take(protoname.Message(place))
	f.begun[s] = name
	return name
}

// holds reports whether a schema is that of a list or a map, which an array of bytes is in JSON only.
func holds(s *schema.Schema) bool {
	return s.ProtoFields == nil && (s.AdditionalProperties != nil || s.Items != nil && strings.TrimPrefix(s.ProtoType, "optional") == "")
}

// object is a message of its own, a map, or a Struct where nothing is known of the members.
func (f *file) object(s *schema.Schema, place string) shape {
	if len(s.Fields()) > 0 {
		if name, ok := f.begun[s]; ok {
			return shape{name: name, message: true}
		}
		name := f.begin(s, place)
		defer delete(f.begun, s)
		f.message(name, s)
		return shape{name: name, message: true}
	}
	if s.AdditionalProperties == nil {
		return shape{name: structType}
	}
	value := f.element(s.AdditionalProperties, place+"Value")
	switch key := s.ProtoType; key {
	case "", "int32", "int64", "uint32", "uint64":
		return shape{name: value.name, isMap: true, key: key, note: value.note}
	default: // what Protocol Buffers has no maps by; entries are the same bytes as those of a map
		name := f.taken.take(protoname.Message(place + "Entry"))
		by := shape{name: key}
		if path, ok := imports[key]; ok {
			f.imports[path], by.message = true, true
		}
		value.present = false // as in a map
		f.fields(name, "", []row{{json: "key", shape: by}, {json: "value", shape: value}}, []int32{1, 2})
		return shape{name: name, repeated: true, message: true}
	}
}

// optional reports whether a value is told from none that is zero.
func optional(s *schema.Schema) bool { return strings.HasPrefix(s.ProtoType, "optional") }

// plain resolves alternatives with null, which it reports by true, and references to types that are no message.
func (f *file) plain(s *schema.Schema) (*schema.Schema, bool) {
	null := false
	for range 8 {
		if s == nil {
			return &schema.Schema{}, null
		}
		if name, ok := typeName(s.Ref); ok {
			t := f.api.Types[name]
			if t == nil || f.types[name] != "" {
				return s, null
			}
			s = t
			continue
		}
		if len(s.AnyOf) == 0 || len(s.Type) > 0 { // alternatives beside a type are rules, such as "omitempty,email" has
			return s, null
		}
		var rest []*schema.Schema
		for i := range s.AnyOf {
			if t := s.AnyOf[i].Type; len(t) == 1 && t[0] == "null" {
				null = true
				continue
			}
			rest = append(rest, &s.AnyOf[i])
		}
		if len(rest) != 1 {
			return &schema.Schema{}, null
		}
		s = rest[0]
	}
	return &schema.Schema{}, null // a type that is only made of itself
}

func typeName(reference string) (string, bool) {
	name, ok := strings.CutPrefix(reference, "#/$defs/")
	if !ok {
		return "", false
	}
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name), true
}
