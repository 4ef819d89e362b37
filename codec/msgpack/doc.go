// Package msgpack is the codec for MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md): what JSON can
// express and bytes, in binary, for peers in other languages. It registers itself as "msgpack".
//
//	import _ "github.com/sabir-go/sabir/codec/msgpack"
//
// How Go values look, what is read into which type and what is refused is defined by package document. Of the format it
// writes the shortest form of each integer and length, strings as str and []byte as bin, and a time.Time as the timestamp
// extension (type -1), which is exact to the nanosecond and has no time zone: a decoded time is in UTC. It reads every form
// of each, also a time as RFC 3339 text. Other extension types are skipped where the target does not want them and refused
// where it does.
package msgpack
