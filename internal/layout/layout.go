// Package layout describes how a Go type lies in memory and what its fields are called: what a codec needs to know to
// compile a type once and then read and write values without reflect. The codecs avro, protobuf and thrift are built
// on it.
//
// The struct tags of encoding/json are the one source of names, so that a struct works with each codec unchanged:
//
//	Total  int64  `json:"total"`    // named "total"
//	Total  int64                    // named "Total"
//	Cache  string `json:"-"`        // skipped
//	secret string                   // unexported: skipped
//
// The fields of an embedded struct count as fields of the outer struct unless a tag names it; which of two fields with
// the same name counts is decided as in encoding/json. An embedded pointer is an ordinary field unless the rules of the
// codec have Inline. [Rules.Members] is the one place that decides this, for codecs and for other code that refers to
// fields by their names. Tag options such as omitempty define the form of JSON and have no meaning here.
//
// A program has no need of this package unless it writes a codec.
package layout

import (
	"encoding"
	"fmt"
	"reflect"
	"sync"
	"time"
)

// MaxDepth is the depth to which pointers, slices, arrays, maps, structs and interfaces may nest in one value. The codecs on
// this package enforce it in both directions, so a value that contains itself is an error.
const MaxDepth = 128

// Kind is the memory layout of a value. Named types have the kind of what they are made of.
type Kind uint8

// The kinds. Int and Uint of Go have the kind of their size.
const (
	Bool Kind = iota + 1
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	String
	Bytes     // a slice of bytes
	ByteArray // an array of bytes
	Time      // time.Time
	Binary    // a type with MarshalBinary and UnmarshalBinary
	Text      // a type with MarshalText and UnmarshalText, and without the above
	Any       // an interface without methods
	Pointer
	Slice
	Array
	Map
	Struct // also complex numbers, whose fields are real and imag
	Custom // what the codec declared that it handles by itself
)

// Type is a Go type as codecs see it. It is immutable once Of has returned it. The Type of a recursive Go type refers to
// itself.
type Type struct {
	Go     reflect.Type
	Kind   Kind
	Size   uintptr // in memory, in bytes
	Word   bool    // the Go type is int, uint or uintptr
	Key    *Type   // of a Map
	Elem   *Type   // of a Pointer, Slice, Array and Map
	Len    int     // of an Array and a ByteArray
	Fields []Field // of a Struct, in the order in which they stand
	Boxed  bool    // made by Box
	Texts  bool    // of a Map: it lies in memory as a map[string]string does, and needs no Entries

	marshaler *Marshaler
	slices    *sync.Pool
	rooms     *sync.Pool
}

// Field is one field of a Struct.
type Field struct {
	Name   string // on the wire
	GoName string
	Tag    reflect.StructTag
	Step   string  // the field as one step of a JSON Pointer, such as "/name"
	Hops   []Hop   // the embedded pointers on the way to the field; none without [Rules.Inline]
	Offset uintptr // from the start of the struct, or of what the last hop leads to, in bytes
	Type   *Type
}

// Rules are the particulars of one codec.
type Rules struct {
	// Tag is the codec's own struct tag, such as "avro". Where its value is "-" the field is skipped.
	Tag string

	// TagNames means that the own tag names the field, and so comes before the json tag.
	TagNames bool

	// Custom reports which types the codec handles by itself. It may be nil.
	Custom func(reflect.Type) bool

	// Inline means that the fields of an embedded pointer, and of a struct with the option "embed", count as fields of the
	// outer struct, as in JSON. Otherwise such a field counts for itself. Formats whose structs have a fixed list of
	// fields do so, since that distinguishes a nil pointer from one to a zero value that way.
	Inline bool

	// Opaque reports which embedded structs count for themselves since they are more than their fields. Of sets it where it
	// is nil; Members then knows none, like encoding/json.
	Opaque func(reflect.Type) bool
}

