package sabir

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	stdlog "log"
	"log/slog"
	"runtime/debug"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/validate"
)

// panicError makes the caller's error of what recover gave in a deferred function of something that did not return: nil where
// that ended its goroutine with runtime.Goexit. The panic's text is the cause, for this process and its log; the message,
// which callers on other nodes see, only names the action: a panic's text may hold anything.
//
// The error has no node until it was logged, see Node.logPanic.
func panicError(name string, value any) *Error {
	if value == nil {
		return &Error{Code: CodeInternal, Name: namePanic, Message: name + " ended its goroutine", stack: debug.Stack()}
	}
	return panicWith(name+" panicked", value, debug.Stack())
}

func panicWith(message string, value any, stack []byte) *Error {
	cause, ok := value.(error)
	if !ok {
		cause = fmt.Errorf("%v", value)
	}
	return &Error{Code: CodeInternal, Name: namePanic, Message: message, cause: cause, stack: stack}
}

// panicked makes the caller's error of a panic, and logs it.
func (n *Node) panicked(ctx context.Context, name string, value any) *Error {
	err := panicError(name, value)
	n.logPanic(ctx, err)
	return err
}

// logPanic writes a panic with its stack, once: the error's node marks it as written. Other errors are left to their callers.
func (n *Node) logPanic(ctx context.Context, err error) {
	if e, ok := err.(*Error); ok && e.stack != nil && e.Node == "" {
		e.Node = n.id
		n.log.ErrorContext(ctx, "panic", "node", n.id, "request_id", requestIDOf(ctx), "error", e)
	}
}

// panicInside is the caller's error, logged, where err comes from a panic in a value's own code: while a codec wrote or read
// the value, while its rules were checked, or in a method of err itself. It is nil for any other error, whose methods can
// then be called. what names the value.
func (n *Node) panicInside(what string, err error) (e *Error) {
	if e = panicBeneath(what, err); e != nil {
		n.logPanic(context.Background(), e)
	}
	return e
}

func panicBeneath(what string, err error) (e *Error) {
	defer func() {
		if v := recover(); v != nil {
			e = panicError("a method of the error of "+what, v)
		}
	}()
	if p, ok := errors.AsType[*codec.PanicError](err); ok {
		return panicWith("a method of "+what+" panicked", p.Value, p.Stack)
	}
	if p, ok := errors.AsType[*validate.PanicError](err); ok {
		return panicWith("the validation of "+what+" panicked", p.Value, p.Stack)
	}
	_ = err.Error()
	return nil
}

// badInput is the error of a value that came in and cannot be read into its type, or goes out and cannot be written.
func badInput(n *Node, what string, err error) *Error {
	if e := n.panicInside(what, err); e != nil {
		return e
	}
	e := &Error{Code: CodeInvalidArgument, Name: nameBadInput, Node: n.id, cause: err, Message: what + " cannot be read: " + err.Error()}
	if bad, ok := errors.AsType[*codecError](err); ok && bad.Pointer != "" {
		place := map[string]any{"pointer": bad.Pointer}
		if bad.Want != "" { // else the message tells what is wrong there
			place["want"] = bad.Want
		}
		e.Data = place
	}
	return e
}

// badSent is badInput of a value that goes to another node. JSON that came from outside is described as the node would that has the action.
func badSent(n *Node, what string, value any, err error) *Error {
	if text, ok := value.(*stdjson.RawMessage); ok {
		var read any
		if unread := json.Codec.Decode(*text, &read); unread != nil {
			err = unread
		}
	}
	return badInput(n, what, err)
}

// badOutput is the error of an answer, from the node where, that cannot be given to its caller: why stands between the two.
func (n *Node) badOutput(what, where, why string, err error) *Error {
	if e := n.panicInside(what, err); e != nil {
		return e
	}
	return &Error{Code: CodeInternal, Name: nameBadOutput, Node: where, cause: err, Message: what + " " + why + ": " + err.Error()}
}

// isolate runs fn and turns a panic into its error.
func isolate(name string, ctx context.Context, fn func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(name, v)
		}
	}()
	return fn(ctx)
}

// isolated is isolate for panics that no caller logs: the start and the stop of things.
func (n *Node) isolated(name string, ctx context.Context, fn func(context.Context) error) error {
	err := isolate(name, ctx, fn)
	n.logPanic(ctx, err)
	return err
}

// isolateGoroutine runs fn, which must be the last on this goroutine, and calls done with its result: its error, that of its
// panic, or that of its end by runtime.Goexit, which nothing else would report.
func isolateGoroutine(name string, ctx context.Context, fn func(context.Context) error, done func(error)) {
	var err error
	returned := false
	defer func() {
		if !returned {
			err = panicError(name, recover())
		}
		done(err)
	}()
	err = fn(ctx)
	returned = true
}

// safeLog is a log handler whose panics do not reach the code that logs. The record that panicked is lost, and the standard
// log of the process reports that.
type safeLog struct{ slog.Handler }

// safely returns a logger that does not panic.
func safely(log *slog.Logger) *slog.Logger {
	if _, safe := log.Handler().(safeLog); safe || log == slog.Default() { // that of the standard library would come back to itself
		return log
	}
	return slog.New(safeLog{log.Handler()})
}

func (h safeLog) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	defer func() {
		if recover() != nil {
			enabled = true // Handle then reports it
		}
	}()
	return h.Handler.Enabled(ctx, level)
}

func (h safeLog) Handle(ctx context.Context, record slog.Record) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("sabir: the handler of logs panicked: %v", v)
			stdlog.Printf("sabir: the handler of logs panicked, and %q is lost: %v\n%s", record.Message, v, debug.Stack())
		}
	}()
	return h.Handler.Handle(ctx, record)
}

func (h safeLog) WithAttrs(attrs []slog.Attr) (made slog.Handler) {
	defer func() {
		if recover() != nil {
			made = h
		}
	}()
	return safeLog{h.Handler.WithAttrs(attrs)}
}

func (h safeLog) WithGroup(name string) (made slog.Handler) {
	defer func() {
		if recover() != nil {
			made = h
		}
	}()
	return safeLog{h.Handler.WithGroup(name)}
}
