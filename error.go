package sabir

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/sabir-go/sabir/internal/errname"
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
	// Data holds details for a program to act on, such as the list of fields that failed validation. Over the wire it
	// arrives as the maps, lists and values of its JSON; DataAs reads it back into a type.
	Data any `json:"data,omitempty"`
	// Retryable means that the same call may succeed later and that trying again does no harm, because nothing was done. The
	// runtime sets it where the handler did not run; an author who sets it with AsRetryable states the same about the handler.
	// It does not pass through a handler that returns the error of a nested call.
	Retryable bool `json:"retryable,omitempty"`
	// Node names the node on which it happened.
	Node string `json:"node,omitempty"`

	cause error  // what it wraps; stays in this process
	stack []byte // of a panic; for the log, never sent
}

// NewError makes an error of the given class and name, which is not retryable: only its author knows whether a handler that
// returns it has done nothing yet, and says so with [Error.AsRetryable]. CodeOK is no class of errors, so NewError and Errorf
// panic with it.
func NewError(code Code, name, message string) *Error {
	if code == CodeOK {
		panic("sabir: the error " + name + " has CodeOK, which no error has: give it another code")
	}
	return &Error{Code: code, Name: name, Message: message}
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

// AsRetryable returns a copy with Retryable set: where a handler returns it, it has done nothing yet, and the same call may
// succeed later. policy.Retry, clients and browsers then call again.
func (e *Error) AsRetryable() *Error {
	c := *e
	c.Retryable = true
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
// Unknown, and so is one of code OK, such as an &Error{} that was given no code. Where a method of err panics (Error, Is, As, Unwrap), that is an ErrPanic with the stack.
// The name and the message are UTF-8: JSON could not carry others, so bytes that are none are replaced by U+FFFD.
func AsError(err error) (e *Error) {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok && e != nil && e.Code != CodeOK && utf8.ValidString(e.Message) && utf8.ValidString(e.Name) {
		return e
	}
	defer func() {
		if v := recover(); v != nil {
			e = panicError(fmt.Sprintf("a method of the error %T", err), v)
		}
	}()
	e = asError(err)
	e.Name, e.Message = strings.ToValidUTF8(e.Name, "\ufffd"), strings.ToValidUTF8(e.Message, "\ufffd")
	return e
}

func asError(err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if ok && e == nil {
		return &Error{Code: CodeUnknown, Name: nameHandlerFailed, Message: "a nil *sabir.Error was returned as an error: return nil, as an error, for none"}
	}
	if ok {
		c := *e // keeps the text of the outer layers and what they match
		if err != error(e) {
			c.Message = strings.TrimPrefix(err.Error(), c.Name+": ") // which Error puts before it: fmt.Errorf("%w: more", e) begins with it
		}
		c.cause = err
		if c.Code == CodeOK {
			c.Code = CodeUnknown
		}
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

// The names of the errors below, as they go over the wire.
const (
	nameActionNotFound       = "ActionNotFound"
	nameServiceUnavailable   = "ServiceUnavailable"
	nameGroupGone            = "GroupGone"
	nameNodeState            = "NodeState"
	nameBadOption            = errname.BadOption
	nameBadService           = "BadService"
	nameBadName              = errname.BadName
	nameBadContract          = "BadContract"
	nameValidationFailed     = "ValidationFailed"
	nameBadInput             = "BadInput"
	nameBadOutput            = errname.BadOutput
	nameInputTooLarge        = errname.InputTooLarge
	nameUnsupportedMediaType = errname.UnsupportedMediaType
	nameMethodNotAllowed     = errname.MethodNotAllowed
	nameCrossOrigin          = errname.CrossOrigin
	nameCallerRefused        = "CallerRefused"
	nameNotANode             = errname.NotANode
	nameBadKey               = errname.BadKey
	nameLinkLost             = "LinkLost"
	nameNoCommonCodec        = errname.NoCommonCodec
	nameJoinFailed           = errname.JoinFailed
	nameTooManyCalls         = "TooManyCalls"
	nameNoQuorum             = "NoQuorum"
	nameTooManyStreams       = errname.TooManyStreams
	nameMessageTooLarge      = "MessageTooLarge"
	nameHeadTooLarge         = errname.HeadTooLarge
	nameTooMuchDeclared      = "TooMuchDeclared"
	nameNotAnswered          = "NotAnswered"
	nameBadCompression       = "BadCompression"
	nameDeadlineExceeded     = "DeadlineExceeded"
	nameCanceled             = "Canceled"
	namePanic                = "Panic"
	nameHandlerFailed        = "HandlerFailed"
	nameTooManyLevels        = errname.TooManyLevels
	nameTooManyAbandoned     = errname.TooManyAbandoned
	nameStreamWanted         = errname.StreamWanted
	nameNoStream             = errname.NoStream
	nameStreamEnded          = "StreamEnded"
	nameStreamTooSlow        = errname.StreamTooSlow
	nameEventQueueFull       = "EventQueueFull"
	nameRateLimited          = "RateLimited"
	nameBulkheadFull         = errname.BulkheadFull
	nameBreakerOpen          = "BreakerOpen"
	nameNoDescription        = "NoDescription"
)

// The errors of the runtime itself. Each variable is spelled as the name that goes over the wire, and docs/errors.md is made
// of their comments: errors.Is finds them in what a call returns, wherever it ran. Those that no program has a reason to match are not exported.
var (
	// ErrActionNotFound: no service offers the action, and none is known to have; the message names the nearest. Check the name, and
	// that the service is running.
	ErrActionNotFound = NewError(CodeNotFound, nameActionNotFound, "no such action")
	// ErrServiceUnavailable: the service is being removed, its node is not running, no node that has it can be reached, or none offers
	// the action now though one did lately, or this node depends on the service or binds the action. Try again.
	ErrServiceUnavailable = NewError(CodeUnavailable, nameServiceUnavailable, "the service is not available").AsRetryable()
	// errGroupGone: no service of the group takes the event any more on the node that was chosen a moment before: the table of events no longer has it. The runtime chooses another.
	errGroupGone = NewError(CodeUnavailable, nameGroupGone, "the service is being removed").AsRetryable()
	// errNodeState: a start, a stop, a change of a node or an event in the wrong state of the node. The message names both
	// states.
	errNodeState = NewError(CodeFailedPrecondition, nameNodeState, "the node is not in the state for that")
	// errBadOption: an option of NewNode or the codec of an action is not valid, is given twice, or needs a package that the program does not import. Do
	// what the message says.
	errBadOption = NewError(CodeInvalidArgument, nameBadOption, "an option is not valid")
	// errBadService: a service cannot start: bad names, duplicates, options given twice, unreadable rules, a circle of needs.
	// Mend what the message lists, with file and line.
	errBadService = NewError(CodeInvalidArgument, nameBadService, "the service is not valid")
	// errBadName: the name or pattern of an event is not words joined by dots. Mend the name.
	errBadName = NewError(CodeInvalidArgument, nameBadName, "that is no name")
	// errBadContract: a contract was not made by NewAction, NewStream or NewEvent. Make it with one of them.
	errBadContract = NewError(CodeInvalidArgument, nameBadContract, "the contract is not valid")
	// ErrValidationFailed: the input breaks rules in its struct tags; Data is validate.Errors, with every field. Show the
	// fields to whoever filled them in.
	ErrValidationFailed = NewError(CodeInvalidArgument, nameValidationFailed, "the input is not valid")
	// ErrBadInput: the input cannot be read into the type of the action or of a handler of the event; the message says where.
	// Mend the input, or agree on the types.
	ErrBadInput = NewError(CodeInvalidArgument, nameBadInput, "the input cannot be read")
	// errBadOutput: the handler's answer does not fit the caller's type, or has no JSON form. Agree on the types.
	errBadOutput = NewError(CodeInternal, nameBadOutput, "the answer cannot be given")
	// errInputTooLarge: over HTTP: the body is larger than the limit. Send less.
	errInputTooLarge = NewError(CodeInvalidArgument, nameInputTooLarge, "the input is too large")
	// errUnsupportedMediaType: over HTTP: the body is not of a type that the address takes, application/json or what streams
	// take. Set Content-Type.
	errUnsupportedMediaType = NewError(CodeInvalidArgument, nameUnsupportedMediaType, "the body is not JSON")
	// errMethodNotAllowed: over HTTP: the address takes other methods. Use one that the header Allow lists.
	errMethodNotAllowed = NewError(CodeUnimplemented, nameMethodNotAllowed, "the method is not for this address")
	// errCrossOrigin: over HTTP: a browser calls for a page of another site, or by a host name that is not the node's. Call by
	// the node's own name.
	errCrossOrigin = NewError(CodePermissionDenied, nameCrossOrigin, "the request comes from or is for another site")
	// ErrCallerRefused: the rules of the action say that this caller may not call it, see Allow. Have its author name the caller's node or
	// service.
	ErrCallerRefused = NewError(CodePermissionDenied, nameCallerRefused, "the action is not for this caller")
	// errNotANode: something other than a Sabir node answered at the address; the code of the error follows the HTTP status.
	// Check the address, and proxies on the way.
	errNotANode = NewError(CodeUnknown, nameNotANode, "that is no Sabir node")
	// errBadKey: the key is missing or wrong. Send Authorization: Bearer with the key.
	errBadKey = NewError(CodeUnauthenticated, nameBadKey, "the key is missing or wrong")
	// ErrLinkLost: the link to another node was lost under the call. It is retryable where the call did not leave this node,
	// or the action is [Idempotent]; otherwise the work may have been done.
	ErrLinkLost = NewError(CodeUnavailable, nameLinkLost, "the link was lost")
	// errNoCommonCodec: two nodes have no format for values in common, see [Codecs]; the message says what each takes. Give
	// both a codec that they share.
	errNoCommonCodec = NewError(CodeFailedPrecondition, nameNoCommonCodec, "no codec in common")
	// errJoinFailed: a node with [Join] cannot start: the address is taken or not allowed, the key is wrong, or the cluster is
	// another. See the message.
	errJoinFailed = NewError(CodeUnavailable, nameJoinFailed, "the node cannot join")
	// ErrTooManyCalls: a node has so much to do that the call could not have been answered in time, or has as many calls of others in flight
	// as it takes, see [cluster.Limits]. The call was not begun. Try again later, or on another node.
	ErrTooManyCalls = NewError(CodeResourceExhausted, nameTooManyCalls, "too many calls in flight").AsRetryable()
	// ErrNoQuorum: fewer nodes than the [Quorum] offer the action, or too many of their calls failed; the error wraps theirs. See what they say.
	ErrNoQuorum = NewError(CodeUnavailable, nameNoQuorum, "too few nodes answered")
	// errTooManyStreams: a node has as many streams open as it takes, see [cluster.Limits]; over HTTP 4,096, or 100 of a
	// connection; or those that are open hold more than their part of [Limits]. Try again later.
	errTooManyStreams = NewError(CodeResourceExhausted, nameTooManyStreams, "too many streams").AsRetryable()
	// ErrMessageTooLarge: an input, an answer or a value of a stream is larger than the other node takes, see [cluster.Limits].
	// Send less, or use a stream.
	ErrMessageTooLarge = NewError(CodeResourceExhausted, nameMessageTooLarge, "the value is too large")
	// errHeadTooLarge: metadata, request id and the names of caller, event and groups are together larger than 48 KiB. Carry less.
	errHeadTooLarge = NewError(CodeResourceExhausted, nameHeadTooLarge, "the metadata is too large")
	// errTooMuchDeclared: the name of an action, of an event's group or of a codec is longer than 1 KiB. Use a shorter one.
	errTooMuchDeclared = NewError(CodeResourceExhausted, nameTooMuchDeclared, "a name is too long")
	// errNotAnswered: a handler ended its goroutine. Do not call runtime.Goexit.
	errNotAnswered = NewError(CodeInternal, nameNotAnswered, "the handler did not answer")
	// errBadCompression: a compressed value cannot be read: the other node is broken.
	errBadCompression = NewError(CodeInternal, nameBadCompression, "a compressed value cannot be read")
	// ErrDeadlineExceeded: the deadline passed first; errors.Is(err, context.DeadlineExceeded) holds too. Allow more time; the
	// work may have been done.
	ErrDeadlineExceeded = NewError(CodeDeadlineExceeded, nameDeadlineExceeded, "the deadline passed")
	// ErrCanceled: the caller no longer waits; errors.Is(err, context.Canceled) holds too.
	ErrCanceled = NewError(CodeCanceled, nameCanceled, "the caller gave up")
	// ErrPanic: the handler, a goroutine it started with Go, a middleware, or a method of the input, the answer or the error
	// (such as UnmarshalText, MarshalJSON, Validate) panicked, or ended its goroutine. See the node's log.
	ErrPanic = NewError(CodeInternal, namePanic, "the handler panicked")
	// ErrHandlerFailed: the handler returned a plain Go error, which this one wraps in the process where that was. See the
	// node's log.
	ErrHandlerFailed = NewError(CodeUnknown, nameHandlerFailed, "the handler failed")
	// errTooManyLevels: calls are nested deeper than [Limits] allow: probably a circle. Break the circle.
	errTooManyLevels = NewError(CodeFailedPrecondition, nameTooManyLevels, "calls are nested too deep")
	// errTooManyAbandoned: 1,000 handlers of the action, or of HTTP, still run past their deadlines. Find out what they wait
	// for.
	errTooManyAbandoned = NewError(CodeResourceExhausted, nameTooManyAbandoned, "too many handlers are running past their deadlines").AsRetryable()
	// errStreamWanted: an action that is a stream was called. Use OpenStream or CallStream.
	errStreamWanted = NewError(CodeInvalidArgument, nameStreamWanted, "the action is a stream")
	// errNoStream: a stream was opened to an action that is none. Use Call.
	errNoStream = NewError(CodeInvalidArgument, nameNoStream, "the action is not a stream")
	// errStreamEnded: Send after CloseSend on a stream.
	errStreamEnded = NewError(CodeFailedPrecondition, nameStreamEnded, "the stream has ended")
	// errStreamTooSlow: the receiver of a stream took nothing for a second while the streams of the node held more than their part of
	// [Limits]. Open it again, and receive faster.
	errStreamTooSlow = NewError(CodeResourceExhausted, nameStreamTooSlow, "the stream was not received").AsRetryable()
	// errEventQueueFull: a queued handler of the event stayed full for 5 seconds. Emit less, or make the queue longer.
	errEventQueueFull = NewError(CodeResourceExhausted, nameEventQueueFull, "the queue of an event handler is full").AsRetryable()
	// ErrRateLimited: policy.RateLimit refused the call, or filter.RateLimit over HTTP. Try again later; Retry-After says
	// when.
	ErrRateLimited = NewError(CodeResourceExhausted, nameRateLimited, "too many calls").AsRetryable()
	// errBulkheadFull: policy.Bulkhead refused the call. Try again later.
	errBulkheadFull = NewError(CodeResourceExhausted, nameBulkheadFull, "too many calls at once").AsRetryable()
	// ErrBreakerOpen: policy.Breaker refused the call. Try again later.
	ErrBreakerOpen = NewError(CodeUnavailable, nameBreakerOpen, "the circuit breaker is open").AsRetryable()
	// errNoDescription: the types of an action cannot be described. See the message: it names the type.
	errNoDescription = NewError(CodeFailedPrecondition, nameNoDescription, "the types cannot be described")
)

// builtinStatus holds the built-in names whose HTTP status is more specific than their code's.
var builtinStatus = map[string]int{
	nameValidationFailed:     422,
	nameInputTooLarge:        413,
	nameUnsupportedMediaType: 415,
	nameMethodNotAllowed:     405,
	nameTooManyCalls:         503, // it is the server that has too much to do, not this client that asks too often

	nameMessageTooLarge: 413,

	"VersionMismatch":     412, // of package rest
	"RangeNotSatisfiable": 416, // of package web
}

// Code is the class of an [Error]: the kind of failure, whatever the service. The set and the numbers are those of gRPC
// (https://grpc.io/docs/guides/status-codes), so a code has the meaning that Go programmers know.
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
	name string
	http int
}{
	CodeOK:                 {"OK", 200},
	CodeCanceled:           {"Canceled", 499},
	CodeUnknown:            {"Unknown", 500},
	CodeInvalidArgument:    {"InvalidArgument", 400},
	CodeDeadlineExceeded:   {"DeadlineExceeded", 504},
	CodeNotFound:           {"NotFound", 404},
	CodeAlreadyExists:      {"AlreadyExists", 409},
	CodePermissionDenied:   {"PermissionDenied", 403},
	CodeResourceExhausted:  {"ResourceExhausted", 429},
	CodeFailedPrecondition: {"FailedPrecondition", 409},
	CodeAborted:            {"Aborted", 409},
	CodeOutOfRange:         {"OutOfRange", 400},
	CodeUnimplemented:      {"Unimplemented", 501},
	CodeInternal:           {"Internal", 500},
	CodeUnavailable:        {"Unavailable", 503},
	CodeDataLoss:           {"DataLoss", 500},
	CodeUnauthenticated:    {"Unauthenticated", 401},
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
