// Remote joins two nodes over HTTP: the shop calls the actions of the warehouse by the same lines as its own. Types,
// errors, the request's id, metadata and the deadline go along.
//
//	go run ./examples/remote
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
)

// ErrOutOfStock is the same on both sides by its code and name.
var ErrOutOfStock = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "there is not enough in stock")

type Take struct {
	Item  string `json:"item" validate:"required"`
	Count int    `json:"count" validate:"gt=0"`
}

type Stock struct {
	Left int `json:"left"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	// The warehouse, which in earnest is another process on another machine.
	warehouse := sabir.NewNode(sabir.NodeID("warehouse"), sabir.Serve(stock()), sabir.HTTP("127.0.0.1:0"))
	if err := warehouse.Start(ctx); err != nil {
		return err
	}
	defer warehouse.Stop(ctx)

	client, err := web.Dial("http://"+warehouse.HTTPAddr(), web.ClientConfig{})
	if err != nil {
		return err
	}
	defer client.Close()

	// The shop sends there what its own services do not offer.
	shop := sabir.NewNode(sabir.NodeID("shop"), sabir.Serve(orders()), sabir.WithUpstream(client))
	if err := shop.Start(ctx); err != nil {
		return err
	}
	defer shop.Stop(ctx)

	ctx = sabir.WithMetadata(ctx, "tenant", "acme")
	left, err := sabir.Call[Stock](ctx, shop, "orders.place", Take{"pen", 5})
	if err != nil {
		return err
	}
	fmt.Println("left:", left.Left)

	_, err = sabir.Call[Stock](ctx, shop, "orders.place", Take{"pen", 50})
	fmt.Println("out of stock:", errors.Is(err, ErrOutOfStock), "at", sabir.AsError(err).Node)

	takeInk := sabir.Bind[Take, Stock](shop, "stock.take") // bound as if it were here
	_, err = takeInk(ctx, Take{"ink", -1})
	fmt.Println("invalid:", errors.Is(err, sabir.ErrValidationFailed), "at", sabir.AsError(err).Node)
	return nil
}

// orders runs in the shop. It does not know where the stock is.
func orders() *sabir.Service {
	s := sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("stock")))
	sabir.Handle(s, "place", func(ctx context.Context, in Take) (Stock, error) {
		return sabir.Call[Stock](ctx, s, "stock.take", in)
	})
	return s
}

// stock runs in the warehouse.
func stock() *sabir.Service {
	s := sabir.NewService("stock")
	sabir.Handle(s, "take", func(ctx context.Context, in Take) (Stock, error) {
		const have = 12
		info := sabir.InfoFromContext(ctx)
		fmt.Println(info.Node, "takes", in.Count, in.Item, "for", sabir.InfoFromContext(ctx).Metadata["tenant"])
		if in.Count > have {
			return Stock{}, ErrOutOfStock
		}
		return Stock{have - in.Count}, nil
	})
	return s
}
