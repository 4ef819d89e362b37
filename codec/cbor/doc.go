// Package cbor is the codec for CBOR (RFC 8949): what JSON can express and bytes, in binary, for peers in other languages. It
// registers itself as "cbor".
//
//	import _ "github.com/sabir-go/sabir/codec/cbor"
//
// How Go values look, what is read into which type and what is refused is defined by package document. Of the format it
// writes the preferred serialization (RFC 8949, section 4.1) of integers and lengths, floats in the size that the Go type has,
// and a time.Time as tag 0: text as RFC 3339 has it, with nanoseconds and the offset from UTC. A year beyond 9999 is refused.
//
// It reads every well-formed form: integers and lengths that are longer than needed, half precision floats, lists, maps and
// strings of indefinite length, undefined as nil, tag 1 (seconds since 1970) and text as a time, and bignums (tags 2 and 3) that
// fit into 64 bits. Other tags are left out and what they are on is read. Integers below -2^63 are refused.
package cbor
