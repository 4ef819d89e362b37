// Package isolate runs code of programs that may panic or end its goroutine. Filters, authenticators, mounted handlers and the
// methods of values run in requests, and a panic or runtime.Goexit in one of them must be the error of that request alone.
package isolate

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/sabir-go/sabir/codec"
)

// PanicError is the error of code that panicked or ended its goroutine. Its text does not contain the panic's value, which may
// hold anything that the program knows: Detail and Stack are for the log.
type PanicError struct {
	// Value is the argument of the panic; nil where it ended its goroutine.
	Value any
	// Stack is the goroutine's stack at the panic; nil where it ended its goroutine, of which nothing is left.
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "the code ended its goroutine (runtime.Goexit)"
	}
	return "the code panicked"
}

// Detail is Error with the panic's value, for the log of this process.
func (e *PanicError) Detail() string {
	if e.Value == nil {
		return e.Error()
	}
	return fmt.Sprint(e.Value)
}

// Unwrap returns the value of the panic where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Fault is the error for what recover returned in a deferred function of code that did not return: nil stands for
// runtime.Goexit. It must be called while the goroutine unwinds, so that the stack is that of the panic.
func Fault(recovered any) *PanicError {
	e := &PanicError{Value: recovered}
	if recovered != nil {
		e.Stack = debug.Stack()
	}
	return e
}

// Do runs f on a goroutine of its own, waits for it and returns its error, or a [*PanicError] where f did not return. It costs
// a goroutine, and is for where runtime.Goexit must not end that of the caller, such as a connection's.
func Do(f func() error) error {
	done := make(chan error, 1)
	go func() {
		GrowStack(0)
		Run(f, func(err error) { done <- err })
	}()
	return <-done
}

// GrowStack gives a new goroutine the stack that f will need, while there is little on it: each growth copies all that is there, which took a
// twentieth of the time of a call over gRPC.
//
//go:noinline
func GrowStack(i int) byte {
	var space [6 << 10]byte
	return space[i]
}

// Run runs f on the caller's goroutine and then done with its error, or with a [*PanicError] where f did not return. After
// runtime.Goexit in f it does not return itself, but done has run.
func Run(f func() error, done func(error)) {
	returned := false
	var err error
	defer func() {
		if !returned {
			err = Fault(recover())
		}
		done(err)
	}()
	err = f()
	returned = true
}

// Panicked finds the panic, or runtime.Goexit, that an error stands for: detail and stack are for the log. ok is false for other
// errors.
func Panicked(err error) (detail string, stack []byte, ok bool) {
	if e, is := errors.AsType[*PanicError](err); is {
		return e.Detail(), e.Stack, true
	}
	if e, is := errors.AsType[*codec.PanicError](err); is {
		return e.Detail(), e.Stack, true
	}
	return "", nil, false
}
