// Moleculer is a shop of two programs: the orders are a service of Go, and the stock is one of Moleculer. Each calls the other by name and hears its
// events, and neither knows that the other is of another framework. They find each other by UDP, on this machine only.
//
//	go run ./examples/moleculer                      # in one terminal
//	npm start --prefix examples/moleculer/nodejs     # in another: Moleculer 0.15
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
)

type Order struct {
	Article string `json:"article" validate:"required"`
	Amount  int    `json:"amount" validate:"min=1"`
}

type Confirmation struct {
	Text string `json:"text"`
}

// Reservation comes from the stock, a service of Moleculer.
type Reservation struct {
	Left int `json:"left"`
}

func main() {
	namespace := flag.String("namespace", "shop", "the namespace of the Moleculer project")
	flag.Parse()
	node := sabir.NewNode(sabir.NodeID("go"), sabir.Serve(orders()),
		moleculer.Bridge(moleculer.Config{Address: "tcp://:0", Namespace: *namespace, Expose: []string{"orders.*"}}))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func orders() *sabir.Service {
	s := sabir.NewService("orders")
	sabir.Handle(s, "place", func(ctx context.Context, in Order) (Confirmation, error) {
		reserved, err := sabir.Call[Reservation](ctx, s, "stock.reserve", in)
		if err != nil {
			return Confirmation{}, err
		}
		if err := sabir.Emit(context.WithoutCancel(ctx), s, "orders.placed", in); err != nil { // the order stands
			sabir.NodeFromContext(ctx).Log().WarnContext(ctx, "an order was not announced", "error", err)
		}
		return Confirmation{fmt.Sprintf("%d of %s, %d left", in.Amount, in.Article, reserved.Left)}, nil
	})
	return s
}
