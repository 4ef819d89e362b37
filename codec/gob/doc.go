// Package gob is the codec for the format of encoding/gob, for peers that are written in Go and speak it already. It
// registers itself as "gob".
//
//	import _ "github.com/sabir-go/sabir/codec/gob"
//
// A stream of gobs describes each type once. A codec has no stream: every message describes its types again, so a message is
// larger than with any other codec here, and slower, since the description is compiled for each. Between Go programs the native codec is
// the better choice.
//
// Gob names fields as Go does; struct tags mean nothing to it. It writes no zero values, so a pointer to a zero value
// comes back nil, as does an empty slice or map in a struct. It refuses nil pointers in lists, a nil
// value, and an embedded struct that is not exported, which the library would leave out. What is in an interface must be registered with gob.Register; this package does so for the types
// that JSON has: map[string]any, []any and the basic ones.
//
// # Hostile input
//
// encoding/gob is documented as not designed to be hardened against adversarial inputs. This package adds bounds: a
// message holds at most 64 MiB, at most 256 descriptions, and each part must be as long as its length field.
// Decoding into a small type may still take some kilobytes and tens of microseconds for each described type. Do not offer gob
// to peers that are not trusted.
package gob
