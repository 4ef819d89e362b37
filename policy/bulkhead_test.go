package policy_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/policy"
)

// ward is a rig whose action runs until the test lets one call go.
type ward struct {
	*rig
	release chan struct{}
	running atomic.Int32
	most    atomic.Int32
	wg      sync.WaitGroup
	errs    chan error
}

func newWard(t *testing.T, p sabir.Wrapper) *ward {
	w := &ward{release: make(chan struct{}), errs: make(chan error, 100)}
	w.rig = newRig(t, func(context.Context, none) (int, error) {
		now := w.running.Add(1)
		defer w.running.Add(-1)
		for most := w.most.Load(); now > most && !w.most.CompareAndSwap(most, now); most = w.most.Load() {
		}
		<-w.release
		return 1, nil
	}, sabir.Use(p))
	return w
}

// begin starts n calls and waits until each runs, waits or was refused.
func (w *ward) begin(ctx context.Context, n int) {
	for range n {
		w.wg.Go(func() {
			_, err := w.call(ctx)
			w.errs <- err
		})
	}
	bubbletest.Wait()
}

// end lets all calls go and counts those that failed with target.
func (w *ward) end(target error) (failed, answered int) {
	close(w.release)
	w.wg.Wait()
	close(w.errs)
	for err := range w.errs {
		switch {
		case err == nil:
			answered++
		case errors.Is(err, target):
			failed++
		}
	}
	return failed, answered
}

func TestBulkheadRunsNoMoreThanItsNumberAndQueuesNoMoreThanItsQueue(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWard(t, policy.Bulkhead{MaxCalls: 3, MaxQueue: 5})
		w.begin(context.Background(), 20)
		if w.running.Load() != 3 {
			t.Errorf("%d calls run, want 3", w.running.Load())
		}
		if len(w.errs) != 12 || w.received(signal.BulkheadRejected) != 12 {
			t.Errorf("%d calls refused at once and %d signals, want 12", len(w.errs), w.received(signal.BulkheadRejected))
		}
		failed, answered := w.end(sabir.NewError(sabir.CodeResourceExhausted, errname.BulkheadFull, ""))
		if failed != 12 || answered != 8 || w.most.Load() != 3 {
			t.Errorf("%d refused, %d answered, %d at most at once; want 12, 8, 3", failed, answered, w.most.Load())
		}
	})
}

func TestBulkheadWithoutAQueueRefusesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWard(t, policy.Bulkhead{MaxCalls: 1})
		w.begin(context.Background(), 1)
		_, err := w.call(t.Context())
		if e := sabir.AsError(err); !errors.Is(err, sabir.NewError(sabir.CodeResourceExhausted, errname.BulkheadFull, "")) || !e.Retryable || e.Code != sabir.CodeResourceExhausted {
			t.Errorf("got %v", err)
		}
		w.end(nil)
	})
}

func TestBulkheadServesInTheOrderOfArrival(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var order []int
		release := make(chan struct{})
		r := newRig(t, func(_ context.Context, n int) (int, error) {
			order = append(order, n)
			<-release
			return n, nil
		}, sabir.Use(policy.Bulkhead{MaxCalls: 1, MaxQueue: 10}))
		var wg sync.WaitGroup
		for n := range 10 {
			wg.Go(func() { sabir.Call[int](context.Background(), r.node, "test.run", n) })
			bubbletest.Wait()
		}
		for range 10 {
			release <- struct{}{}
			bubbletest.Wait()
		}
		wg.Wait()
		if !slices.IsSorted(order) || len(order) != 10 {
			t.Errorf("served in the order %v", order)
		}
	})
}

func TestBulkheadLetsACallWaitForMaxWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWard(t, policy.Bulkhead{MaxCalls: 1, MaxQueue: 1, MaxWait: 3 * time.Second})
		w.begin(context.Background(), 1)
		begun := time.Now()
		_, err := w.call(t.Context())
		if took := time.Since(begun); !errors.Is(err, sabir.NewError(sabir.CodeResourceExhausted, errname.BulkheadFull, "")) || took != 3*time.Second || w.received(signal.BulkheadRejected) != 1 {
			t.Errorf("got %v after %v, signals %v", err, took, w.all())
		}
		w.end(nil)
	})
}

