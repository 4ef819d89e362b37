// Package codec turns values into bytes and back.
//
// A [Codec] is one format: native, JSON, MessagePack and so on. Each format lives in a package of its own below this
// one and registers itself when it is imported, as database/sql drivers do, so a program links only what it uses:
//
//	import _ "github.com/sabir-go/sabir/codec/json"
//
// A codec knows nothing of nodes, services or frames. It holds no state between calls that a caller could see: each
// call is one value, whole, from or into one slice.
package codec

// Codec encodes and decodes values in one format.
//
// All methods may be called from any number of goroutines at once.
//
// A codec is safe on hostile input: Decode ends with a value or an error, never a panic of its own, whatever data
// holds. It takes memory in proportion to len(data) and to the size of the Go types in the target, it bounds nesting,
// and it refuses bytes after the value. It does not bound len(data): the caller, who knows where the bytes come from,
// does that before the call. Methods of the caller's own types that take part in encoding (such as MarshalJSON) run
// on the calling goroutine, and a panic in one of them reaches the caller.
type Codec interface {
	// Name is the name of the format: lower case letters and digits, such as "json". It is used in URLs, flags and
	// handshakes, so it never changes.
	Name() string

	// Append appends the encoding of v to dst and returns the longer slice, as the built-in append does. v is a value
	// or a pointer to one; both give the same bytes. v must not change during the call and is not kept.
	//
	// On error Append returns dst as it was given: same length, same contents. The bytes between len(dst) and cap(dst)
	// are then undefined.
	Append(dst []byte, v any) ([]byte, error)

	// Decode reads one value, which must fill data, into v, a non-nil pointer. Nothing in *v refers to data
	// afterwards, so the caller may reuse data at once.
	//
	// Where data is not a valid encoding, or does not fit v, the error is an [*Error]. *v may then be partly filled.
	Decode(data []byte, v any) error
}
