package sabir

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/introspect"
)

// ServerStream declares that a stream takes one value and answers with any number, as a server stream of gRPC does. Its handler's second
// Recv returns io.EOF, and its first an [ErrBadInput] where the caller sent none. A caller's first Send closes the caller's direction. It is
// an option of [HandleStream] and [NewStream].
func ServerStream() ActionOption { return shapeOption("ServerStream", introspect.ServerStream) }

// ClientStream declares that a stream takes any number of values and answers with one, as a client stream of gRPC does. A handler that
// sends a second one, or returns nil without having sent any, has made a mistake, which is the error BadOutput. One that returns the io.EOF
// of Recv instead of an answer wanted more values than it got, which is an [ErrBadInput]. It is an option of [HandleStream] and [NewStream].
func ClientStream() ActionOption { return shapeOption("ClientStream", introspect.ClientStream) }

func shapeOption(name string, shape introspect.Shape) ActionOption {
	return actionOptionOnce("the shape of a stream", option.Caller(), func(d *definition) {
		if d.shape = shape; !d.stream {
			d.problems = append(d.problems, Errorf(CodeInvalidArgument, nameBadOption, "%s: %s is for HandleStream: the action %q is no stream", d.where, name, d.short))
		}
	})
}

// untilInputEnds returns fn for which the io.EOF of Recv, returned as it is, is no error: a handler that passes on what Recv returned
// ends when its input does. An io.EOF that came from elsewhere stays an error.
func untilInputEnds(fn func(context.Context, streamEnd) error) func(context.Context, streamEnd) (inputEnded bool, err error) {
	return func(ctx context.Context, s streamEnd) (bool, error) {
		var received atomic.Bool // handlers may receive in a goroutine that they leave behind
		watched := s
		watched.recv = func(to any) error {
			err := s.recv(to)
			if err == io.EOF {
				received.Store(true)
			}
			return err
		}
		err := fn(ctx, watched)
		if err == io.EOF && received.Load() {
			return true, nil
		}
		return false, err
	}
}

// inShape returns fn with a stream that keeps to the action's shape, and that may end with its input.
func inShape(a *Action, fn func(context.Context, streamEnd) error) func(context.Context, streamEnd) error {
	run := untilInputEnds(fn)
	switch a.Shape {
	case introspect.ServerStream:
		return func(ctx context.Context, s streamEnd) error {
			one, received := s, false
			one.recv = func(to any) error {
				if received {
					return io.EOF
				}
				err := s.recv(to)
				if received = err == nil; err == io.EOF {
					err = NewError(CodeInvalidArgument, nameBadInput, a.Name+" takes one value, and got none")
				}
				return err
			}
			_, err := run(ctx, one)
			return err
		}
	case introspect.ClientStream:
		return func(ctx context.Context, s streamEnd) error {
			one, sent := s, false
			one.send = func(from any) error {
				if sent {
					return NewError(CodeInternal, nameBadOutput, a.Name+" answers with one value, and its handler sent a second")
				}
				err := s.send(from)
				sent = err == nil
				return err
			}
			inputEnded, err := run(ctx, one)
			if inputEnded && !sent {
				return NewError(CodeInvalidArgument, nameBadInput, a.Name+" wants more values than it got")
			}
			if err == nil && !sent {
				err = NewError(CodeInternal, nameBadOutput, a.Name+" answers with one value, and its handler returned without one")
			}
			return err
		}
	}
	return func(ctx context.Context, s streamEnd) error {
		_, err := run(ctx, s)
		return err
	}
}

// callerInShape is the caller's end of a stream that keeps to the action's shape.
func callerInShape(a *Action, s streamEnd) streamEnd {
	if a.Shape != introspect.ServerStream {
		return s
	}
	one, sent := s, false
	one.closeSend = sync.OnceFunc(s.closeSend)
	one.send = func(from any) error {
		if sent {
			return &Error{Code: CodeFailedPrecondition, Name: nameStreamEnded, Message: a.Name + " takes one value, which was sent"}
		}
		err := s.send(from)
		if sent = err == nil; sent {
			one.closeSend()
		}
		return err
	}
	return one
}
