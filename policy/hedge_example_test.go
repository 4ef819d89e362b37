package policy_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
	_ "github.com/sabir-go/sabir/transport/mem"
)

func ExampleHedge() {
	const cluster = "mem://prices"
	begin := func(options ...sabir.NodeOption) *sabir.Node {
		node := sabir.NewNode(append(options, sabir.Join(cluster), sabir.Logger(slog.New(slog.DiscardHandler)))...)
		if err := node.Start(context.Background()); err != nil {
			log.Fatal(err)
		}
		return node
	}
	offer := func(id string, price func(context.Context, GetPrice) (Price, error)) *sabir.Node {
		shop := sabir.NewService("shop")
		sabir.Handle(shop, "price", price, sabir.Idempotent())
		return begin(sabir.NodeID(id), sabir.Serve(shop))
	}
	standing := offer("standing-still", func(ctx context.Context, _ GetPrice) (Price, error) {
		<-ctx.Done()
		return Price{}, ctx.Err()
	})
	well := offer("well", func(_ context.Context, in GetPrice) (Price, error) { return Price{in.Item, 250}, nil })
	caller := begin(sabir.NodeID("caller"), sabir.Use(policy.Hedge{}))
	for changed := caller.Changed(); caller.Action("shop.price") == nil || len(caller.Action("shop.price").Nodes()) < 2; changed = caller.Changed() {
		<-changed
	}
	for range 200 { // by which it finds out what is late; here the first ones go to the node that is well
		if _, err := sabir.Call[Price](context.Background(), caller, "shop.price", GetPrice{"tea"}, sabir.ToNode("well")); err != nil {
			log.Fatal(err)
		}
	}
	for range 4 {
		fmt.Println(sabir.Call[Price](context.Background(), caller, "shop.price", GetPrice{"tea"}))
	}
	for _, node := range []*sabir.Node{caller, well, standing} {
		node.Stop(context.Background())
	}
	// Output:
	// {tea 250} <nil>
	// {tea 250} <nil>
	// {tea 250} <nil>
	// {tea 250} <nil>
}
