package sabir

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// Error is the one error type of Sabir: every error that [Call] and its relatives return is, or wraps into, an *Error,
// wherever the handler ran. It survives JSON and the wire, so errors.Is and errors.As work on the caller's side:
//
//	var ErrOutOfStock = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough in stock")
//
//	if errors.Is(err, ErrOutOfStock) { … }   // also when the handler ran on another machine
//
// An Error is a value: it must not be changed after it was returned.
type Error struct {
	// Code is the class of the error; it decides the HTTP and gRPC status.
	Code Code `json:"code"`
	// Name identifies this error within its class, as an identifier that callers switch on: "OutOfStock".
	Name string `json:"name"`
	// Message is text for users. It is sent to callers, over HTTP too, so it must hold no secret.
	Message string `json:"message"`
	// Data is what a program needs to act on the error, such as the list of fields that failed validation. Over the wire it
	// arrives as what JSON makes of it; DataAs reads it back into a type.
	Data any `json:"data,omitempty"`
	// Retryable means that the same call may succeed later and that trying again does no harm, because nothing was done. The
	// runtime sets it where the handler did not run; an author who sets it, or makes an error of a code that has it, states
	// the same about the handler. It does not pass through a handler that returns the error of a nested call.
	Retryable bool `json:"retryable,omitempty"`
	// Node names the node on which it happened.
	Node string `json:"node,omitempty"`

	cause error  // what it wraps; stays in this process
	stack []byte // of a panic; for the log, never sent
}

// NewError makes an error of the given class and name. Retryable is set for the codes that mean "try again"
// (Unavailable, ResourceExhausted).
func NewError(code Code, name, message string) *Error {
	return &Error{Code: code, Name: name, Message: message, Retryable: int(code) < len(codes) && codes[code].retryable}
}

// Errorf is NewError with a formatted message. A %w in the format makes the error wrap its argument in this process;
// over the wire only the text goes.
func Errorf(code Code, name, format string, args ...any) *Error {
	e := NewError(code, name, "")
	wrapped := fmt.Errorf(format, args...)
	e.Message, e.cause = wrapped.Error(), errors.Unwrap(wrapped)
	return e
}

// WithData returns a copy that carries data.
func (e *Error) WithData(data any) *Error {
	c := *e
	c.Data = data
	return &c
}

// Error is the name and the message: "OutOfStock: not enough in stock".
func (e *Error) Error() string {
	if e.Name == "" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}

// Unwrap is the cause, in the process where the error was made; nil elsewhere.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is the same error by code and name, so that a copy that came over the wire still matches the
// variable it was made from. DeadlineExceeded and Canceled match context's errors too.
func (e *Error) Is(target error) bool {
	switch target {
	case context.DeadlineExceeded:
		return e.Code == CodeDeadlineExceeded
	case context.Canceled:
		return e.Code == CodeCanceled
	}
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Name == e.Name
}

// HTTPStatus is the status of an HTTP answer with the error.
func (e *Error) HTTPStatus() int {
	if status, ok := builtinStatus[e.Name]; ok {
		return status
	}
	return e.Code.HTTPStatus()
}

// Stack is the stack of the panic this error stands for, or nil. It is for logs: it never leaves the process.
func (e *Error) Stack() []byte { return e.stack }

// LogValue writes the error as a group: code, name, message, node, and the stack of a panic.
func (e *Error) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("code", e.Code.String()), slog.String("name", e.Name), slog.String("message", e.Message), slog.String("node", e.Node),
	}
	if e.cause != nil {
		if cause := fmt.Sprint(e.cause); cause != e.Message { // by fmt, which takes a panic of its method for its text
			attrs = append(attrs, slog.String("cause", cause))
		}
	}
	if e.stack != nil {
		attrs = append(attrs, slog.String("stack", string(e.stack)))
	}
	return slog.GroupValue(attrs...)
}

// AsError finds the *Error in err's chain; a plain error becomes one of code Unknown that wraps it, context's errors
// become Canceled and DeadlineExceeded. It returns nil for nil only: a nil *Error that was returned as an error is one of code
// Unknown. Where a method of err panics (Error, Is, As, Unwrap), that is an ErrPanic with the stack.
func AsError(err error) (e *Error) {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok && e != nil {
		return e
	}
	defer func() {
		if v := recover(); v != nil {
			e = panicError(fmt.Sprintf("a method of the error %T", err), v)
		}
	}()
	return asError(err)
}

