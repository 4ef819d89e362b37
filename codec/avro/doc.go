// Package avro is the codec for Apache Avro (https://avro.apache.org/docs/1.12.0/specification). It registers itself as "avro".
//
// # The two forms
//
// Bytes of Avro mean nothing without the schema that they were written with. A codec keeps no state between messages, so what it
// writes must identify which schema that is:
//
//   - The registered codec writes an object container file around the value. It holds the schema itself, so every reader of this package,
//     of any version of the program, and every Avro tool can read it: fields may be added, removed, reordered and widened. The price is its
//     size: some 55 bytes and the schema, some 20 to 40 bytes for each field.
//   - [SingleObject] writes a single-object encoding: 10 bytes before the value. The reader's schema must be the
//     same, or the writer's must have been given to [AddSchema].
//
// Decode reads both. The schema of a known writer costs one comparison; a new one is parsed and compiled once, and 64 are
// remembered for each Go type.
//
// # Types
//
// The schema is derived from the Go type, which is compiled once; [Schema] returns it. Fields have the names of the json tags, and an avro
// tag comes before that; a character that Avro does not have in names becomes '_'.
//
//	type Order struct {
//		ID    string `json:"id"`
//		Total int64  `json:"total" avro:"sum"`
//		Cache string `json:"cache" avro:"-"` // skipped
//	}
//
//	bool, string, []byte               boolean, string, bytes
//	int8, int16, int32, uint8, uint16  int
//	int64, int, uint32                 long
//	uint64, uint                       fixed of 8 bytes, the most significant first, named uint64
//	float32, float64                   float, double
//	[N]byte                            fixed
//	time.Time                          long with logical type timestamp-micros: rounded down to microseconds; it comes back in UTC
//	struct                             record
//	*T                                 union of null and T
//	[]T, [N]T                          array
//	map[string]T                       map; with other keys an array of records {key, value}
//	any                                a record named Any around a union of null, boolean, long, double, string, bytes, array and map
//	MarshalBinary, MarshalText         bytes, string
//
// A nil slice or map is written as an empty one. A target of type any takes any schema: records and maps become map[string]any, int and
// long int64, arrays []any, and so on.
//
// Decode resolves the writer's schema by the rules of the specification, but for the names of records, which are those of Go types and
// do not matter. Integers are read into each Go integer that holds them. The target is emptied first, so a field that the writer does not
// have is zero.
//
// # Hostile input
//
// Decode ends with a value or an error. A count is checked against the bytes that are left and not promised to other elements, so
// memory is in proportion to the input times the size of the Go types. Nesting of records, arrays, maps and pointers ends at 128 levels in both
// directions. A schema may have 64 KiB and 128 levels; values that take no bytes are counted, since a schema can nest them without
// end. Refused are bytes after the value, duplicate map keys, numbers out of range, and strings that are not UTF-8; the last in both directions.
// A schema that was not met before costs about 0.35 µs and 200 bytes of memory for each of its bytes, so a peer that sends a new one in each
// message is slow to serve; take the form with fingerprints where that matters.
package avro
