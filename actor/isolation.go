package actor

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/native"
)

// Methods of a value run where it is written and read, such as MarshalText. A codec contains their panics. That they end the
// goroutine (runtime.Goexit) cannot be contained: where a process sends, that ends the process; where the goroutine is that of a
// link, which must go on, they run in another.

// faults limits how often the failures of values' own methods are logged, since there may be very many.
type faults struct {
	system *System

	mu         sync.Mutex
	logged     time.Time
	suppressed int
}

// contain turns an error of a codec into the error for others. If a method of the value panicked, its stack is logged here, and
// the error does not repeat the text of the panic.
func (f *faults) contain(what, kind string, err error) error {
	var detail, stack string
	if p, ok := errors.AsType[*codec.PanicError](err); ok {
		detail, stack = p.Detail(), string(p.Stack)
	} else if !errors.Is(err, errExited) {
		return err
	}
	f.log(what, kind, detail, stack)
	e := sabir.Errorf(errPanic.Code, errPanic.Name, "%s of type %s: %w", what, kind, err)
	e.Node = f.system.nodeName()
	return e
}

// errExited reports that a method of a value ended its goroutine.
var errExited = errors.New("a method of the value ended its goroutine")

// decode decodes a value on a goroutine that must survive it. code is the result of hasCode for the type.
func decode(c *native.Dynamic, code bool, data []byte, v any) error {
	if !code {
		return c.DecodeValue(data, v)
	}
	into := reflect.ValueOf(v).Elem()
	read := reflect.New(into.Type()) // not the caller's: where the code does not return, it may still write
	var err error
	if !inGoroutine(func() { err = c.DecodeValue(data, read.Interface()) }) {
		return errExited
	}
	into.Set(read.Elem())
	return err
}

var withCode sync.Map // reflect.Type to bool

// hasCode reports whether decoding a value of the type may run methods of the value, either its own or those of a value that it may hold.
func hasCode(t reflect.Type) bool {
	if known, ok := withCode.Load(t); ok {
		return known.(bool)
	}
	has := codeIn(t, map[reflect.Type]bool{})
	withCode.Store(t, has)
	return has
}

func codeIn(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || t == reflect.TypeFor[time.Time]() {
		return false
	}
	seen[t] = true
	for _, reads := range []reflect.Type{reflect.TypeFor[encoding.TextUnmarshaler](), reflect.TypeFor[encoding.BinaryUnmarshaler]()} {
		if t.Implements(reads) || reflect.PointerTo(t).Implements(reads) {
			return true
		}
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return codeIn(t.Elem(), seen)
	case reflect.Map:
		return codeIn(t.Key(), seen) || codeIn(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if codeIn(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

// warnEvery limits the log lines about messages that are not understood and values that fail.
const warnEvery = time.Second

// faultLog logs that code of a value failed: System.logFault.
type faultLog func(what, kind, detail, stack string)

func (f *faults) log(what, kind, detail, stack string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.system.clock.Now()
	if !f.logged.IsZero() && now.Sub(f.logged) < warnEvery {
		f.suppressed++
		return
	}
	f.system.log.Error("code of a value failed", "in", what, "type", kind, "panic", detail, "stack", stack, "not_logged", f.suppressed)
	f.logged, f.suppressed = now, 0
}

// inGoroutine runs code of a value on a goroutine of its own, which that code may end or break by a panic, and reports whether
// it returned.
func inGoroutine(run func()) (ended bool) {
	done := make(chan bool, 1)
	go func() {
		returned := false
		defer func() {
			_ = recover()
			done <- returned
		}()
		run()
		returned = true
	}()
	return <-done
}

// errorOf returns the form of an error that is sent to others. Only errors of Sabir's own type run no foreign code here.
func errorOf(err error) *sabir.Error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*sabir.Error); ok && e != nil {
		return e
	}
	var e *sabir.Error
	if !inGoroutine(func() { e = sabir.AsError(err) }) {
		return sabir.NewError(sabir.CodeInternal, errPanic.Name, "the error's own code panicked")
	}
	return e
}

// errorData encodes the data of an error as JSON. It is nil if the data is too long or cannot be encoded; if its own methods
// failed, that is logged.
func errorData(data any, log faultLog) []byte {
	if data == nil {
		return nil
	}
	var text []byte
	var err error
	if !inGoroutine(func() { text, err = json.Codec.Append(nil, data) }) {
		err = errExited
	}
	if p, ok := errors.AsType[*codec.PanicError](err); ok {
		log("the data of an error", fmt.Sprintf("%T", data), p.Detail(), string(p.Stack))
	}
	if err != nil || len(text) > maxErrorData {
		return nil
	}
	return text
}
