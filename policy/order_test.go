package policy_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/policy"
)

func TestAnOrderThatDefeatsAPolicyIsRefused(t *testing.T) {
	timeout, breaker, bulkhead := policy.Timeout(time.Second), policy.Breaker{}, policy.Bulkhead{MaxCalls: 1}
	fallback, cached := policy.FallbackValue(helloReply{}), policy.Cached{}
	for name, c := range map[string]struct {
		outer, inner []sabir.Wrapper // of the service, and of the action
		want         string          // in the error; "" for an order that works
	}{
		"a timeout outside the breaker":                {inner: []sabir.Wrapper{timeout, breaker}, want: "policy.Timeout: it stands outside policy.Breaker"},
		"a timeout of the service outside the breaker": {outer: []sabir.Wrapper{timeout}, inner: []sabir.Wrapper{breaker}, want: "policy.Timeout: it stands outside policy.Breaker"},
		"a bulkhead outside the timeout":               {inner: []sabir.Wrapper{bulkhead, timeout}, want: "policy.Bulkhead: it stands outside policy.Timeout"},
		"a cache outside the fallback":                 {inner: []sabir.Wrapper{cached, fallback}, want: "policy.Cached: it stands outside policy.Fallback"},
		"a timeout inside and one around all":          {inner: []sabir.Wrapper{timeout, breaker, timeout, bulkhead}},
		"the order of the guide":                       {inner: []sabir.Wrapper{fallback, cached, policy.Retry{}, breaker, timeout, bulkhead}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sabir.NewService("test", sabir.Use(c.outer...))
			sabir.Handle(s, "run", func(context.Context, helloRequest) (helloReply, error) { return helloReply{}, nil }, sabir.Use(c.inner...))
			node := sabir.NewNode(sabir.Serve(s))
			err := node.Start(t.Context())
			if err == nil {
				stop(t, node)
			}
			if c.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "policy.Stack")) {
				t.Errorf("got %v, want it to say %q and to name policy.Stack", err, c.want)
			}
		})
	}
}

func TestAnInlineActionMayHaveItsTimeoutOutside(t *testing.T) {
	s := sabir.NewService("test")
	sabir.Handle(s, "run", func(context.Context, int) (int, error) { return 1, nil }, sabir.Inline(),
		sabir.Use(policy.Bulkhead{MaxCalls: 1}, policy.Timeout(time.Second), policy.Breaker{}))
	start(t, sabir.Serve(s)) // its handler ends on its caller's goroutine, so nothing is let go
}

func TestAStackPutsPoliciesInTheOrderThatWorks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		runs := 0
		cache, retry, breaker := policy.Cached{}, policy.Retry{Attempts: 3, FirstPause: 1, MaxPause: 1}, policy.Breaker{MinCalls: 3}
		fallback, limit, bulkhead := policy.FallbackValue(7), policy.RateLimit{Rate: 1, Burst: 1}, policy.Bulkhead{MaxCalls: 1}
		r := newRig(t, func(ctx context.Context, _ none) (int, error) {
			runs++
			<-ctx.Done() // hangs until its time limit
			return 0, ctx.Err()
		}, sabir.Use(policy.Stack{
			Bulkhead: &bulkhead, Timeout: time.Millisecond, Breaker: &breaker, Retry: &retry, RateLimit: &limit, Cached: &cache, Fallback: &fallback,
		}))
		for range 3 {
			if out, err := r.call(t.Context()); out != 7 || err != nil {
				t.Errorf("got %d, %v, want the fallback's 7", out, err)
			}
		}
		if runs != 1 {
			t.Errorf("the action ran %d times, want once: the rate limit lets one of the three calls through", runs)
		}
		if got := r.all(); !slices.Contains(got, signal.TimedOut) || !slices.Contains(got, signal.RateLimited) || !slices.Contains(got, signal.FellBack) {
			t.Errorf("the signals are %v", got)
		}
	})
}
