package policy_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/policy"
)

func TestCacheRunsTheHandlerOnceForAStampede(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var runs atomic.Int32
		r := newRig(t, func(context.Context, none) (int, error) {
			time.Sleep(time.Second)
			return int(runs.Add(1)), nil
		}, cached(policy.Cached{}))
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				if out, err := r.call(context.Background()); out != 1 || err != nil {
					t.Errorf("got %d, %v", out, err)
				}
			})
		}
		wg.Wait()
		if runs.Load() != 1 {
			t.Errorf("the handler ran %d times", runs.Load())
		}
	})
}

func TestCacheStampedeInRealTimeRunsTheHandlerOnce(t *testing.T) {
	var runs atomic.Int32
	r := newRig(t, func(context.Context, none) (int, error) { return int(runs.Add(1)), nil }, cached(policy.Cached{}))
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() { r.call(context.Background()) })
	}
	wg.Wait()
	if runs.Load() != 1 {
		t.Errorf("the handler ran %d times", runs.Load())
	}
}

func TestCacheWaitersShareTheErrorOfTheRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var runs atomic.Int32
		r := newRig(t, func(context.Context, none) (int, error) {
			runs.Add(1)
			time.Sleep(time.Second)
			return 0, errBroken
		}, cached(policy.Cached{}))
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := r.call(context.Background()); !errors.Is(err, errBroken) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if runs.Load() != 1 {
			t.Errorf("the handler ran %d times", runs.Load())
		}
	})
}

func TestCacheWaitersGetAnErrorWhenTheRunPanics(t *testing.T) {
	for what, boom := range map[string]sabir.Middleware{
		"in the handler": {},
		"in a middleware": {Local: func(*sabir.Action, sabir.Handler) sabir.Handler {
			return func(context.Context, *sabir.Request) error { time.Sleep(time.Second); panic("boom") }
		}},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, func(context.Context, none) (int, error) { time.Sleep(time.Second); panic("boom") },
					sabir.Use(policy.Cached{Cache: &policy.Cache{}}, boom))
				var wg sync.WaitGroup
				for range 10 {
					wg.Go(func() {
						if _, err := r.call(context.Background()); codeOf(err) != sabir.CodeInternal {
							t.Errorf("got %v", err)
						}
					})
				}
				wg.Wait()
			})
		})
	}
}

func TestCacheWaiterWaitsNoLongerThanItsOwnContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		u := newRig(t, func(context.Context, none) (int, error) { time.Sleep(time.Minute); return 1, nil }, cached(policy.Cached{}))
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := u.call(context.Background()); err != nil {
				t.Error(err)
			}
		})
		bubbletest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if _, err := u.call(ctx); !errors.Is(err, sabir.ErrDeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
		wg.Wait()
	})
}

func TestCacheWaitersCarryOnWhenTheFirstCallerCancels(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var runs atomic.Int32
		r := newRig(t, func(ctx context.Context, _ none) (int, error) {
			run := int(runs.Add(1))
			select {
			case <-time.After(time.Minute):
				return run, nil
			case <-ctx.Done():
				return 0, errors.New("gave up") // whatever a handler makes of it
			}
		}, cached(policy.Cached{}))
		first, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { r.call(first) })
		bubbletest.Wait()
		for range 10 {
			wg.Go(func() {
				if out, err := r.call(context.Background()); out != 2 || err != nil {
					t.Errorf("got %d, %v", out, err)
				}
			})
		}
		bubbletest.Wait()
		cancel()
		wg.Wait()
		if runs.Load() != 2 {
			t.Errorf("the handler ran %d times, want once for the caller that gave up and once for the rest", runs.Load())
		}
	})
}

func TestCacheDoesNotLetACallWaitForItself(t *testing.T) {
	s := sabir.NewService("test", cached(policy.Cached{}))
	sabir.Handle(s, "a", func(ctx context.Context, n int) (int, error) { return sabir.Call[int](ctx, s, "test.b", n) })
	sabir.Handle(s, "b", func(ctx context.Context, n int) (int, error) {
		if sabir.InfoFromContext(ctx).Depth > 3 {
			return n, nil
		}
		return sabir.Call[int](ctx, s, "test.a", n)
	})
	node := start(t, sabir.Serve(s))
	if out, err := sabir.Call[int](t.Context(), node, "test.a", 7); out != 7 || err != nil {
		t.Errorf("got %d, %v", out, err)
	}
}
