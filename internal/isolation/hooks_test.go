package isolation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
)

// nilError is a type whose nil pointer panics when it is asked for its text, as many do.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// badMatch panics when it is compared.
type badMatch struct{}

func (badMatch) Error() string { return "no match" }
func (badMatch) Is(error) bool { panic(secret) }

// panicking is a middleware with one function that panics.
func panicking(layer string) sabir.Middleware {
	call := func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(context.Context, *sabir.Request) error { panic(secret) }
	}
	switch layer {
	case "Local":
		return sabir.Middleware{Local: call}
	case "Remote":
		return sabir.Middleware{Remote: call}
	}
	return sabir.Middleware{Carry: func(context.Context) context.Context { panic(secret) }}
}

// TestWhatAHandlerDoesIsItsCallersError calls handlers that do what they should not, over a link and locally. The next call,
// and one that was under way meanwhile, are answered over the same link.
func TestWhatAHandlerDoesIsItsCallersError(t *testing.T) {
	handlers := []struct {
		name string
		do   func(context.Context) error
		want error
		exit bool
	}{
		{name: "panics", do: func(context.Context) error { panic(secret) }, want: sabir.ErrPanic},
		{name: "panics with an error that panics", do: func(context.Context) error { panic((*nilError)(nil)) }, want: sabir.ErrPanic},
		{name: "ends its goroutine", do: func(context.Context) error { runtime.Goexit(); return nil }, want: sabir.ErrPanic, exit: true},
		{name: "returns an error whose text panics", do: func(context.Context) error { return (*nilError)(nil) }, want: sabir.ErrPanic},
		{name: "returns an error whose Is panics", do: func(context.Context) error { return badMatch{} }, want: sabir.ErrPanic},
		{name: "wraps an error whose Is panics", do: func(context.Context) error { return fmt.Errorf("wrapped: %w", badMatch{}) }, want: sabir.ErrPanic},
		{name: "returns a nil *Error", do: func(context.Context) error { var e *sabir.Error; return e }, want: sabir.ErrHandlerFailed},
		{name: "ends a goroutine of Go", do: func(ctx context.Context) error {
			sabir.Go(ctx, func(context.Context) error { runtime.Goexit(); return nil })
			return nil
		}, want: sabir.ErrPanic},
	}
	for _, options := range [][]sabir.ActionOption{nil, {sabir.Inline()}} {
		for _, h := range handlers {
			t.Run(fmt.Sprintf("%s, inline %v", h.name, options != nil), func(t *testing.T) {
				log := &record{}
				waiting, release := make(chan struct{}), make(chan struct{})
				s := sabir.NewService("there")
				sabir.Handle(s, "do", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, h.do(ctx) }, options...)
				sabir.Handle(s, "wait", func(context.Context, sabir.Empty) (sabir.Empty, error) {
					close(waiting)
					<-release
					return sabir.Empty{}, nil
				})
				n := pair(t, slog.New(slog.NewTextHandler(log, nil)), "", s)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				under := make(chan error, 1)
				go func() {
					_, err := sabir.Call[sabir.Empty](ctx, n, "there.wait", sabir.Empty{})
					under <- err
				}()
				<-waiting
				for range 100 { // more than there are places, were a place lost each time
					_, err := sabir.Call[sabir.Empty](ctx, n, "there.do", sabir.Empty{})
					if !errors.Is(err, h.want) || strings.Contains(err.Error(), secret) {
						t.Fatalf("the caller got %v, want %v", err, h.want)
					}
				}
				close(release)
				if err := <-under; err != nil {
					t.Errorf("a call that was under way: %v", err)
				}
				if h.want == sabir.ErrPanic && !log.eventually(ctx, "stack=") {
					t.Errorf("the log has no stack; it has:\n%s", log)
				}
				if h.exit || h.want != sabir.ErrPanic {
					return
				}
				local := start(t, sabir.NodeID("one"), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(func() *sabir.Service {
					s := sabir.NewService("here")
					sabir.Handle(s, "do", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, h.do(ctx) }, options...)
					return s
				}()))
				if _, err := sabir.Call[sabir.Empty](ctx, local, "here.do", sabir.Empty{}); !errors.Is(err, h.want) {
					t.Errorf("a local caller got %v, want %v", err, h.want)
				}
			})
		}
	}
}

