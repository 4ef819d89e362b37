package sabir

import (
	"context"
	"errors"
	"testing"
	"time"
)

// wrapFlow is the stream svc.flow of another node with a middleware around it.
func wrapFlow(t *testing.T, ctx context.Context, around func(ctx context.Context, r *Request, next Handler) error) *Action {
	t.Helper()
	wrapped, err := calledAndCaller(t, ctx, []string{"a"}).Action("svc.flow").With(Middleware{Stream: func(_ *Action, next Handler) Handler {
		return func(ctx context.Context, r *Request) error { return around(ctx, r, next) }
	}})
	if err != nil {
		t.Fatal(err)
	}
	return wrapped
}

func TestAMiddlewareMayLimitTheTimeOfAStreamOfAnotherNode(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	flow := wrapFlow(t, ctx, func(ctx context.Context, r *Request, next Handler) error { return r.Within(ctx, time.Minute, next) })
	stream, err := OpenAction[int, string](ctx, flow)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := stream.Send(1); err != nil {
		t.Fatal(err)
	}
	if on, err := stream.Recv(); on != "a" || err != nil {
		t.Errorf("%s, %v", on, err)
	}
}

func TestAStreamThatOpensAfterAMiddlewareHasAnsweredIsEnded(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tooLate := errors.New("too late")
	ended := make(chan error, 1)
	flow := wrapFlow(t, ctx, func(ctx context.Context, r *Request, next Handler) error {
		go func() { ended <- next(ctx, r) }()
		return tooLate
	})
	for range 100 {
		stream, err := OpenAction[int, string](ctx, flow)
		if err == nil { // it was first
			stream.Close()
		} else if !errors.Is(err, tooLate) {
			t.Fatal(err)
		}
		select {
		case <-ended:
		case <-ctx.Done():
			t.Fatal("the stream stays open, and nobody has it")
		}
	}
}
