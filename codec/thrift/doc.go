// Package thrift is the codec for the protocols of Apache Thrift: "thrift" is the binary protocol and "thrift-compact" the compact
// one (https://github.com/apache/thrift/tree/master/doc/specs). Importing the package registers both:
//
//	import _ "github.com/sabir-go/sabir/codec/thrift"
//
// A message is one Thrift struct, without the head that a Thrift RPC has. Go types are compiled once; the bytes are written and
// read by TBinaryProtocol and TCompactProtocol of github.com/apache/thrift.
//
// # Fields
//
// Thrift knows fields by number. A thrift tag gives it, from 1 to 32767; a field without one has the number after that of the field
// before, so a struct without tags is numbered from 1. Give numbers as soon as fields are added or removed in the middle:
//
//	type Order struct {
//		ID    string `json:"id" thrift:"1"`
//		Total int64  `json:"total" thrift:"4"` // 2 and 3 were removed
//		Cache string `json:"cache" thrift:"-"` // skipped
//	}
//
// Readers skip numbers that they do not know. The target is emptied first, so fields that are not mentioned are zero.
//
// # Types
//
//	bool, int8, int16, int32, int64, int   bool, i8, i16, i32, i64, i64
//	uint8, uint16, uint32                  i16, i32, i64: the next wider, since Thrift has no unsigned integers
//	uint64, uint                           i64 with the same bits
//	float32, float64                       double
//	string, []byte, [N]byte                string, binary, binary
//	time.Time                              struct {1: i64 seconds since 1970, 2: i32 nanoseconds}; it comes back in UTC
//	slice, array, map, struct              list, list, map, struct
//	pointer                                an optional field; in a list or map it must not be nil
//	any                                    struct {1: bool, 2: i64, 3: double, 4: string, 5: binary, 6: list, 7: map}, one of them
//	MarshalBinary, MarshalText             binary, string
//
// Integers may be read into wider ones. Pointers in lists and maps that do not point to structs, and whole messages that are no
// struct, stand in field 1 of a struct. A nil slice or map is not written, so it stays apart from an empty one, but not inside a list
// or map. An any holds int64, float64, string, bool, []byte, []any, map[string]any or nil when it comes back; other types
// become these.
//
// # Hostile input
//
// Decode ends with a value or an error. A count is checked against the bytes that are left and not promised to other elements,
// so memory is in proportion to the input times the size of the Go types. Nesting ends at 128 levels in both directions. Bytes after the
// message, numbers out of range, another type than the target's, and strings that are not UTF-8 are refused; the last in both directions.
package thrift
