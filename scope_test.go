package sabir_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

// logged gives a node a log that a test can read.
func logged() (sabir.NodeOption, func() string) {
	var mu sync.Mutex
	var buf bytes.Buffer
	w := writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return buf.Write(p)
	})
	return sabir.Logger(slog.New(slog.NewTextHandler(w, nil))), func() string {
		mu.Lock()
		defer mu.Unlock()
		return buf.String()
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// waysToCall are the contexts that a call can be made from: the runtime treats them differently, the outcome is the same.
func waysToCall(t *testing.T) map[string]context.Context {
	withDeadline, cancel := context.WithTimeout(context.Background(), time.Hour)
	t.Cleanup(cancel)
	return map[string]context.Context{
		"bare context":          context.Background(),
		"cancellable context":   t.Context(),
		"context with deadline": withDeadline,
	}
}

func TestPanicIsItsCallersErrorWithAStackInTheLog(t *testing.T) {
	log, text := logged()
	s := sabir.NewService("bad")
	sabir.Handle(s, "panic", func(context.Context, struct{}) (struct{}, error) { panic("boom") })
	node := start(t, sabir.Serve(s, greeter()), log)
	for name, ctx := range waysToCall(t) {
		_, err := sabir.Call[struct{}](ctx, node, "bad.panic", struct{}{})
		if !errors.Is(err, sabir.ErrPanic) || strings.Contains(err.Error(), "boom") || !strings.Contains(err.Error(), "bad.panic") {
			t.Errorf("%s: got %v", name, err)
		}
		if cause := errors.Unwrap(err); cause == nil || cause.Error() != "boom" {
			t.Errorf("%s: cause %v", name, cause)
		}
		if out, err := sabir.Call[helloReply](ctx, node, "greeter.hello", helloRequest{"Ada", 1}); err != nil || out.Age != 2 {
			t.Errorf("%s: others are disturbed: %v, %v", name, out, err)
		}
	}
	if !strings.Contains(text(), "boom") || !strings.Contains(text(), "scope_test.go") {
		t.Errorf("log has no stack: %s", text())
	}
}

func TestPanicInAGoroutineOfTheCallIsItsCallersError(t *testing.T) {
	log, _ := logged()
	s := sabir.NewService("bad")
	sabir.Handle(s, "sync", func(ctx context.Context, _ struct{}) (struct{}, error) {
		sabir.Go(ctx, func(context.Context) error { panic("now") })
		return struct{}{}, nil
	})
	sabir.Handle(s, "later", func(ctx context.Context, _ struct{}) (struct{}, error) {
		returned := make(chan struct{})
		defer close(returned)
		sabir.Go(ctx, func(ctx context.Context) error {
			sabir.Go(ctx, func(context.Context) error { // a goroutine of a goroutine
				<-returned
				panic("later")
			})
			return nil
		})
		return struct{}{}, nil
	})
	sabir.Handle(s, "error", func(ctx context.Context, _ struct{}) (struct{}, error) {
		sabir.Go(ctx, func(context.Context) error { return sabir.NewError(sabir.CodeNotFound, "NoFile", "no such file") })
		return struct{}{}, nil
	})
	sabir.Handle(s, "fine", func(ctx context.Context, _ struct{}) (struct{}, error) {
		sabir.Go(ctx, func(context.Context) error { return nil })
		return struct{}{}, nil
	})
	node := start(t, sabir.Serve(s), log)
	for way, ctx := range waysToCall(t) {
		for action, want := range map[string]error{
			"bad.sync": sabir.ErrPanic, "bad.later": sabir.ErrPanic, "bad.error": sabir.NewError(sabir.CodeNotFound, "NoFile", ""), "bad.fine": nil,
		} {
			var wg sync.WaitGroup
			for range 20 { // calls at the same time do not mix up their goroutines
				wg.Go(func() {
					if _, err := sabir.Call[struct{}](ctx, node, action, struct{}{}); !errors.Is(err, want) {
						t.Errorf("%s, %s: got %v", way, action, err)
					}
				})
			}
			wg.Wait()
		}
	}
}

func TestCallWaitsForItsGoroutines(t *testing.T) {
	var done [10]bool
	s := sabir.NewService("many")
	sabir.Handle(s, "go", func(ctx context.Context, _ struct{}) (struct{}, error) {
		for i := range done {
			sabir.Go(ctx, func(context.Context) error { done[i] = true; return nil })
		}
		return struct{}{}, nil
	})
	node := start(t, sabir.Serve(s))
	ways := waysToCall(t)
	ways["bare context, again"] = context.Background()
	for name, ctx := range ways {
		clear(done[:])
		if _, err := sabir.Call[struct{}](ctx, node, "many.go", struct{}{}); err != nil {
			t.Fatal(err)
		}
		for i, ok := range done {
			if !ok {
				t.Errorf("%s: goroutine %d had not ended", name, i)
			}
		}
	}
}

func TestFailureOfOneGoroutineCancelsTheOthers(t *testing.T) {
	s := sabir.NewService("many")
	sabir.Handle(s, "go", func(ctx context.Context, _ struct{}) (struct{}, error) {
		sabir.Go(ctx, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		sabir.Go(ctx, func(context.Context) error { return errors.New("first") })
		return struct{}{}, nil
	})
	node := start(t, sabir.Serve(s))
	for name, ctx := range waysToCall(t) {
		if _, err := sabir.Call[struct{}](ctx, node, "many.go", struct{}{}); err == nil || !strings.Contains(err.Error(), "first") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCallerWithADeadlineLearnsOfAPanicWhileTheHandlerStillWaits(t *testing.T) {
	log, _ := logged()
	release := make(chan struct{})
	defer close(release)
	s := sabir.NewService("bad")
	sabir.Handle(s, "hang", func(ctx context.Context, _ struct{}) (struct{}, error) {
		sabir.Go(ctx, func(context.Context) error { panic("gone") })
		<-release
		return struct{}{}, nil
	})
	node := start(t, sabir.Serve(s), log)
	if _, err := sabir.Call[struct{}](t.Context(), node, "bad.hang", struct{}{}, sabir.WithTimeout(time.Hour)); !errors.Is(err, sabir.ErrPanic) {
		t.Fatalf("got %v", err)
	}
}

func TestGoOutsideACallIsolatesItsPanic(t *testing.T) {
	old := slog.Default()
	defer slog.SetDefault(old)
	// SetDefault also sends the lines of package log through the new logger, and setting the old one does not undo that.
	defer func(w io.Writer, flags int) { log.SetOutput(w); log.SetFlags(flags) }(log.Writer(), log.Flags())
	written := make(chan string, 1)
	slog.SetDefault(slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) { written <- string(p); return len(p), nil }), nil)))
	sabir.Go(t.Context(), func(context.Context) error { panic("alone") })
	if text := <-written; !strings.Contains(text, "alone") {
		t.Fatalf("logged %q", text)
	}
}
