// Dubbo is a shop of two programs: the orders are a service of Go, and the stock is a provider of Dubbo, in Java. Java calls the orders by its interface
// com.shop.OrderService, as those of any provider, and the orders call the stock by name.
//
//	go run ./examples/dubbo                             # in one terminal
//	mvn -q -f examples/dubbo/java compile exec:exec     # in another: Dubbo 3.3
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
)

// doc: input

// Order has the two arguments of the interfaces' methods, in their order.
type Order struct {
	Article string `validate:"required"`
	Amount  int32  `validate:"min=1"`
}

// end

func main() {
	at := flag.String("at", "dubbo://:20880", "where the orders are served")
	stock := flag.String("stock", "dubbo://127.0.0.1:20881", "where the stock is")
	flag.Parse()
	node := sabir.NewNode(sabir.NodeID("go"), sabir.Serve(orders()), dubbo.Bridge(dubbo.Config{
		Serve: map[string][]dubbo.Interface{*at: {{Name: "com.shop.OrderService", Service: "orders"}}},
		References: map[string][]dubbo.Interface{*stock: {{Name: "com.shop.StockService", Service: "stock",
			Methods: []dubbo.Method{{Name: "reserve", Parameters: []string{"java.lang.String", "int"}}}}}}}))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// doc: orders
func orders() *sabir.Service {
	s := sabir.NewService("orders")
	sabir.Handle(s, "place", func(ctx context.Context, in Order) (string, error) {
		left, err := sabir.Call[int32](ctx, s, "stock.reserve", in)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d of %s, %d left", in.Amount, in.Article, left), nil
	})
	return s
}

// end