func TestAPanicOfAMiddlewareIsItsCallsError(t *testing.T) {
	for _, layer := range []string{"Local", "Remote", "Carry"} {
		t.Run(layer, func(t *testing.T) {
			log := &record{}
			s := sabir.NewService("there")
			sabir.Handle(s, "do", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil })
			sabir.HandleStream(s, "flow", func(context.Context, *sabir.Stream[sabir.Empty, sabir.Empty]) error { return nil })
			sabir.On(s, "came", func(context.Context, sabir.Empty) error { return nil })
			n := pair(t, slog.New(slog.NewTextHandler(log, nil)), "", s, sabir.Use(panicking(layer)))
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			action := "there.do"
			if layer == "Local" {
				action = "$node.info"
			}
			if _, err := sabir.Call[map[string]any](ctx, n, action, sabir.Empty{}); !errors.Is(err, sabir.ErrPanic) {
				t.Errorf("a call: %v, want %v", err, sabir.ErrPanic)
			}
			if layer == "Carry" {
				if _, err := sabir.OpenStream[sabir.Empty, sabir.Empty](ctx, n, "there.flow"); !errors.Is(err, sabir.ErrPanic) {
					t.Errorf("a stream: %v, want %v", err, sabir.ErrPanic)
				}
				if err := sabir.Emit(ctx, n, "came", sabir.Empty{}); !errors.Is(err, sabir.ErrPanic) {
					t.Errorf("an event: %v, want %v", err, sabir.ErrPanic)
				}
			}
			if !log.eventually(ctx, "hooks_test.go") {
				t.Errorf("the log has no stack; it has:\n%s", log)
			}
		})
	}
}

func TestANodeDoesNotStartWithAHookThatPanics(t *testing.T) {
	local := func(*sabir.Action, sabir.Handler) sabir.Handler { panic(secret) }
	hooks := map[string]sabir.NodeOption{
		"a middleware that wraps an action": sabir.Use(sabir.Middleware{Name: "bad", Local: local}),
		"a middleware that wraps a handler of events": sabir.Use(sabir.Middleware{Name: "bad", Event: func(*sabir.Subscription, sabir.EventHandler) sabir.EventHandler {
			panic(secret)
		}}),
		"a middleware around the node's start": sabir.Use(sabir.Middleware{Lifecycle: func(sabir.Stage, func(context.Context) error) func(context.Context) error {
			return func(context.Context) error { panic(secret) }
		}}),
		"a gateway":       sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) { panic(secret) }),
		"a start hook":    sabir.Serve(sabir.NewService("bad", sabir.OnStart(func(context.Context) error { panic(secret) }))),
		"the extension's": sabir.WithExtension(&badExtension{}),
	}
	for name, hook := range hooks {
		t.Run(name, func(t *testing.T) {
			log := &record{}
			s := taker()
			sabir.On(s, "came", func(context.Context, sabir.Empty) error { return nil })
			err := sabir.NewNode(sabir.Logger(slog.New(slog.NewTextHandler(log, nil))), sabir.Serve(s), hook).Start(t.Context())
			if err == nil {
				t.Fatal("the node has started")
			}
			if !strings.Contains(log.String(), secret) {
				t.Errorf("the log does not have the panic; it has:\n%s", log)
			}
		})
	}
}

type badExtension struct{ linkWatch }

func (*badExtension) Start(context.Context, *sabir.Node) error { panic(secret) }

