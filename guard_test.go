package sabir_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

// stuck is a service with an action that ignores its context and returns when released.
func stuck(release <-chan struct{}, options ...sabir.ActionOption) *sabir.Service {
	s := sabir.NewService("stuck")
	sabir.Handle(s, "wait", func(context.Context, struct{}) (helloReply, error) {
		<-release
		return helloReply{Text: "late"}, nil
	}, options...)
	return s
}

func TestCallerReturnsAtTheDeadlineAlthoughTheHandlerNeverDoes(t *testing.T) {
	for name, call := range map[string]func(node *sabir.Node) error{
		"deadline of the context": func(node *sabir.Node) error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_, err := sabir.Call[helloReply](ctx, node, "stuck.wait", struct{}{})
			return err
		},
		"timeout of the call": func(node *sabir.Node) error {
			_, err := sabir.Call[helloReply](context.Background(), node, "stuck.wait", struct{}{}, sabir.WithTimeout(time.Second))
			return err
		},
		"bound": func(node *sabir.Node) error {
			_, err := sabir.Bind[struct{}, helloReply](node, "stuck.wait")(context.Background(), struct{}{}, sabir.WithTimeout(time.Second))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				release := make(chan struct{})
				node := start(t, sabir.Serve(stuck(release)))
				begin := time.Now()
				err := call(node)
				if !errors.Is(err, sabir.ErrDeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "stuck.wait") {
					t.Errorf("got %v", err)
				}
				if took := time.Since(begin); took != time.Second {
					t.Errorf("let go after %v", took)
				}
				close(release)
			})
		})
	}
}

func TestCallerWithADeadlineReturnsWhenItCancels(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	node := start(t, sabir.Serve(stuck(release)))
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	go cancel()
	_, err := sabir.Call[helloReply](ctx, node, "stuck.wait", struct{}{})
	if !errors.Is(err, sabir.ErrCanceled) || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestCallFromAnEndedContextDoesNotRun(t *testing.T) {
	ran := false
	s := sabir.NewService("greeter")
	sabir.Handle(s, "hello", func(context.Context, struct{}) (struct{}, error) { ran = true; return struct{}{}, nil })
	node := start(t, sabir.Serve(s))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := sabir.Call[struct{}](ctx, node, "greeter.hello", struct{}{})
	if !errors.Is(err, sabir.ErrCanceled) || ran {
		t.Fatalf("got %v, ran %v", err, ran)
	}
}

func TestTheLateAnswerOfAnAbandonedHandlerChangesNoOtherCall(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		node := start(t, sabir.Serve(stuck(release), greeter()))
		_, _ = sabir.Call[helloReply](context.Background(), node, "stuck.wait", struct{}{}, sabir.WithTimeout(time.Second))
		close(release)
		for range 100 {
			out, err := sabir.Call[helloReply](context.Background(), node, "stuck.wait", struct{}{}, sabir.WithTimeout(time.Second))
			if err != nil || out.Text != "late" {
				t.Fatalf("got %v, %v", out, err)
			}
		}
	})
}

func TestStopHooksWaitForHandlersThatOutliveTheirCallers(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		var order []string
		s := sabir.NewService("slow", sabir.OnStop(func(context.Context) error { order = append(order, "stop hook"); return nil }))
		sabir.Handle(s, "wait", func(context.Context, struct{}) (struct{}, error) {
			<-release
			order = append(order, "handler")
			return struct{}{}, nil
		})
		node := start(t, sabir.Serve(s))
		if _, err := sabir.Call[struct{}](context.Background(), node, "slow.wait", struct{}{}, sabir.WithTimeout(time.Second)); !errors.Is(err, sabir.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		removed := make(chan error, 1)
		go func() { removed <- node.Remove(context.Background(), s) }()
		bubbletest.Wait()
		close(release)
		if err := <-removed; err != nil || strings.Join(order, ", ") != "handler, stop hook" {
			t.Errorf("got %v, %v", order, err)
		}
	})
}

