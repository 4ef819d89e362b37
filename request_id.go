package sabir

import (
	"context"

	"github.com/google/uuid"
)

// WithRequestID returns a context whose calls, and all they call in turn, carry the request id. Calls that come in over
// HTTP or from another node have one already; a call made in process from a bare context has none unless it is given
// here or by [RequestIDs], so that it need not pay for it.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// NewRequestID returns a fresh id for WithRequestID: a random UUID (RFC 9562, version 4).
func NewRequestID() string { return uuid.NewString() }

// RequestID is the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

type requestIDKey struct{}

// RequestIDs is a middleware that gives a fresh request id to each call, stream and event that has none:
//
//	node := sabir.NewNode(sabir.Use(sabir.RequestIDs()))
func RequestIDs() Middleware {
	call := func(_ *Action, next Handler) Handler {
		return func(ctx context.Context, r *Request) error { return next(withAnyRequestID(ctx), r) }
	}
	return Middleware{Name: "request ids", Local: call, Remote: call, Stream: call,
		Event: func(_ *Subscription, next EventHandler) EventHandler {
			return func(ctx context.Context, e *Event) error { return next(withAnyRequestID(ctx), e) }
		},
	}
}

func withAnyRequestID(ctx context.Context) context.Context {
	if RequestID(ctx) != "" {
		return ctx
	}
	return WithRequestID(ctx, NewRequestID())
}
