package validate

import (
	"fmt"
	"reflect"
	"runtime/debug"
)

// PanicError is the error of a value whose check panicked: in a rule, a struct-level or custom type function, a message, a
// method that the rule validateFn calls, or the library. Find it with errors.AsType[*validate.PanicError].
//
// The text of the error names the type only. The text of the panic may hold anything that the program knows, so it stays in
// Value, and with Stack it is for the log of this process and never for a peer. For that reason there is no Unwrap.
type PanicError struct {
	// Type is the type that was checked.
	Type reflect.Type
	// Value is the value of the panic.
	Value any
	// Stack is the stack of the goroutine at the panic, as [debug.Stack] gives it.
	Stack []byte
}

// Error returns a line that holds nothing of the panic's value.
func (e *PanicError) Error() string { return fmt.Sprintf("validate: a rule of %v panicked", e.Type) }

// Detail is Error with the text of the panic, for the log of this process.
func (e *PanicError) Detail() string { return fmt.Sprintf("%s: %v", e.Error(), e.Value) }

// contain is deferred: it turns a panic of a check into a [*PanicError] in err.
func (p *Plan) contain(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Type: p.typ, Value: v, Stack: debug.Stack()}
	}
}