var (
	timeType          = reflect.TypeFor[time.Time]()
	binaryMarshaler   = reflect.TypeFor[encoding.BinaryMarshaler]()
	binaryUnmarshaler = reflect.TypeFor[encoding.BinaryUnmarshaler]()
	textMarshaler     = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

var kinds = map[reflect.Kind]Kind{
	reflect.Bool: Bool, reflect.String: String, reflect.Float32: Float32, reflect.Float64: Float64,
	reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
}

// Of describes t. It fails where a value of t means nothing outside of its process, such as a channel.
func Of(t reflect.Type, rules Rules) (*Type, error) {
	if rules.Opaque == nil {
		rules.Opaque = rules.opaque
	}
	b := builder{rules: rules, seen: make(map[reflect.Type]*Type)}
	return b.build(t)
}

type builder struct {
	rules Rules
	seen  map[reflect.Type]*Type
}

// build returns the unfinished description while t is being described.
func (b *builder) build(t reflect.Type) (*Type, error) {
	if known, ok := b.seen[t]; ok {
		return known, nil
	}
	d := &Type{Go: t, Size: t.Size()}
	b.seen[t] = d
	if b.rules.Custom != nil && b.rules.Custom(t) {
		d.Kind = Custom
		return d, nil
	}
	if t == timeType {
		d.Kind = Time
		return d, nil
	}
	if d.marshaler, d.Kind = MarshalerOf(t); d.marshaler != nil {
		return d, nil
	}
	if err := JSONOnly(t); err != nil {
		return nil, err
	}
	if kind, ok := kinds[t.Kind()]; ok {
		d.Kind = kind
		return d, nil
	}
	return d, b.composed(d, t)
}

func (b *builder) composed(d *Type, t reflect.Type) (err error) {
	switch t.Kind() {
	case reflect.Int:
		d.Word, d.Kind = true, ofSize(t, Int32, Int64)
	case reflect.Uint, reflect.Uintptr:
		d.Word, d.Kind = true, ofSize(t, Uint32, Uint64)
	case reflect.Complex64:
		d.complex(reflect.TypeFor[float32](), Float32)
	case reflect.Complex128:
		d.complex(reflect.TypeFor[float64](), Float64)
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Errorf("%s cannot be encoded: an interface with methods does not say what to decode into; skip the field with `json:\"-\"`", t)
		}
		d.Kind = Any
	case reflect.Pointer:
		d.Kind = Pointer
		d.Elem, err = b.build(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			d.Kind = Bytes
			return nil
		}
		d.Kind, d.slices = Slice, slicePool(t)
		d.Elem, err = b.build(t.Elem())
	case reflect.Array:
		d.Len = t.Len()
		if t.Elem().Kind() == reflect.Uint8 {
			d.Kind = ByteArray
			return nil
		}
		d.Kind = Array
		d.Elem, err = b.build(t.Elem())
	case reflect.Map:
		return b.mapping(d, t)
	case reflect.Struct:
		d.Kind = Struct
		d.Fields, err = b.fields(t)
	default:
		return fmt.Errorf("%s cannot be encoded: a %s has no meaning elsewhere; skip the field with `json:\"-\"`", t, t.Kind())
	}
	return err
}

func ofSize(t reflect.Type, narrow, wide Kind) Kind {
	if t.Size() == 4 {
		return narrow
	}
	return wide
}

func (d *Type) complex(part reflect.Type, kind Kind) {
	d.Kind = Struct
	element := &Type{Go: part, Kind: kind, Size: part.Size()}
	d.Fields = []Field{
		{Name: "real", GoName: "real", Step: "/real", Type: element},
		{Name: "imag", GoName: "imag", Step: "/imag", Offset: part.Size(), Type: element},
	}
}

func (b *builder) mapping(d *Type, t reflect.Type) (err error) {
	d.Kind, d.rooms = Map, roomPool(t)
	if !fixedIdentity(t.Key()) {
		return fmt.Errorf("%s cannot be encoded: a key with a pointer or an interface in it has no fixed identity", t)
	}
	if d.Key, err = b.build(t.Key()); err != nil {
		return err
	}
	if d.Elem, err = b.build(t.Elem()); err != nil {
		return err
	}
	text := reflect.TypeFor[string]()
	d.Texts = t.Key() == text && t.Elem() == text
	return nil
}

// fixedIdentity reports whether equal keys of type t are equal in every process.
func fixedIdentity(t reflect.Type) bool {
	if own, _ := MarshalerOf(t); own != nil || t == timeType {
		return t.Comparable()
	}
	switch t.Kind() {
	case reflect.Interface, reflect.Pointer:
		return false
	case reflect.Array:
		return fixedIdentity(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			if !fixedIdentity(field.Type) {
				return false
			}
		}
	}
	return t.Comparable()
}

// Box returns a struct whose only field, named "value", is a t. It lies in memory as t does. Formats that have lists in
// structs only, or values that may be absent in structs only, use it for what is elsewhere.
func Box(t *Type) *Type {
	return &Type{Go: t.Go, Kind: Struct, Size: t.Size, Boxed: true, Fields: []Field{{Name: "value", GoName: "value", Type: t}}}
}
