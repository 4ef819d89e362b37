package sabir_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
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
	bubbletest.Run(t, func(t *testing.T) {
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
	bubbletest.Run(t, func(t *testing.T) {
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
	bubbletest.Run(t, func(t *testing.T) {
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

// A check that does not heed its context may hang for good, as one that reads from a connection whose other side has gone.
func TestACheckThatHangsForGoodPassesWhenWhatItNeedsIsBack(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var gone atomic.Bool
		hung := make(chan struct{})
		var hanging atomic.Int32
		node := sabir.NewNode(sabir.Logger(quiet), sabir.Ready("db", func(context.Context) error {
			if gone.Load() {
				hanging.Add(1)
				<-hung
				hanging.Add(-1)
			}
			return nil
		}))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantReady(t, node, "")
		gone.Store(true)
		time.Sleep(time.Second) // of the test's own clock
		for range 600 {
			wantReady(t, node, "db: no answer within 1s")
			time.Sleep(time.Second)
		}
		if n := hanging.Load(); n != 8 {
			t.Errorf("after ten minutes %d checks hang", n)
		}
		close(hung)
		gone.Store(false)
		time.Sleep(time.Second)
		wantReady(t, node, "")

		gone.Store(true)
		hung = make(chan struct{})
		time.Sleep(time.Second)
		for range 10 {
			wantReady(t, node, "db: no answer within 1s")
			time.Sleep(time.Second)
		}
		gone.Store(false)
		time.Sleep(10 * time.Second) // by then another one is due, whatever hangs
		wantReady(t, node, "")
		close(hung)
		time.Sleep(time.Second)
		wantReady(t, node, "")
		if n := hanging.Load(); n != 0 {
			t.Errorf("%d checks hang", n)
		}
		if err := node.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestACheckThatTakesLongerThanASecondHasFailedAfterItsEndToo(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		node := sabir.NewNode(sabir.Logger(quiet), sabir.Ready("db", func(context.Context) error { time.Sleep(1100 * time.Millisecond); return nil }))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			wantReady(t, node, "db: no answer within 1s")
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
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

func TestAServiceIsCheckedWhileItRuns(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var down atomic.Bool
		check := func(context.Context) error {
			if down.Load() {
				return errors.New("connection refused")
			}
			return nil
		}
		users := sabir.NewService("users", sabir.Ready("db", check))
		node := sabir.NewNode(sabir.Serve(users), sabir.Ready("disk", func(context.Context) error { return nil }), sabir.Logger(quiet))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantReady(t, node, "")
		down.Store(true)
		time.Sleep(time.Second)
		wantReady(t, node, "db: connection refused")
		info, err := sabir.Call[introspect.Node](t.Context(), node, "$node.info", sabir.Empty{})
		want := []introspect.Check{{Name: "disk"}, {Name: "db", Service: "users", Error: "connection refused"}}
		if err != nil || !slices.Equal(info.Checks, want) || !strings.Contains(info.NotReady, "db") {
			t.Errorf("$node.info has %+v, %q, %v", info.Checks, info.NotReady, err)
		}
		if err := node.Remove(t.Context(), users); err != nil {
			t.Fatal(err)
		}
		wantReady(t, node, "")
		if err := node.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestChecksRunBesideEachOtherWithinOneSecond(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		deaf := make(chan struct{}) // what a check waits for that does not heed its context
		node := sabir.NewNode(sabir.Logger(quiet),
			sabir.Ready("deaf", func(context.Context) error { <-deaf; return nil }),
			sabir.Ready("slow", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }),
			sabir.Ready("quick", func(context.Context) error { return errors.New("no route") }))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second finds the deaf check still running
			begun := time.Now()
			wantReady(t, node, "deaf: no answer within 1s\nslow: no answer within 1s\nquick: no route")
			if took := time.Since(begun); took > time.Second {
				t.Errorf("it took %v", took)
			}
		}
		close(deaf)
		if err := node.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestACheckWithoutNameOrFunctionIsAnErrorOfTheStart(t *testing.T) {
	for name, option := range map[string]sabir.NodeOption{
		"no name": sabir.Ready("", func(context.Context) error { return nil }), "no function": sabir.Ready("db", nil),
		"in a service": sabir.Serve(sabir.NewService("users", sabir.Ready("db", nil))),
	} {
		if err := sabir.NewNode(sabir.Logger(quiet), option).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "readiness_test.go") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheLogSaysWhenANodeIsReadyNoLongerAndAgain(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		e := &needy{}
		var log strings.Builder
		node := sabir.NewNode(sabir.NodeID("n"), sabir.WithExtension(e), sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		ask := func() {
			time.Sleep(time.Second)
			_ = node.Ready(t.Context())
		}
		ask()
		e.lack("the store is full")
		ask()
		ask()
		e.missing.Store(nil)
		ask()
		ask()
		if got := log.String(); strings.Count(got, `msg="node is not ready" node=n reason="needy: the store is full"`) != 1 || strings.Count(got, `msg="node is ready again" node=n`) != 1 {
			t.Errorf("the log is\n%s", got)
		}
		if err := node.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
