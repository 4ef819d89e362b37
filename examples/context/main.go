// Context shows the values that a handler finds in its context and that go along through nested calls and events: the caller,
// the depth, the request's id, and metadata such as a tenant or a language.
//
//	go run ./examples/context
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/sabir-go/sabir"
)

type Order struct {
	Item string `json:"item"`
}

type Receipt struct {
	Number int `json:"number"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	node := sabir.NewNode(sabir.NodeID("shop-1"), sabir.Serve(orders(), stock()))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx)

	// Over HTTP every request has an id; in process a caller sets one if it needs it, such as a UUID.
	ctx = sabir.WithRequestID(ctx, "request-42")
	ctx = sabir.WithMetadata(ctx, "tenant", "acme")
	_, err := sabir.Call[Receipt](ctx, node, "orders.place", Order{"pen"})
	return err
}

func orders() *sabir.Service {
	s := sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("stock")))
	sabir.Handle(s, "place", func(ctx context.Context, in Order) (Receipt, error) {
		show(ctx)
		// Pass the handler's context on, and everything goes along. A service is a caller too, so no node is needed.
		ctx = sabir.WithMetadata(ctx, "reason", "new order")
		if _, err := sabir.Call[Receipt](ctx, s, "stock.take", in); err != nil {
			return Receipt{}, err
		}
		if err := sabir.Emit(context.WithoutCancel(ctx), s, "order.placed", in); err != nil { // the order stands
			sabir.NodeFromContext(ctx).Log().WarnContext(ctx, "an order was not announced", "error", err)
		}
		return Receipt{1}, nil
	})
	return s
}

func stock() *sabir.Service {
	s := sabir.NewService("stock")
	sabir.Handle(s, "take", func(ctx context.Context, in Order) (Receipt, error) {
		show(ctx)
		return Receipt{}, nil
	})
	sabir.On(s, "order.*", func(ctx context.Context, in Order) error {
		show(ctx)
		return nil
	})
	return s
}

// show prints the information that a handler has about its call.
func show(ctx context.Context) {
	info := sabir.InfoFromContext(ctx)
	if info.Event != "" {
		fmt.Println("event", info.Event, "in", info.Service)
	} else {
		fmt.Println("action", info.Action)
	}
	fmt.Printf("  node %s, level %d, caller %q\n", info.Node, info.Depth, info.CalledBy)
	fmt.Println("  request", info.RequestID, "metadata", info.Metadata)
}
