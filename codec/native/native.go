// Package native is Sabir's own binary format: positional, without field tags on the wire, and as fast as Go memory
// allows. The format is specified in docs/native-codec.md. Every node has it, and nodes use it among themselves unless sabir.Codecs says
// otherwise.
//
// Its messages have no description in them, so both sides must agree on it. That is the schema: kinds and names. Links exchange
// schemas, and translate between those of two versions of a type: fields added, removed, reordered, renamed or widened. As a plain
// [codec.Codec], named "native", each message starts with the hash of its schema, and a message of another schema is refused
// unless [AddSchema] made that schema known, which [Schema] returns where it was written:
//
//	schema, err := native.Schema(reflect.TypeFor[Order]()) // kept beside the messages
//	err = native.AddSchema(schema)                         // before they are read into another version of Order
//
// # Types
//
// Bools, all integers, floats, complex numbers, strings, byte slices, arrays, slices, maps, pointers, structs,
// [time.Time], [time.Duration], types with MarshalBinary and UnmarshalBinary, types with MarshalText and
// UnmarshalText, and interfaces whose dynamic types were registered with [Register]. Types may be generic and
// recursive. A nil slice, map, pointer or interface is kept apart from an empty one. Channels, functions and unsafe
// pointers are refused when the type is compiled. So is a type with MarshalJSON and UnmarshalJSON, and neither of the above, that
// keeps something in fields which are not exported: it would be lost.
//
// Of a struct, the exported fields are written in the order in which they stand. A field is named by its sabir tag, else its
// json tag, else its Go name:
//
//	Total  int64  `sabir:"total"`             // named "total"
//	Total  int64  `sabir:"total,alias=sum"`   // also reads what a writer calls "sum"
//	secret string                             // unexported: skipped
//	Cache  string `sabir:"-"`                 // skipped; json:"-" skips too unless a sabir tag names the field
//
// An embedded struct's fields count as fields of the outer struct unless a tag names it; a shallower field hides a
// deeper one of the same name, and two of the same depth are an error. An embedded pointer is an ordinary field.
// As in encoding/json, a struct that embeds a type with marshal methods inherits them and is encoded by them.
//
// # Hostile input
//
// Decode ends with a value or an error. A length is checked against the bytes that are left and not promised to
// another value, so memory is in proportion to the input times the size of the Go types. Nesting of pointers, slices,
// arrays, maps and interfaces ends at 128 levels, in both directions, so a cyclic value is an error. Trailing bytes,
// duplicate map keys, numbers out of range, numbers in more bytes than needed and bools other than 0 and 1 are refused.
// Strings are bytes: UTF-8 is not checked.
//
// Short strings of one message share blocks of up to 1 KiB, so a string that is kept can hold up to that much.
//
// Everything in this package may be called from any number of goroutines at once. A value must not change while it
// is encoded.
package native

import (
	"reflect"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/native"
)

// Codec is the native codec as it is registered, for sabir.Codecs: see [codec.Codec].
var Codec codec.Codec = native.Codec()

// Register allows values of sample's type in interfaces, under a name that writer and reader share. Nothing but what was
// registered is ever built from a name on the wire. The value of sample does not matter; a pointer registers the pointer
// type, which is another type than what it points to.
//
// Registered from the start are bool, string, all sizes of int, uint and float under their Go names, []byte as "bytes",
// time.Time as "time", time.Duration as "duration", []any as "list" and map[string]any as "object".
//
// Register panics if the name or the type is taken by another, if the name is empty or has more than 255 bytes, and if the type
// cannot be encoded. Call it from init or main.
func Register(name string, sample any) { native.Register(name, sample) }

// Schema returns the schema of a type, for [AddSchema]. It returns an error for types that cannot be encoded.
func Schema(t reflect.Type) ([]byte, error) {
	s, err := native.SchemaOf(t)
	if err != nil {
		return nil, err
	}
	return s.Bytes(), nil
}

// AddSchema makes the schema of a writer known, so that messages of it, of [Codec] and in interface values, are accepted if they can be
// translated. It returns an error for bytes that no [Schema] returned, and where 1024 others are known already. A schema stays known as long as the program
// runs; call AddSchema only for peers that are trusted that far.
func AddSchema(schema []byte) error {
	s, err := native.ParseSchema(schema)
	if err != nil {
		return err
	}
	return native.AddSchema(s)
}