func asError(err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if ok && e == nil {
		return &Error{Code: CodeUnknown, Name: nameHandlerFailed, Message: "a nil *sabir.Error was returned as an error: return nil, as an error, for none"}
	}
	if ok {
		c := *e // keeps the text of the outer layers and what they match
		c.Message, c.cause = err.Error(), err
		return &c
	}
	if panicked := panicBeneath("a value", err); panicked != nil {
		return panicked
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeDeadlineExceeded, Name: nameDeadlineExceeded, Message: err.Error(), cause: err}
	case errors.Is(err, context.Canceled):
		return &Error{Code: CodeCanceled, Name: nameCanceled, Message: err.Error(), cause: err}
	}
	return &Error{Code: CodeUnknown, Name: nameHandlerFailed, Message: err.Error(), cause: err}
}

// DataAs reads the data of the *Error in err into a type: as it is when it was made in this process, through JSON when it
// came over the wire. An error without data, or with data of another shape, is an error; so is a type whose own methods panic,
// an ErrPanic with the stack.
func DataAs[T any](err error) (T, error) {
	var out T
	e := AsError(err)
	if e == nil || e.Data == nil {
		return out, errors.New("sabir: the error carries no data")
	}
	if v, ok := e.Data.(T); ok {
		return v, nil
	}
	if err = convertValue(&out, e.Data); err != nil {
		if panicked := panicBeneath("the data of the error", err); panicked != nil {
			err = panicked
		}
	}
	return out, err
}

// The names of the built-in errors: what the runtime itself answers. docs/errors.md explains each; a test holds both
// lists against each other.
const (
	nameActionNotFound = "ActionNotFound"
	nameServiceUnavailable    = "ServiceUnavailable"
	nameGroupGone      = "GroupGone"
	nameNodeState      = "NodeState"
	nameValidationFailed     = "ValidationFailed"
	nameBadInput       = "BadInput"
	nameBadOutput      = "BadOutput"
	nameInputTooLarge       = "InputTooLarge"
	nameUnsupportedMediaType      = "UnsupportedMediaType"
	nameMethodNotAllowed         = "MethodNotAllowed"
	nameDeadlineExceeded       = "DeadlineExceeded"
	nameCanceled       = "Canceled"
	namePanic          = "Panic"
	nameHandlerFailed        = "HandlerFailed"
	nameTooManyLevels  = "TooManyLevels"
	nameTooManyAbandoned      = "TooManyAbandoned"
	nameStreamWanted   = "StreamWanted"
	nameNoStream       = "NoStream"
	nameStreamEnded    = "StreamEnded"
	nameBadName        = "BadName"
	nameBadService        = "BadService"
	nameWrongSite      = "WrongSite"
	nameBadKey   = "BadKey"
	nameRateLimited    = "RateLimited"
	nameBulkheadFull   = "BulkheadFull"
	nameBreakerOpen    = "BreakerOpen"
	nameEventQueueFull = "EventQueueFull"
	nameNotANode       = "NotANode"
	nameLinkLost       = "LinkLost"
	nameJoinFailed           = "JoinFailed"
	nameBadChannel     = "BadChannel"
	nameNoChannels     = "NoChannels"
	nameChannelAway    = "ChannelAway"
	nameChannelFull    = "ChannelFull"
	nameNotOffered     = "NotOffered"
	nameChannelFailed        = "ChannelFailed"
	nameNoCommonCodec        = "NoCommonCodec"

	// What links answer: the names of package wire.
	nameTooManyCalls    = "TooManyCalls"
	nameTooManyStreams  = "TooManyStreams"
	nameMessageTooLarge = "MessageTooLarge"
	nameHeadTooLarge    = "HeadTooLarge"
	nameTooMuchDeclared = "TooMuchDeclared"
	nameNotAnswered     = "NotAnswered"
	nameBadCompression  = "BadCompression"
)

