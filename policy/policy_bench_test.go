package policy_test

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
)

type helloRequest struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

type helloReply struct {
	Text string `json:"text"`
	Age  int    `json:"age"`
}

func hello(_ context.Context, in helloRequest) (helloReply, error) {
	return helloReply{Text: in.Name, Age: in.Age + 1}, nil
}

// callThrough measures a call by name of an action with the given options.
func callThrough(b *testing.B, options ...sabir.ActionOption) {
	b.Helper()
	s := sabir.NewService("greeter")
	sabir.Handle(s, "hello", hello, options...)
	node := start(b, sabir.Serve(s))
	ctx := context.Background()
	in := helloRequest{"Ada", 36}
	b.ReportAllocs()
	for b.Loop() {
		out, err := sabir.Call[helloReply](ctx, node, "greeter.hello", in)
		if err != nil || out.Age != 37 {
			b.Fatal(out, err)
		}
	}
}

func passing() sabir.Middleware {
	return sabir.Middleware{Local: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error { return next(ctx, r) }
	}}
}

func fallBack() sabir.Wrapper { return policy.FallbackValue(helloReply{}) }

func BenchmarkNoPolicy(b *testing.B) { callThrough(b) }

// BenchmarkPassing measures a middleware that does nothing.
func BenchmarkPassing(b *testing.B) { callThrough(b, sabir.Use(passing())) }

func BenchmarkRetry(b *testing.B)   { callThrough(b, sabir.Use(policy.Retry{})) }
func BenchmarkBreaker(b *testing.B) { callThrough(b, sabir.Use(policy.Breaker{})) }
func BenchmarkBulkhead(b *testing.B) {
	callThrough(b, sabir.Use(policy.Bulkhead{MaxCalls: 100, MaxQueue: 100}))
}
func BenchmarkFallback(b *testing.B) { callThrough(b, sabir.Use(fallBack())) }

func BenchmarkRateLimit(b *testing.B) {
	callThrough(b, sabir.Use(policy.RateLimit{Rate: 10_000_000, Burst: 1_000_000}))
}

func BenchmarkRateLimitPerKey(b *testing.B) {
	callThrough(b, sabir.Use(policy.RateLimit{Rate: 10_000_000, Burst: 1_000_000, PerKey: []string{"name"}}))
}

func BenchmarkTimeout(b *testing.B) { callThrough(b, sabir.Use(policy.Timeout(time.Minute))) }

func BenchmarkTimeoutInline(b *testing.B) {
	callThrough(b, sabir.Use(policy.Timeout(time.Minute)), sabir.Inline())
}

func allPolicies() sabir.ActionOption {
	return sabir.Use(fallBack(), policy.RateLimit{Rate: 10_000_000, Burst: 1_000_000}, policy.Retry{}, policy.Breaker{},
		policy.Timeout(time.Minute), policy.Bulkhead{MaxCalls: 100, MaxQueue: 100})
}

func BenchmarkAllPolicies(b *testing.B)       { callThrough(b, allPolicies()) }
func BenchmarkAllPoliciesInline(b *testing.B) { callThrough(b, allPolicies(), sabir.Inline()) }

// BenchmarkAllPoliciesParallel has as many callers as processors.
func BenchmarkAllPoliciesParallel(b *testing.B) {
	s := sabir.NewService("greeter")
	sabir.Handle(s, "hello", hello, allPolicies())
	node := start(b, sabir.Serve(s))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := sabir.Call[helloReply](context.Background(), node, "greeter.hello", helloRequest{"Ada", 36}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkAllPoliciesButTimeout(b *testing.B) {
	callThrough(b, sabir.Use(fallBack(), policy.RateLimit{Rate: 10_000_000, Burst: 1_000_000}, policy.Retry{}, policy.Breaker{},
		policy.Bulkhead{MaxCalls: 100, MaxQueue: 100}))
}

func BenchmarkCacheHitWithKeys(b *testing.B) {
	callThrough(b, sabir.Use(policy.Cached{Cache: &policy.Cache{}, Keys: []string{"name"}}))
}

func BenchmarkCacheHitWholeInput(b *testing.B) {
	callThrough(b, sabir.Use(policy.Cached{Cache: &policy.Cache{}}))
}

func BenchmarkCacheHitCloned(b *testing.B) {
	callThrough(b, sabir.Use(policy.Cached{Cache: &policy.Cache{}, Keys: []string{"name"}, Clone: policy.CloneJSON()}))
}

func BenchmarkCacheMiss(b *testing.B) {
	s := sabir.NewService("greeter")
	sabir.Handle(s, "hello", hello, sabir.Use(policy.Cached{Cache: &policy.Cache{}, Keys: []string{"age"}}))
	node := start(b, sabir.Serve(s))
	ctx := context.Background()
	in := helloRequest{"Ada", 0}
	b.ReportAllocs()
	for b.Loop() {
		in.Age++
		if _, err := sabir.Call[helloReply](ctx, node, "greeter.hello", in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBreakerOpen(b *testing.B) {
	s := sabir.NewService("greeter")
	sabir.Handle(s, "hello", func(context.Context, helloRequest) (helloReply, error) {
		return helloReply{}, sabir.NewError(sabir.CodeInternal, "Broken", "broken")
	}, sabir.Use(policy.Breaker{OpenFor: time.Hour}))
	node := start(b, sabir.Serve(s))
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sabir.Call[helloReply](ctx, node, "greeter.hello", helloRequest{}); err == nil {
			b.Fatal("answered")
		}
	}
}