func TestBulkheadForgetsACallerThatGaveUpWaiting(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWard(t, policy.Bulkhead{MaxCalls: 1, MaxQueue: 1, MaxWait: time.Hour})
		w.begin(context.Background(), 1)
		ctx, cancel := context.WithCancel(context.Background())
		w.begin(ctx, 1)
		cancel()
		bubbletest.Wait()
		if err := <-w.errs; codeOf(err) != sabir.CodeCanceled {
			t.Errorf("the waiting call got %v", err)
		}
		w.begin(context.Background(), 1) // takes the place in the queue
		if failed, answered := w.end(sabir.NewError(sabir.CodeResourceExhausted, errname.BulkheadFull, "")); failed != 0 || answered != 2 {
			t.Errorf("%d refused, %d answered; want 0 and 2", failed, answered)
		}
	})
}

func TestBulkheadInsideATimeoutHoldsThePlaceOfAHandlerThatHangs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, func(context.Context, none) (int, error) { <-release; return 1, nil },
			sabir.Use(policy.Timeout(time.Second), policy.Bulkhead{MaxCalls: 2}))
		for range 2 {
			if _, err := r.call(t.Context()); !errors.Is(err, sabir.ErrDeadlineExceeded) {
				t.Error(err)
			}
		}
		if _, err := r.call(t.Context()); !errors.Is(err, sabir.NewError(sabir.CodeResourceExhausted, errname.BulkheadFull, "")) {
			t.Errorf("got %v while two handlers hang", err)
		}
		close(release)
		bubbletest.Wait()
		if _, err := r.call(t.Context()); err != nil {
			t.Errorf("got %v after they returned", err)
		}
	})
}

func TestBulkheadGivesThePlaceBackAfterAPanic(t *testing.T) {
	panics := sabir.Middleware{Local: func(*sabir.Action, sabir.Handler) sabir.Handler {
		return func(context.Context, *sabir.Request) error { panic("boom") }
	}}
	r := newRig(t, func(context.Context, none) (int, error) { return 1, nil }, sabir.Use(policy.Bulkhead{MaxCalls: 1}, panics))
	for range 3 {
		if _, err := r.call(t.Context()); codeOf(err) != sabir.CodeInternal {
			t.Errorf("got %v", err)
		}
	}
}

// The hand-over between the atomic path and the queue is where places could be lost or doubled.
func TestBulkheadLosesNoPlaceUnderContention(t *testing.T) {
	var running, over atomic.Int32
	r := newRig(t, func(context.Context, none) (int, error) {
		if running.Add(1) > 4 {
			over.Add(1)
		}
		running.Add(-1)
		return 1, nil
	}, sabir.Use(policy.Bulkhead{MaxCalls: 4, MaxQueue: 1000, MaxWait: time.Minute})) // however busy the machine is
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range 500 {
				ctx, cancel := context.WithCancel(context.Background())
				if i%7 == 0 {
					go cancel()
				}
				if _, err := r.call(ctx); err != nil && codeOf(err) != sabir.CodeCanceled {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if over.Load() > 0 {
		t.Errorf("%d calls ran beside four others", over.Load())
	}
	for range 4 { // all places are free again: each of these takes one and gives it back
		if _, err := r.call(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestBulkheadRefusesOptionsOutOfRange(t *testing.T) {
	for what, p := range map[string]sabir.Wrapper{
		"MaxCalls is 0":   policy.Bulkhead{MaxCalls: 0, MaxQueue: 1},
		"MaxQueue is -1":  policy.Bulkhead{MaxCalls: 1, MaxQueue: -1},
		"MaxWait is -1ns": policy.Bulkhead{MaxCalls: 1, MaxQueue: 1, MaxWait: -1},
	} {
		refusedFor(t, what, p)
	}
}

func TestBulkheadRunsNoCallWhoseCallerGivesUpInTheMomentOfItsTurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for range 100 {
			var late atomic.Bool
			release := make(chan struct{})
			r := newRig(t, func(_ context.Context, n int) (int, error) {
				if n > 0 {
					late.Store(true)
				}
				<-release
				return n, nil
			}, sabir.Use(policy.Bulkhead{MaxCalls: 1, MaxQueue: 1}))
			ctx, cancel := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			wg.Go(func() { sabir.Call[int](context.Background(), r.node, "test.run", 0) })
			bubbletest.Wait()
			wg.Go(func() { sabir.Call[int](ctx, r.node, "test.run", 1) })
			bubbletest.Wait()
			cancel()
			close(release)
			wg.Wait()
			if late.Load() {
				t.Fatal("it ran")
			}
			if _, err := sabir.Call[int](context.Background(), r.node, "test.run", 0); err != nil {
				t.Fatalf("its place was not given back: %v", err)
			}
		}
	})
}
