// Package codec turns values into bytes and back.
//
// A [Codec] is one format: native, JSON, MessagePack and so on. Each format is in a package of its own below this
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
// Append and Decode never panic. Methods of the value's own types that take part (MarshalJSON, UnmarshalText, IsZero) run on
// the calling goroutine. Where one of them panics, or a library beneath the codec does, the error is a [*PanicError]. A
// method that calls [runtime.Goexit] ends the calling goroutine, after its deferred functions; the codec itself goes on to
// serve other goroutines. [Register] and [Contained] make a codec so.
//
// A codec is safe on hostile input: Decode ends with a value or an error, whatever data holds. It takes memory in
// proportion to len(data) and to the size of the Go types in the target, it bounds nesting, in both directions, and it
// refuses bytes after the value. It does not bound len(data): the caller, which knows where the bytes come from, does that
// before the call.
//
// A codec for types that define how they are written, such as the generated messages of Protocol Buffers, has the method
// Claims(reflect.Type) bool besides: calls whose input and output it takes travel in this format.
//
// No error comes of what Go itself cannot recover from, which ends the process: a stack overflow in a method that calls
// itself without end, a map that changes while it is encoded, memory that has run out, a panic on a goroutine that a method
// started.
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
