package sabir_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// needy is an extension that needs something.
type needy struct {
	missing atomic.Pointer[error]
	asked   atomic.Int32
	ready   func(context.Context) error // nil for what is missing
}

func (e *needy) Name() string                             { return "needy" }
func (e *needy) Start(context.Context, *sabir.Node) error { return nil }
func (e *needy) Stop(context.Context) error               { return nil }
func (e *needy) Ready(ctx context.Context) error {
	e.asked.Add(1)
	if e.ready != nil {
		return e.ready(ctx)
	}
	if missing := e.missing.Load(); missing != nil {
		return *missing
	}
	return nil
}

func (e *needy) lack(text string) {
	err := errors.New(text)
	e.missing.Store(&err)
}

func wantReady(t *testing.T, node *sabir.Node, lacks string) {
	t.Helper()
	err := node.Ready(t.Context())
	switch {
	case lacks == "" && err != nil:
		t.Errorf("the node is not ready: %v", err)
	case lacks != "" && (!errors.Is(err, sabir.ErrServiceUnavailable) || !sabir.AsError(err).Retryable || !strings.Contains(err.Error(), lacks)):
		t.Errorf("got %v, want ErrServiceUnavailable, retryable, with %q", err, lacks)
	}
}

func TestANodeIsReadyWhileItRunsAndItsExtensionsHaveWhatTheyNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &needy{}
		node := sabir.NewNode(sabir.WithExtension(e))
		wantReady(t, node, "not started")
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantReady(t, node, "")
		e.lack("the store is full")
		time.Sleep(time.Second) // of the test's own clock
		wantReady(t, node, "the store is full")
		info, err := sabir.Call[introspect.Node](t.Context(), node, "$node.info", sabir.Empty{})
		if err != nil || !strings.Contains(info.NotReady, "the store is full") {
			t.Errorf("$node.info has %q, %v", info.NotReady, err)
		}
		e.missing.Store(nil)
		time.Sleep(time.Second)
		wantReady(t, node, "")
		if err := node.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantReady(t, node, "stopped")
	})
}

func TestManyQuestionsAboutReadinessAreOneToTheExtension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &needy{}
		node := sabir.NewNode(sabir.WithExtension(e))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			wantReady(t, node, "")
		}
		if n := e.asked.Load(); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
		if err := node.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnExtensionThatDoesNotAnswerIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &needy{ready: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		node := sabir.NewNode(sabir.WithExtension(e))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		wantReady(t, node, "needy")
		if took := time.Since(begun); took > time.Second {
			t.Errorf("it took %v", took)
		}
		if err := node.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAPanicOfAnExtensionIsItsReasonForNotBeingReady(t *testing.T) {
	node := sabir.NewNode(sabir.Logger(quiet), sabir.WithExtension(&needy{ready: func(context.Context) error { panic("oops") }}))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantReady(t, node, "needy")
	if err := node.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}
