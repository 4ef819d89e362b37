package policy

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/signal"
)

// Timeout bounds the time a call may take from here inwards: at the limit its context ends and its caller is answered
// with sabir.ErrDeadlineExceeded (not retryable), even if the handler never returns. The handler then
// runs on by itself until it does; 1000 such of one action at most, further calls fail at once. The limit must be positive.
//
// A handler that must be let go runs on a goroutine other than its caller's, which costs a hand-over. An action declared
// sabir.Inline promises not to block: it stays on its caller's goroutine, and only its context ends. So does a call to
// another node, where it is the link that watches the context.
//
// Given to a handler of events or a consumer of a channel, it bounds the time of one event, in the same way: at the limit the emitter is answered
// and the log has a DeadlineExceeded; a message of a channel comes again, though the handler may still run.
//
// A caller's own deadline that is nearer stays in force. The signal "timeout" is sent when a call ends with
// a DeadlineExceeded while its caller still waits.
type Timeout time.Duration

// Middleware makes the middleware.
func (t Timeout) Middleware() sabir.Middleware {
	limit := time.Duration(t)
	s := &settings{name: "Timeout"}
	s.want(limit > 0, "the limit is %v; it must be positive", limit)
	local := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			err := r.Within(ctx, limit, next)
			if err != nil {
				signalTimeout(ctx, a, err)
			}
			return err
		}
	}
	remote := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			limited, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			err := next(limited, r)
			if err != nil {
				signalTimeout(ctx, a, err)
			}
			return err
		}
	}
	return sabir.Middleware{Name: s.name, Local: s.checked(local), Remote: s.checked(remote), Subscription: s.subscription(t.handler)}
}

// maxAbandoned bounds the handlings of events that one handler goes on with past its limit.
const maxAbandoned = 1000

// handler bounds the time of a handler of events.
func (t Timeout) handler(s *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
	limit := time.Duration(t)
	where := "the handler of " + s.Pattern + " in " + s.Service
	var abandoned atomic.Int32
	return func(ctx context.Context, e *sabir.Event) error {
		if abandoned.Load() >= maxAbandoned {
			return failure(errTooManyAbandoned, "%s is still running %d times past its limit of %v", where, maxAbandoned, limit)
		}
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		kept := *e // since the handler may outlive the delivery
		done := make(chan error, 1)
		go func() {
			err := error(failure(sabir.ErrPanic, "%s ended its goroutine", where))
			defer func() {
				if v := recover(); v != nil { // of a middleware further in, since that of the handler is an error already
					err = failure(sabir.ErrPanic, "%s panicked: %v", where, v)
				}
				done <- err
			}()
			err = next(limited, &kept)
		}()
		select {
		case err := <-done:
			return err
		case <-limited.Done():
		}
		abandoned.Add(1)
		go func() {
			<-done
			abandoned.Add(-1)
		}()
		if err := ctx.Err(); err != nil {
			return err
		}
		return failure(sabir.ErrDeadlineExceeded, "%s took longer than %v", where, limit)
	}
}

var errTooManyAbandoned = sabir.NewError(sabir.CodeResourceExhausted, errname.TooManyAbandoned, "").AsRetryable()

// failure is one of the runtime's errors with a message of its own.
func failure(kind *sabir.Error, format string, args ...any) *sabir.Error {
	return &sabir.Error{Code: kind.Code, Name: kind.Name, Retryable: kind.Retryable, Message: fmt.Sprintf(format, args...)}
}

func signalTimeout(ctx context.Context, a *sabir.Action, err error) {
	if sabir.AsError(err).Code == sabir.CodeDeadlineExceeded && ctx.Err() == nil {
		a.Signal(signal.TimedOut)
	}
}