// The built-in errors that callers most often ask for with errors.Is.
var (
	// ErrActionNotFound is answered when no service offers the action.
	ErrActionNotFound = NewError(CodeNotFound, nameActionNotFound, "no such action")
	// ErrServiceUnavailable is answered when the action's service is being removed or the node is not running; retryable.
	ErrServiceUnavailable = NewError(CodeUnavailable, nameServiceUnavailable, "the service is not available")
	// ErrValidationFailed is answered when the input breaks the rules in its struct tags; Data is validate.Errors.
	ErrValidationFailed = NewError(CodeInvalidArgument, nameValidationFailed, "the input is not valid")
	// ErrBadInput is answered when the input cannot be read into the action's type.
	ErrBadInput = NewError(CodeInvalidArgument, nameBadInput, "the input cannot be read")
	// ErrDeadlineExceeded is answered when the call's deadline passed; errors.Is(err, context.DeadlineExceeded) holds too.
	ErrDeadlineExceeded = NewError(CodeDeadlineExceeded, nameDeadlineExceeded, "the deadline passed")
	// ErrCanceled is answered when the caller no longer waits; errors.Is(err, context.Canceled) holds too.
	ErrCanceled = NewError(CodeCanceled, nameCanceled, "the caller gave up")
	// ErrPanic is answered when the handler, a goroutine it started with Go, a middleware, or a method of the input, the answer
	// or the error (such as UnmarshalText, MarshalJSON, Validate) panicked, or ended its goroutine.
	ErrPanic = NewError(CodeInternal, namePanic, "the handler panicked")
	// ErrHandlerFailed is answered when the handler returned a plain Go error, which it wraps in the process where that was.
	ErrHandlerFailed = NewError(CodeUnknown, nameHandlerFailed, "the handler failed")
	// ErrBadOutput is answered when the answer does not fit the caller's type, or has no JSON form.
	ErrBadOutput = NewError(CodeInternal, nameBadOutput, "the answer cannot be given")
	// ErrTooManyLevels is answered when calls are nested deeper than MaxLevel allows.
	ErrTooManyLevels = NewError(CodeFailedPrecondition, nameTooManyLevels, "calls are nested too deep")
	// ErrStreamWanted is answered when an action that is a stream is called.
	ErrStreamWanted = NewError(CodeInvalidArgument, nameStreamWanted, "the action is a stream")
	// ErrUnsupportedMediaType is answered over HTTP when the body is not application/json.
	ErrUnsupportedMediaType = NewError(CodeInvalidArgument, nameUnsupportedMediaType, "the body is not JSON")
	// ErrMethodNotAllowed is answered over HTTP when the method is not the one for the address.
	ErrMethodNotAllowed = NewError(CodeUnimplemented, nameMethodNotAllowed, "the method is not for this address")
	// ErrBadName is answered when a name cannot be one of an action or an event.
	ErrBadName = NewError(CodeInvalidArgument, nameBadName, "that is no name")
	// ErrInputTooLarge is answered when the input is larger than the limit.
	ErrInputTooLarge = NewError(CodeInvalidArgument, nameInputTooLarge, "the input is too large")
	// ErrBadKey is answered when a caller's key is missing or wrong.
	ErrBadKey = NewError(CodeUnauthenticated, nameBadKey, "the key is missing or wrong")
	// ErrWrongSite is answered over HTTP when a browser calls for a page of another site, or by a name that is not the node's.
	ErrWrongSite = NewError(CodePermissionDenied, nameWrongSite, "the request comes from or is for another site")
	// ErrNotANode is answered when something other than a node answers at the address of a call; its code follows the status.
	ErrNotANode = NewError(CodeUnknown, nameNotANode, "that is no Sabir node")
	// ErrLinkLost is answered when the link to another node was lost under a call. It is retryable where the call did not
	// leave this node, or the action is [Idempotent].
	ErrLinkLost = NewError(CodeUnavailable, nameLinkLost, "the link was lost")
	// ErrTooManyCalls is answered when a node has as many calls of others in flight as it takes; retryable.
	ErrTooManyCalls = NewError(CodeResourceExhausted, nameTooManyCalls, "too many calls in flight")
	// ErrTooManyAbandoned is answered when too many handlers still run past their deadlines; retryable.
	ErrTooManyAbandoned = NewError(CodeResourceExhausted, nameTooManyAbandoned, "too many handlers are running past their deadlines")
	// ErrMessageTooLarge is answered when a value is larger than the other node takes; see [LinkLimits].
	ErrMessageTooLarge = NewError(CodeResourceExhausted, nameMessageTooLarge, "the value is too large")
	// ErrNoCommonCodec: two nodes have no format for values in common; see Codecs.
	ErrNoCommonCodec = NewError(CodeFailedPrecondition, nameNoCommonCodec, "no codec in common")
	// ErrJoinFailed: the node cannot become a member of its cluster.
	ErrJoinFailed = NewError(CodeUnavailable, nameJoinFailed, "the node cannot join")
	// ErrChannelAway is answered when the broker of a channel cannot be reached or does not answer; retryable. What was
	// published may be kept all the same.
	ErrChannelAway = NewError(CodeUnavailable, nameChannelAway, "the broker is away")
	// ErrRateLimited is answered by policy.RateLimit; retryable.
	ErrRateLimited = NewError(CodeResourceExhausted, nameRateLimited, "too many calls")
	// ErrBulkheadFull is answered by policy.Bulkhead; retryable.
	ErrBulkheadFull = NewError(CodeResourceExhausted, nameBulkheadFull, "too many calls at once")
	// ErrBreakerOpen is answered by policy.Breaker; retryable.
	ErrBreakerOpen = NewError(CodeUnavailable, nameBreakerOpen, "the circuit breaker is open")
)

