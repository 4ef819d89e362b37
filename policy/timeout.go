package policy

import (
	"context"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/signal"
)

// Timeout bounds the time a call may take from here inwards: at the limit its context ends and its caller is answered
// with sabir.ErrDeadlineExceeded (not retryable), even if the handler never returns. The handler then
// runs on by itself until it does; 1000 such of one action at most, further calls fail at once. The limit must be positive.
//
// A handler that must be let go runs on a goroutine other than its caller's, which costs a hand-over. An action declared
// sabir.Inline promises not to block: it stays on its caller's goroutine, and only its context ends. So does a call to
// another node, where it is the link that watches the context.
//
// A caller's own deadline that is nearer stays in force. The signal signal.TimedOut is sent when a call ends with
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
	return sabir.Middleware{Name: s.name, Local: s.checked(local), Remote: s.checked(remote)}
}

func signalTimeout(ctx context.Context, a *sabir.Action, err error) {
	if sabir.AsError(err).Code == sabir.CodeDeadlineExceeded && ctx.Err() == nil {
		a.Signal(signal.TimedOut)
	}
}
