// Package native is the engine of package codec/native, Sabir's own binary format: positional, without field tags on the wire, and as fast as Go memory
// allows. The format is specified in docs/native-codec.md.
//
// A Go type is compiled once from reflect into a flat list of operations over its memory; encoding and decoding then
// run that list. [For] gives the compiled form of a type:
//
//	orders := native.For[Order]()
//	data, err := orders.Append(buffer, &order)
//	err = orders.Decode(data, &order)
//
// What is on the wire has no description in it, so both sides must agree on it. That is the [Schema]: kinds and names,
// with a [Hash]. Equal hashes mean equal bytes. Where they differ, [Type.From] compiles a translation
// from the writer's schema to the reader's Go type: fields added, removed, reordered, renamed or widened. After that
// a translated message costs the same as any other.
//
// As a plain [codec.Codec], named "native", each message starts with the hash of its schema, and a message of another
// schema is refused unless [AddSchema] made that schema known.
//
// A program with a schema but no Go type, such as a gateway or a command line, turns messages into JSON with
// [Schema.AppendJSON]. One whose types are known only while it runs has [Of] in place of [For].
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