// builtinStatus holds the built-in names whose HTTP status is more specific than their code's.
var builtinStatus = map[string]int{
	nameValidationFailed: 422,
	nameInputTooLarge:   413,
	nameUnsupportedMediaType:  415,
	nameMethodNotAllowed:     405,

	nameMessageTooLarge: 413,
}

// Code is the class of an [Error]: what kind of thing went wrong, whatever the service. The set and the numbers are
// those of gRPC (https://grpc.io/docs/guides/status-codes), so a code means to a Go programmer what it always meant.
type Code uint8

// The codes. Their HTTP and gRPC status are in docs/errors.md, which a test holds against this file.
const (
	CodeOK                 Code = 0  // not an error; never the code of an Error
	CodeCanceled           Code = 1  // the caller no longer waits
	CodeUnknown            Code = 2  // a plain Go error from a handler
	CodeInvalidArgument    Code = 3  // the input is wrong, whatever the state of the service
	CodeDeadlineExceeded   Code = 4  // the deadline passed first; the work may still have been done
	CodeNotFound           Code = 5  // the action, or the thing asked for, does not exist
	CodeAlreadyExists      Code = 6  // the thing to create is there already
	CodePermissionDenied   Code = 7  // the caller is known and may not
	CodeResourceExhausted  Code = 8  // a limit was reached: rate, queue, quota
	CodeFailedPrecondition Code = 9  // the state of the service forbids it; do not retry before the state changed
	CodeAborted            Code = 10 // a conflict with another call
	CodeOutOfRange         Code = 11 // past the end of something
	CodeUnimplemented      Code = 12 // not offered
	CodeInternal           Code = 13 // a fault of the service: a panic, a broken invariant
	CodeUnavailable        Code = 14 // not reachable now; trying again may help
	CodeDataLoss           Code = 15 // data is gone or damaged
	CodeUnauthenticated    Code = 16 // the caller is not known
)

// codes is the one table of a code's name and statuses, indexed by the code, which is its gRPC status too.
var codes = [...]struct {
	name      string
	http      int
	retryable bool
}{
	CodeOK:                 {"OK", 200, false},
	CodeCanceled:           {"Canceled", 499, false},
	CodeUnknown:            {"Unknown", 500, false},
	CodeInvalidArgument:    {"InvalidArgument", 400, false},
	CodeDeadlineExceeded:   {"DeadlineExceeded", 504, false},
	CodeNotFound:           {"NotFound", 404, false},
	CodeAlreadyExists:      {"AlreadyExists", 409, false},
	CodePermissionDenied:   {"PermissionDenied", 403, false},
	CodeResourceExhausted:  {"ResourceExhausted", 429, true},
	CodeFailedPrecondition: {"FailedPrecondition", 409, false},
	CodeAborted:            {"Aborted", 409, false},
	CodeOutOfRange:         {"OutOfRange", 400, false},
	CodeUnimplemented:      {"Unimplemented", 501, false},
	CodeInternal:           {"Internal", 500, false},
	CodeUnavailable:        {"Unavailable", 503, true},
	CodeDataLoss:           {"DataLoss", 500, false},
	CodeUnauthenticated:    {"Unauthenticated", 401, false},
}

// String is the code's name, such as "NotFound".
func (c Code) String() string {
	if int(c) < len(codes) {
		return codes[c].name
	}
	return fmt.Sprintf("Code(%d)", uint8(c))
}

// HTTPStatus is the HTTP status for errors of this code; 500 for a code that is not in the table.
func (c Code) HTTPStatus() int {
	if int(c) < len(codes) {
		return codes[c].http
	}
	return 500
}

// GRPCStatus is the gRPC status number for errors of this code; 2 (UNKNOWN) for a code that is not in the table.
func (c Code) GRPCStatus() int {
	if int(c) < len(codes) {
		return int(c)
	}
	return int(CodeUnknown)
}

// MarshalText gives the name, for JSON and for logs.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name; one that is not in the table is an error.
func (c *Code) UnmarshalText(text []byte) error {
	for i := range codes {
		if codes[i].name == string(text) {
			*c = Code(i)
			return nil
		}
	}
	return fmt.Errorf("sabir: no error code is called %q", text)
}
