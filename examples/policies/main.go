// Policies shows the ready-made middlewares of package policy, each on an action that needs it: a time limit, retries, a
// circuit breaker, a bulkhead, a fallback, a rate limit and a cache. The lines that begin with "signal" show the signals that
// policies send to listeners, such as package telemetry.
//
//	go run ./examples/policies
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
)

type Item struct {
	Name string `json:"name"`
}

type Stock struct {
	Left int `json:"left"`
}

var (
	ErrClosed = sabir.NewError(sabir.CodeUnavailable, "WarehouseClosed", "the warehouse is closed for a moment").AsRetryable() // retryable
	ErrBroken = sabir.NewError(sabir.CodeInternal, "ScalesBroken", "the scales are broken")
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	signals := sabir.Middleware{Name: "signals", Signal: func(kind, action, _ string) {
		fmt.Println("  signal:", kind, "of", action)
	}}
	packing, packed := make(chan struct{}), make(chan struct{})
	node := sabir.NewNode(sabir.Serve(stock(packing, packed)), sabir.Use(signals))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx)

	call := func(action string, options ...sabir.CallOption) {
		stock, err := sabir.Call[Stock](ctx, node, action, Item{"pen"}, options...)
		if err != nil {
			fmt.Println(action+":", sabir.AsError(err).Name)
			return
		}
		fmt.Println(action+":", stock.Left, "left")
	}

	call("stock.count")   // hangs: the caller is let go
	call("stock.reserve") // fails twice, then works
	call("stock.guess")   // fails: another answer is better than none
	for range 3 {
		call("stock.weigh") // keeps failing: after two calls no call is let through
	}
	for range 3 {
		call("stock.search") // two at once are allowed
	}

	done := make(chan struct{})
	go func() { defer close(done); call("stock.pack") }()
	<-packing
	call("stock.pack") // one at a time, and no call waits
	close(packed)
	<-done

	call("stock.get")
	call("stock.get")                  // from the cache
	call("stock.get", sabir.NoCache()) // not from the cache
	if err := sabir.Emit(ctx, node, "stock.changed", Item{"pen"}); err != nil {
		return err
	}
	call("stock.get") // cleaned by the event
	return nil
}

func stock(packing, packed chan struct{}) *sabir.Service {
	s := sabir.NewService("stock")
	sabir.Handle(s, "count", func(ctx context.Context, in Item) (Stock, error) {
		<-ctx.Done()
		return Stock{}, ctx.Err()
	}, sabir.Use(policy.Timeout(10*time.Millisecond)))

	var tries atomic.Int32
	sabir.Handle(s, "reserve", func(context.Context, Item) (Stock, error) {
		if tries.Add(1) < 3 {
			return Stock{}, ErrClosed
		}
		return Stock{11}, nil
	}, sabir.Use(policy.Retry{Attempts: 5, FirstPause: time.Millisecond, MaxPause: 10 * time.Millisecond}))

	sabir.Handle(s, "guess", func(context.Context, Item) (Stock, error) {
		return Stock{}, errors.New("no idea")
	}, sabir.Use(policy.FallbackValue(Stock{10})))

	sabir.Handle(s, "weigh", func(context.Context, Item) (Stock, error) {
		return Stock{}, ErrBroken
	}, sabir.Use(policy.Breaker{MinCalls: 2, FailureRatio: 0.5, OpenFor: time.Minute}))

	sabir.Handle(s, "search", func(context.Context, Item) (Stock, error) {
		return Stock{12}, nil
	}, sabir.Use(policy.RateLimit{Rate: 0.01, Burst: 2})) // one in 100 seconds, two at once after a pause

	sabir.Handle(s, "pack", func(context.Context, Item) (Stock, error) {
		close(packing)
		<-packed
		return Stock{9}, nil
	}, sabir.Use(policy.Bulkhead{MaxCalls: 1}))

	// Several policies on one action: the first is the outermost. The cache spares the rest their work.
	var left atomic.Int32
	left.Store(12)
	cache := &policy.Cache{MaxEntries: 1000}
	sabir.Handle(s, "get", func(context.Context, Item) (Stock, error) {
		return Stock{int(left.Add(-1))}, nil
	}, sabir.Use(policy.Cached{Cache: cache, TTL: time.Minute, Keys: []string{"name"}}, policy.Retry{}, policy.Breaker{}, policy.Timeout(time.Second)))
	cache.InvalidateOn(s, "stock.changed", "stock.get")
	return s
}
