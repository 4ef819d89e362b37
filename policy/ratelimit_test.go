package policy_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/policy"
)

func one(context.Context, none) (int, error) { return 1, nil }

// passes counts how many of n calls pass.
func (r *rig) passes(n int) (passed int) {
	for range n {
		if _, err := r.call(context.Background()); err == nil {
			passed++
		}
	}
	return passed
}

func TestRateLimitLetsABurstThroughAndThenTheRate(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, one, sabir.Use(policy.RateLimit{Rate: 10, Burst: 5}))
		if n := r.passes(20); n != 5 {
			t.Errorf("%d passed at once, want the burst of 5", n)
		}
		time.Sleep(300 * time.Millisecond)
		if n := r.passes(20); n != 3 {
			t.Errorf("%d passed after 300 ms, want 3", n)
		}
		time.Sleep(time.Hour)
		if n := r.passes(20); n != 5 {
			t.Errorf("%d passed after a long pause, want the burst of 5", n)
		}
		if r.received(signal.RateLimited) != 15+17+15 {
			t.Errorf("%d signals", r.received(signal.RateLimited))
		}
	})
}

func TestRateLimitSaysWhenToTryAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, one, sabir.Use(policy.RateLimit{Rate: 0.5, Burst: 1}))
		r.call(t.Context())
		_, err := r.call(t.Context())
		e := sabir.AsError(err)
		if !errors.Is(err, sabir.ErrRateLimited) || e.Code != sabir.CodeResourceExhausted || !e.Retryable {
			t.Errorf("got %v", err)
		}
		if after, err := sabir.DataAs[policy.RetryAfter](e); err != nil || after.Seconds != 2 {
			t.Errorf("data %v, %v; want 2 seconds", after, err)
		}
		time.Sleep(2 * time.Second)
		if _, err := r.call(t.Context()); err != nil {
			t.Errorf("got %v at the time it named", err)
		}
	})
}

func TestRateLimitPerKeyLimitsEachKeyByItself(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		type in struct {
			User string `json:"user"`
		}
		r := newRig(t, func(context.Context, in) (int, error) { return 1, nil },
			sabir.Use(policy.RateLimit{Rate: 1, Burst: 2, PerKey: []string{"user", "#tenant"}}))
		passes := func(ctx context.Context, user string) (n int) {
			for range 5 {
				if _, err := sabir.Call[int](ctx, r.node, "test.run", in{user}); err == nil {
					n++
				}
			}
			return n
		}
		a, b := t.Context(), sabir.WithMetadata(t.Context(), "tenant", "b")
		for _, got := range []int{passes(a, "ada"), passes(a, "bob"), passes(b, "ada")} {
			if got != 2 {
				t.Errorf("%d passed, want 2 for each key", got)
			}
		}
		if got := passes(a, "ada"); got != 0 {
			t.Errorf("%d passed of a key whose burst is spent", got)
		}
	})
}

func TestRateLimitRemembersNoMoreThanMaxKeys(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(context.Context, string) (int, error) { return 1, nil },
			sabir.Use(policy.RateLimit{Rate: 0.001, Burst: 1, PerKey: []string{"#user"}, MaxKeys: 10}))
		passed := 0
		for range 2 {
			for n := range 1000 {
				ctx := sabir.WithMetadata(t.Context(), "user", strconv.Itoa(n))
				if _, err := sabir.Call[int](ctx, r.node, "test.run", ""); err == nil {
					passed++
				}
			}
		}
		if passed < 1900 {
			t.Errorf("%d of 2000 calls passed: more than ten keys of a thousand were remembered", passed)
		}
	})
}

func TestRateLimitCountsCallsOfManyGoroutinesOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, one, sabir.Use(policy.RateLimit{Rate: 1, Burst: 100}))
		var passed atomic.Int32
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { passed.Add(int32(r.passes(50))) })
		}
		wg.Wait()
		if passed.Load() != 100 {
			t.Errorf("%d passed, want 100", passed.Load())
		}
	})
}

func TestRateLimitRefusesOptionsOutOfRange(t *testing.T) {
	for what, p := range map[string]sabir.Wrapper{
		"the rate is 0":      policy.RateLimit{Rate: 0, Burst: 1},
		"the rate is 2e+07":  policy.RateLimit{Rate: 2e7, Burst: 1},
		"the burst is 0":     policy.RateLimit{Rate: 1, Burst: 0},
		"centuries":          policy.RateLimit{Rate: 1e-9, Burst: 1e9},
		"MaxKeys is -1":      policy.RateLimit{Rate: 1, Burst: 1, MaxKeys: -1},
		`no field "surname"`: policy.RateLimit{Rate: 1, Burst: 1, PerKey: []string{"surname"}},
	} {
		refusedFor(t, what, p)
	}
}
