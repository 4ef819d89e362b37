package rediscache_test

import (
	"context"
	"log"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/policy/rediscache"
)

type Price struct {
	Cents int `json:"cents"`
}

func Example() {
	store, err := rediscache.Open(rediscache.Config{URL: "redis://cache.internal:6379", Name: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	prices := &policy.Cache{Store: store}
	shop := sabir.NewService("shop")
	sabir.Handle(shop, "price", func(ctx context.Context, item string) (Price, error) {
		return Price{Cents: 100}, nil // from a slow database
	}, sabir.Use(policy.Cached{Cache: prices, TTL: time.Minute}))
	sabir.Handle(shop, "reprice", func(ctx context.Context, item string) (sabir.Empty, error) {
		// The database has the new price; from here on no node gives the old one.
		return sabir.Empty{}, prices.Invalidate(ctx, "shop.price")
	})

	node := sabir.NewNode(sabir.Serve(shop), sabir.Join("tcp://:7700"))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// An answer that may be a second old need not be asked for in Redis each time: a cache in memory stands before it.
func Example_inMemoryBeforeRedis() {
	store, err := rediscache.Open(rediscache.Config{URL: "redis://cache.internal:6379", Name: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	near, far := &policy.Cache{}, &policy.Cache{Store: store}
	shop := sabir.NewService("shop", sabir.Use(policy.Cached{Cache: near, TTL: time.Second}, policy.Cached{Cache: far, TTL: time.Hour}))
	sabir.Handle(shop, "price", func(ctx context.Context, item string) (Price, error) { return Price{Cents: 100}, nil })
}