// TestALogThatPanicsDoesNoHarm has a node log to a handler that panics, while a handler of an action panics too.
func TestALogThatPanicsDoesNoHarm(t *testing.T) {
	standard := &record{}
	stdlog.SetOutput(standard)
	defer stdlog.SetOutput(os.Stderr)
	s := sabir.NewService("here")
	sabir.Handle(s, "do", func(context.Context, sabir.Empty) (sabir.Empty, error) { panic("boom") })
	n := start(t, sabir.Logger(slog.New(badLog{})), sabir.Serve(s))
	if _, err := sabir.Call[sabir.Empty](t.Context(), n, "here.do", sabir.Empty{}); !errors.Is(err, sabir.ErrPanic) {
		t.Errorf("the caller got %v, want %v", err, sabir.ErrPanic)
	}
	if !strings.Contains(standard.String(), `"panic" is lost`) {
		t.Errorf("the standard log does not tell of the lost record; it has:\n%s", standard)
	}
}

type badLog struct{}

func (badLog) Enabled(context.Context, slog.Level) bool  { return true }
func (badLog) Handle(context.Context, slog.Record) error { panic(secret) }
func (b badLog) WithAttrs([]slog.Attr) slog.Handler      { panic(secret) }
func (b badLog) WithGroup(string) slog.Handler           { panic(secret) }

// TestAHandlerThatEndsItsGoroutineEndsNothingElse covers handlers that run on goroutines of the node in this process.
func TestAHandlerThatEndsItsGoroutineEndsNothingElse(t *testing.T) {
	var exits atomic.Bool
	handled := make(chan struct{}, 2)
	exit := func() {
		if exits.Load() {
			runtime.Goexit()
		}
	}
	s := sabir.NewService("here")
	sabir.Handle(s, "do", func(context.Context, sabir.Empty) (sabir.Empty, error) { exit(); return sabir.Empty{}, nil })
	sabir.HandleStream(s, "flow", func(context.Context, *sabir.Stream[sabir.Empty, sabir.Empty]) error { exit(); return nil })
	sabir.On(s, "came", func(context.Context, sabir.Empty) error { exit(); handled <- struct{}{}; return nil }, sabir.Delivery{Buffer: 1})
	n := start(t, sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(s))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ways := map[string]func() error{
		"a call with a deadline": func() error {
			_, err := sabir.Call[sabir.Empty](ctx, n, "here.do", sabir.Empty{})
			return err
		},
		"one of several calls": func() error {
			var out sabir.Empty
			info := map[string]any{}
			return sabir.All(context.Background(), n, sabir.Into(&info, "$node.info", sabir.Empty{}), sabir.Into(&out, "here.do", sabir.Empty{}))
		},
		"a stream": func() error {
			stream, err := sabir.OpenStream[sabir.Empty, sabir.Empty](ctx, n, "here.flow")
			if err != nil {
				return err
			}
			defer stream.Close()
			if _, err = stream.Recv(); err == io.EOF {
				err = nil
			}
			return err
		},
	}
	for name, way := range ways {
		exits.Store(true)
		if err := way(); !errors.Is(err, sabir.ErrPanic) {
			t.Errorf("%s: %v, want %v", name, err, sabir.ErrPanic)
		}
		exits.Store(false)
		if err := way(); err != nil {
			t.Errorf("%s, the next one: %v", name, err)
		}
	}
	t.Run("a queued handler of events", func(t *testing.T) {
		exits.Store(true)
		if err := sabir.Emit(ctx, n, "came", sabir.Empty{}); err != nil {
			t.Fatal(err)
		}
		if err := sabir.Emit(ctx, n, "came", sabir.Empty{}); err != nil { // has space only when the first was taken
			t.Fatal(err)
		}
		if err := sabir.Emit(ctx, n, "came", sabir.Empty{}); err != nil { // and this one when the second was
			t.Fatal(err)
		}
		exits.Store(false)
		if err := sabir.Emit(ctx, n, "came", sabir.Empty{}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-handled:
		case <-ctx.Done():
			t.Error("no event is handled any more")
		}
	})
}