func TestStuckHandlersAreBounded(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		node := start(t, sabir.Serve(stuck(release)))
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				_, _ = sabir.Call[helloReply](context.Background(), node, "stuck.wait", struct{}{}, sabir.WithTimeout(time.Second))
			})
		}
		wg.Wait()
		_, err := sabir.Call[helloReply](context.Background(), node, "stuck.wait", struct{}{}, sabir.WithTimeout(time.Second))
		if e := sabir.AsError(err); e == nil || e.Name != "TooManyAbandoned" || !e.Retryable {
			t.Errorf("got %v", err)
		}
		close(release)
		bubbletest.Wait()
		if _, err := sabir.Call[helloReply](context.Background(), node, "stuck.wait", struct{}{}, sabir.WithTimeout(time.Second)); err != nil {
			t.Errorf("after they returned: %v", err)
		}
	})
}

func TestTheContextOfATimedCallHasItsDeadline(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s := sabir.NewService("clock")
		sabir.Handle(s, "left", func(ctx context.Context, _ struct{}) (time.Duration, error) {
			deadline, ok := ctx.Deadline()
			if !ok {
				return 0, errors.New("no deadline")
			}
			left := time.Until(deadline)
			<-ctx.Done()
			return left, ctx.Err()
		})
		node := start(t, sabir.Serve(s))
		_, err := sabir.Call[time.Duration](context.Background(), node, "clock.left", struct{}{}, sabir.WithTimeout(time.Minute))
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "DeadlineExceeded: the deadline passed before clock.left answered" {
			t.Errorf("got %v", err)
		}
	})
}

func TestNestedCallsOfAGuardedCallRunOnItsWorker(t *testing.T) {
	var outer, inner string
	s := sabir.NewService("chain")
	sabir.Handle(s, "a", func(ctx context.Context, _ struct{}) (struct{}, error) {
		outer = goroutine()
		return sabir.Call[struct{}](ctx, s, "chain.b", struct{}{})
	})
	sabir.Handle(s, "b", func(context.Context, struct{}) (struct{}, error) {
		inner = goroutine()
		return struct{}{}, nil
	})
	node := start(t, sabir.Serve(s))
	if _, err := sabir.Call[struct{}](t.Context(), node, "chain.a", struct{}{}, sabir.WithTimeout(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if outer != inner || outer == goroutine() {
		t.Fatalf("caller %s, outer %s, inner %s", goroutine(), outer, inner)
	}
}

func TestAStreamIsNotInline(t *testing.T) {
	s := sabir.NewService("letters")
	sabir.HandleStream(s, "read", func(context.Context, *sabir.Stream[string, string]) error { return nil }, sabir.Inline())
	err := sabir.NewNode(sabir.Serve(s)).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), `Inline is for Handle: the action "read" is a stream`) {
		t.Errorf("the start says %v", err)
	}
}

func TestInlineActionsStayOnTheirCallersGoroutine(t *testing.T) {
	var ran string
	s := sabir.NewService("quick")
	sabir.Handle(s, "one", func(context.Context, struct{}) (struct{}, error) { ran = goroutine(); return struct{}{}, nil }, sabir.Inline())
	node := start(t, sabir.Serve(s))
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, options := range [][]sabir.CallOption{nil, {sabir.WithTimeout(time.Hour)}} {
		if _, err := sabir.Call[struct{}](ctx, node, "quick.one", struct{}{}, options...); err != nil || ran != goroutine() {
			t.Fatalf("ran on %s, caller on %s: %v", ran, goroutine(), err)
		}
	}
}

func TestAHandlerThatEndsItsGoroutineIsAnErrorOfItsCaller(t *testing.T) {
	s := sabir.NewService("rude")
	sabir.Handle(s, "exit", func(context.Context, struct{}) (struct{}, error) { runtime.Goexit(); return struct{}{}, nil })
	node := start(t, sabir.Serve(s))
	_, err := sabir.Call[struct{}](t.Context(), node, "rude.exit", struct{}{}, sabir.WithTimeout(time.Hour))
	if !errors.Is(err, sabir.ErrPanic) {
		t.Fatalf("got %v", err)
	}
}

// goroutine is the head of the running goroutine's stack, which names it.
func goroutine() string {
	buf := make([]byte, 64)
	head, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), "[")
	return head
}
