package policy_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
)

func TestCleanForgetsTheActionsThatThePatternTakes(t *testing.T) {
	for pattern, want := range map[string]int{"test.run": 2, "test.*": 2, "**": 2, "test": 1, "other.*": 1, "*": 1} {
		cache := policy.NewCache()
		u := newUsers(t, sabir.Use(cache.For()))
		u.get(t, t.Context(), "ada")
		if err := cache.Clean(t.Context(), "nobody.*", pattern); err != nil {
			t.Error(err)
		}
		if run := u.get(t, t.Context(), "ada"); run != want {
			t.Errorf("after Clean(%q) the answer is of run %d, want %d", pattern, run, want)
		}
	}
}

func TestCleanTellsOfAPatternThatIsNotValid(t *testing.T) {
	if err := policy.NewCache().Clean(t.Context(), "us*rs"); codeOf(err) != sabir.CodeInvalidArgument {
		t.Errorf("got %v", err)
	}
}

// What was worked out before a cleaning is neither kept nor given to calls from after it.
func TestCleanHoldsForAnswersThatAreBeingWorkedOut(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		cache := policy.NewCache()
		var value atomic.Int32
		r := newRig(t, func(context.Context, none) (int, error) {
			v := int(value.Load())
			time.Sleep(time.Second)
			return v, nil
		}, sabir.Use(cache.For()))
		var wg sync.WaitGroup
		wg.Go(func() {
			if out, _ := r.call(context.Background()); out != 0 {
				t.Errorf("the call from before got %d", out)
			}
		})
		synctest.Wait()
		value.Store(1)
		if err := cache.Clean(t.Context(), "test.*"); err != nil {
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

func TestCleanOnCleansWhenTheEventComes(t *testing.T) {
	cache := policy.NewCache()
	var runs int
	s := sabir.NewService("users")
	sabir.Handle(s, "get", func(context.Context, getUser) (int, error) { runs++; return runs, nil }, sabir.Use(cache.For()))
	sabir.On(s, "user.updated", func(context.Context, user) error { return nil }) // one of its own beside it
	cache.CleanOn(s, "user.*", "users.**")
	cache.CleanOn(s, "user.updated", "others.*")
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
