package channel

import (
	"context"
	"errors"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/errname"
)

// errBadOption is the runtime's error of options that cannot work.
var errBadOption = sabir.NewError(sabir.CodeInvalidArgument, errname.BadOption, "")

// The errors of channels. Each variable is spelled as the name that goes over the wire, and docs/errors.md is made of their
// comments: errors.Is finds them in what Publish and the others return, and in what a call of $channels returns.
var (
	// errBadChannel: a channel, a message's id or a request about dead letters is not valid, or the channel was not made by
	// [New]. See the message.
	errBadChannel = sabir.NewError(sabir.CodeInvalidArgument, "BadChannel", "the channel is not valid")
	// errNoChannels: the node has no broker for channels, or does not use that one. Give it a [Broker], or ask a node that
	// uses the channel.
	errNoChannels = sabir.NewError(sabir.CodeFailedPrecondition, "NoChannels", "the node has no such channels")
	// ErrChannelUnreachable: the broker of a channel cannot be reached, or did not answer in time; what was published may be kept all
	// the same. Try again, with the same ID.
	ErrChannelUnreachable = sabir.NewError(sabir.CodeUnavailable, "ChannelUnreachable", "the broker cannot be reached").AsRetryable()
	// ErrChannelFull: the broker of a channel has no space on its disk or in its memory. What was published was not kept, unless it was
	// on its way when the broker became full. Make space, and try again later, with the same ID.
	ErrChannelFull = sabir.NewError(sabir.CodeResourceExhausted, "ChannelFull", "the broker has no space").AsRetryable()
	// errNotOffered: the broker cannot do what the channel or its consumer asks for. See the message.
	errNotOffered = sabir.NewError(sabir.CodeUnimplemented, "NotOffered", "the broker does not offer that")
	// errChannelFailed: the broker of a channel refused for another reason. See the message.
	errChannelFailed = sabir.NewError(sabir.CodeInternal, "ChannelFailed", "the broker refused")
)

// failure makes an error of the class, the name and the retryability of another, with a message of its own.
func failure(as *sabir.Error, format string, args ...any) *sabir.Error {
	e := sabir.Errorf(as.Code, as.Name, format, args...)
	e.Retryable = as.Retryable
	return e
}

// failure makes an error that happened on the broker's node.
func (b *broker) failure(as *sabir.Error, format string, args ...any) *sabir.Error {
	e := failure(as, format, args...)
	e.Node = b.node.ID()
	return e
}

// engineErrors maps the errors of engines to those of callers.
var engineErrors = []struct {
	engine error
	caller *sabir.Error
}{
	{engine.ErrUnreachable, ErrChannelUnreachable},
	{engine.ErrFull, ErrChannelFull},
	{engine.ErrTooLarge, sabir.ErrMessageTooLarge},
	{engine.ErrNotOffered, errNotOffered},
	{engine.ErrClosed, sabir.ErrServiceUnavailable},
}

// callerError makes the caller's error of an engine's. what is the operation that failed, such as "join group billing".
func (b *broker) callerError(what string, err error) error {
	if e, ok := err.(*sabir.Error); ok {
		return e
	}
	for _, known := range engineErrors {
		if errors.Is(err, known.engine) {
			return b.failure(known.caller, "cannot %s: %w", what, err)
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return sabir.AsError(err)
	}
	return b.failure(errChannelFailed, "cannot %s: %w", what, err)
}

// panicInside returns an ErrPanic, logged with its stack, where err comes from a panic in a value's own code, such as its
// UnmarshalText, or in a method of err; nil for any other error, whose methods can then be called. what names the value.
func (b *broker) panicInside(what string, err error) error {
	e := sabir.AsError(err)
	if e.Stack() == nil {
		return nil
	}
	failed := *e
	failed.Message, failed.Node = what+": "+e.Message, b.node.ID()
	b.node.Log().Error("panic", "node", failed.Node, "error", &failed)
	return &failed
}
