// Package protobuf is the codec for Protocol Buffers (https://protobuf.dev/programming-guides/encoding): for generated messages and
// for plain Go values. Importing it makes every call whose input and output are generated messages travel in their own
// format:
//
//	import _ "github.com/sabir-go/sabir/codec/protobuf"
//
// # Generated messages
//
// Pointers to generated structs are encoded and decoded by google.golang.org/protobuf, which bounds nesting at 10,000 and checks
// UTF-8. They may also be fields of plain structs.
//
// # Plain Go values
//
// Every other Go type is compiled once into a message of proto3, which `sabir gen proto` writes. Fields are known by number. A protobuf
// tag gives it; a field without one has the number after that of the field before, so a struct without tags is numbered from 1. Give
// numbers as soon as fields are added or removed in the middle:
//
//	type Order struct {
//		ID    string `json:"id" protobuf:"1"`
//		Total int64  `json:"total" protobuf:"4"` // 2 and 3 were removed
//		Cache string `json:"cache" protobuf:"-"` // skipped
//	}
//
// Names are those of the json tags in the form that Protocol Buffers has: a field "userID" is user_id, and userId in the JSON of
// Protocol Buffers.
//
//	bool, string, []byte                   bool, string, bytes
//	int8, int16, int32; int64, int         int32; int64
//	uint8, uint16, uint32; uint64, uint    uint32; uint64
//	float32, float64                       float, double
//	[N]byte                                bytes
//	time.Time                              google.protobuf.Timestamp; it comes back in UTC
//	time.Duration                          google.protobuf.Duration; int64 as the key of a map
//	any                                    google.protobuf.Value, whose numbers are doubles
//	enum of generated code                 that enum
//	struct                                 a message, not written where nothing in it is
//	*T                                     optional T
//	[]T, [N]T                              repeated T, packed where it is a number
//	map[K]V                                map<K, V>, or repeated entries where K is none that Protocol Buffers has for keys
//	MarshalBinary, MarshalText             optional bytes, optional string
//
// Lists of lists, maps of lists and pointers to pointers get a message with the one field "value" in between, and so does a whole
// message that is no struct or pointer to one. A whole pointer to a struct is written as the struct, so a nil one comes back as an
// empty struct. Zero values are not written, so an empty slice comes back nil, and so does an empty map. Lists and maps cannot hold
// nil pointers to structs: Append refuses them. An integer in an any must be exact as a double. A []byte in an any becomes base64
// text, as in JSON.
//
// Integers may be read into wider ones. Unknown fields are skipped. Of a field that occurs twice the last counts, messages are merged,
// and lists joined, as Protocol Buffers wants it.
//
// # Hostile input
//
// Decode ends with a value or an error, and takes memory in proportion to the input times the size of the Go types. Nesting of
// messages ends at 128 levels in both directions. Refused are numbers out of range, another wire type than the target's, arrays of
// another length, and strings that are not UTF-8; the last in both directions. A message of Protocol Buffers has no end of its own: a
// part of one may be a message as well, and no bytes at all are the zero value.
package protobuf

import (
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/protobuf"
)

// Codec is the Protocol Buffers codec as it is registered, for sabir.Codecs: see [codec.Codec]. It appends a generated message, a plain
// Go value, or a pointer to a variable for either. A nil message, or nil pointer to a struct, is written as an empty message. It
// decodes into a generated message or a pointer to a plain Go value, which is emptied first, or a pointer to a variable for a
// generated message or a pointer to a struct, which gets a new one.
var Codec codec.Codec = protobuf.Codec
