package policy_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/policy"
)

func TestCleanForgetsTheActionsThatThePatternTakes(t *testing.T) {
	for pattern, want := range map[string]int{"test.run": 2, "test.*": 2, "**": 2, "test": 1, "other.*": 1, "*": 1} {
		cache := &policy.Cache{}
		u := newUsers(t, sabir.Use(policy.Cached{Cache: cache}))
		u.get(t, t.Context(), "ada")
		if err := cache.Invalidate(t.Context(), "nobody.*", pattern); err != nil {
			t.Error(err)
		}
		if run := u.get(t, t.Context(), "ada"); run != want {
			t.Errorf("after Clean(%q) the answer is of run %d, want %d", pattern, run, want)
		}
	}
}

func TestCleanTellsOfAPatternThatIsNotValid(t *testing.T) {
	if err := (&policy.Cache{}).Invalidate(t.Context(), "us*rs"); codeOf(err) != sabir.CodeInvalidArgument {
		t.Errorf("got %v", err)
	}
}

// What was worked out before a cleaning is neither kept nor given to calls from after it.
func TestCleanHoldsForAnswersThatAreBeingWorkedOut(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		cache := &policy.Cache{}
		var value atomic.Int32
		r := newRig(t, func(context.Context, none) (int, error) {
			v := int(value.Load())
			time.Sleep(time.Second)
			return v, nil
		}, sabir.Use(policy.Cached{Cache: cache}))
		var wg sync.WaitGroup
		wg.Go(func() {
			if out, _ := r.call(context.Background()); out != 0 {
				t.Errorf("the call from before got %d", out)
			}
		})
		bubbletest.Wait()
		value.Store(1)
		if err := cache.Invalidate(t.Context(), "test.*"); err != nil {
			t.Error(err)
		}
		for range 2 {
			if out, _ := r.call(t.Context()); out != 1 {
				t.Errorf("a call from after the cleaning got %d", out)
			}
		}
		wg.Wait()
	})
}

func TestInvalidateOnCleansWhenTheEventComes(t *testing.T) {
	cache := &policy.Cache{}
	var runs int
	s := sabir.NewService("users")
	sabir.Handle(s, "get", func(context.Context, getUser) (int, error) { runs++; return runs, nil }, sabir.Use(policy.Cached{Cache: cache}))
	sabir.On(s, "user.updated", func(context.Context, user) error { return nil }) // one of its own beside it
	cache.InvalidateOn(s, "user.*", "users.**")
	cache.InvalidateOn(s, "user.updated", "others.*")
	node := start(t, sabir.Serve(s))
	get := func() int {
		out, err := sabir.Call[int](t.Context(), node, "users.get", getUser{ID: "ada"})
		if err != nil {
			t.Error(err)
		}
		return out
	}
	get()
	sabir.Emit(t.Context(), node, "order.updated", user{})
	if get() != 1 {
		t.Error("another event cleaned it")
	}
	if err := sabir.Emit(t.Context(), node, "user.updated", user{ID: "ada"}); err != nil {
		t.Error(err)
	}
	if get() != 2 {
		t.Error("the event did not clean it")
	}
}
