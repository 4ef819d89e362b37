package codec

import (
	"fmt"
	"reflect"
	"runtime/debug"
)

// PanicError is the error of a value whose own code panicked while the value was written, read or checked: its MarshalText,
// UnmarshalJSON, MarshalBinary or Validate method, or the library that a codec stands on. Find it with
// errors.AsType[*codec.PanicError].
//
// The text of the error names the codec only. The panic's value may hold anything that the program knows, so it stays in
// Value, and with Stack it is for the log of this process and never for a peer. For that reason there is no Unwrap: an error
// that was the value of a panic must not pass for an answer, a cancellation or the end of a stream.
type PanicError struct {
	// Codec is the name of the codec, such as "json".
	Codec string
	// Value is the argument of the panic.
	Value any
	// Stack is the stack of the goroutine at the panic, as [debug.Stack] gives it.
	Stack []byte
}

// Error returns a line that holds nothing of the panic's value.
func (e *PanicError) Error() string { return e.Codec + ": a method of the value panicked" }

// Detail is Error with the panic's value, for the log of this process.
func (e *PanicError) Detail() string { return fmt.Sprintf("%s: %v", e.Error(), e.Value) }

// Contain turns a panic into a [*PanicError] in err. It is deferred by a function that calls methods of a value:
//
//	func Append(dst []byte, v any) (out []byte, err error) {
//		out = dst
//		defer codec.Contain(Name, &err)
//
// Without a panic it leaves err alone. It cannot hold up runtime.Goexit, which ends the goroutine when the deferred functions
// have run.
func Contain(name string, err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Codec: name, Value: v, Stack: debug.Stack()}
	}
}

// Contained returns c with panics of Append and Decode turned into errors, as [Codec] wants it. Where c has the method
// Claims, so has the result. Other methods of c are found behind Unwrap() Codec, which the result has.
func Contained(c Codec) Codec {
	switch c := c.(type) {
	case contained, containedClaimer:
		return c
	case claimer:
		return containedClaimer{contained{c.(Codec)}, c}
	}
	return contained{c}
}

type contained struct{ Codec }

func (c contained) Append(dst []byte, v any) (out []byte, err error) {
	out = dst // what the caller gets where the next but one line panics
	defer Contain(c.Name(), &err)
	return c.Codec.Append(dst, v)
}

func (c contained) Decode(data []byte, v any) (err error) {
	defer Contain(c.Name(), &err)
	return c.Codec.Decode(data, v)
}

// Unwrap returns the codec that Contained was given.
func (c contained) Unwrap() Codec { return c.Codec }

type containedClaimer struct {
	contained
	claimer
}

// claimer is a codec that claims types: see [Codec].
type claimer interface {
	Claims(t reflect.Type) bool
}
