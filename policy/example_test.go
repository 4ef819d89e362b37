package policy_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
)

type Price struct {
	Item  string `json:"item"`
	Cents int    `json:"cents"`
}

type GetPrice struct {
	Item string `json:"item"`
}

// serve runs a node with the services until done is called.
func serve(services ...sabir.Servable) (node *sabir.Node, done func()) {
	node = sabir.NewNode(sabir.Serve(services...), sabir.NodeID("example"))
	if err := node.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	return node, func() { node.Stop(context.Background()) }
}

func Example() {
	lookUp := func(_ context.Context, in GetPrice) (Price, error) { return Price{in.Item, 250}, nil }

	prices := &policy.Cache{MaxEntries: 50_000}
	shop := sabir.NewService("shop")
	sabir.Handle(shop, "price", lookUp, sabir.Use( // the first is the outermost
		policy.FallbackValue(Price{}),
		policy.Cached{Cache: prices, TTL: time.Minute, Keys: []string{"item", "#currency"}},
		policy.RateLimit{Rate: 1000, Burst: 100},
		policy.Retry{},
		policy.Breaker{},
		policy.Timeout(2*time.Second),
		policy.Bulkhead{MaxCalls: 50, MaxQueue: 100},
	))
	prices.InvalidateOn(shop, "price.changed", "shop.price")

	node, done := serve(shop)
	defer done()
	fmt.Println(sabir.Call[Price](context.Background(), node, "shop.price", GetPrice{"tea"}))
	// Output: {tea 250} <nil>
}

func ExampleTimeout() {
	s := sabir.NewService("report")
	sabir.Handle(s, "make", func(ctx context.Context, _ struct{}) (int, error) {
		<-ctx.Done() // a handler that ignored ctx would be left behind just the same
		return 0, ctx.Err()
	}, sabir.Use(policy.Timeout(10*time.Millisecond)))

	node, done := serve(s)
	defer done()
	_, err := sabir.Call[int](context.Background(), node, "report.make", struct{}{})
	fmt.Println(errors.Is(err, sabir.ErrDeadlineExceeded))
	// Output: true
}

func ExampleRetry() {
	tries := 0
	s := sabir.NewService("mail")
	sabir.Handle(s, "send", func(context.Context, struct{}) (string, error) {
		if tries++; tries < 3 {
			return "", sabir.NewError(sabir.CodeUnavailable, "ServerBusy", "the mail server is busy").AsRetryable() // retryable
		}
		return fmt.Sprintf("sent at try %d", tries), nil
	}, sabir.Use(policy.Retry{Attempts: 5, FirstPause: time.Millisecond, MaxPause: time.Second}))

	node, done := serve(s)
	defer done()
	fmt.Println(sabir.Call[string](context.Background(), node, "mail.send", struct{}{}))
	// Output: sent at try 3 <nil>
}

func ExampleBreaker() {
	var states policy.BreakerStates
	s := sabir.NewService("bank")
	sabir.Handle(s, "pay", func(context.Context, struct{}) (int, error) {
		return 0, errors.New("the line is dead")
	}, sabir.Use(policy.Breaker{MinCalls: 10, OpenFor: time.Minute, States: &states}))

	node, done := serve(s)
	defer done()
	var err error
	for range 11 {
		_, err = sabir.Call[int](context.Background(), node, "bank.pay", struct{}{})
	}
	state, _ := states.Of("bank.pay")
	fmt.Println(state, errors.Is(err, sabir.ErrBreakerOpen))
	// Output: open true
}

func ExampleBulkhead() {
	s := sabir.NewService("pdf")
	sabir.Handle(s, "render", func(context.Context, struct{}) (string, error) { return "done", nil },
		sabir.Use(policy.Bulkhead{MaxCalls: 4, MaxQueue: 16, MaxWait: 2 * time.Second})) // 4 at once, 16 wait

	node, done := serve(s)
	defer done()
	fmt.Println(sabir.Call[string](context.Background(), node, "pdf.render", struct{}{}))
	// Output: done <nil>
}

func ExampleRateLimit() {
	type Login struct {
		User string `json:"user"`
	}
	s := sabir.NewService("auth")
	sabir.Handle(s, "login", func(_ context.Context, in Login) (string, error) { return "welcome " + in.User, nil },
		sabir.Use(policy.RateLimit{Rate: 0.1, Burst: 2, PerKey: []string{"user"}})) // twice at once, then every ten seconds

	node, done := serve(s)
	defer done()
	for _, user := range []string{"ada", "ada", "ada", "bob"} {
		out, err := sabir.Call[string](context.Background(), node, "auth.login", Login{user})
		fmt.Println(out, errors.Is(err, sabir.ErrRateLimited))
	}
	// Output:
	// welcome ada false
	// welcome ada false
	//  true
	// welcome bob false
}

func ExampleFallback() {
	s := sabir.NewService("shop")
	sabir.Handle(s, "price", func(context.Context, GetPrice) (Price, error) {
		return Price{}, errors.New("the database is down")
	}, sabir.Use(policy.FallbackFunc(func(_ context.Context, in GetPrice, _ error) (Price, error) {
		return Price{Item: in.Item, Cents: 999}, nil // the list price
	})))

	node, done := serve(s)
	defer done()
	fmt.Println(sabir.Call[Price](context.Background(), node, "shop.price", GetPrice{"tea"}))
	// Output: {tea 999} <nil>
}

func ExampleCache() {
	users := &policy.Cache{}
	runs := 0
	s := sabir.NewService("users")
	sabir.Handle(s, "count", func(context.Context, struct{}) (int, error) { runs++; return runs, nil },
		sabir.Use(policy.Cached{Cache: users, TTL: time.Hour}))
	users.InvalidateOn(s, "user.*", "users.**")

	node, done := serve(s)
	defer done()
	ctx := context.Background()
	count := func(options ...sabir.CallOption) int {
		n, _ := sabir.Call[int](ctx, node, "users.count", struct{}{}, options...)
		return n
	}
	fmt.Println(count(), count(), count(sabir.NoCache()), count())
	sabir.Emit(ctx, node, "user.created", "ada")
	fmt.Println(count())
	// Output:
	// 1 1 2 2
	// 3
}

// Each node keeps prices in its own memory. The one that changes a price has all of them forget it.
func ExampleCache_InvalidateAcross() {
	prices := &policy.Cache{}
	shop := sabir.NewService("shop")
	prices.InvalidateAcross(shop, "prices")
	sabir.Handle(shop, "price", func(_ context.Context, in GetPrice) (Price, error) {
		return Price{in.Item, 100}, nil // from a slow database
	}, sabir.Use(policy.Cached{Cache: prices, TTL: time.Hour}))
	sabir.Handle(shop, "reprice", func(ctx context.Context, in Price) (sabir.Empty, error) {
		// The database has the new price; from here on no node gives the old one.
		return sabir.Empty{}, prices.Invalidate(ctx, "shop.price")
	})
	node := sabir.NewNode(sabir.Serve(shop), sabir.Join("tcp://:7700"))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
