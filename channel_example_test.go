package sabir_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/channel/mem"
)

func ExampleConsume() {
	type Order struct {
		ID int `json:"id"`
	}
	orders := sabir.NewChannel[Order]("shop.orders")

	billed := make(chan string)
	billing := sabir.NewService("billing")
	sabir.Consume(billing, orders, func(ctx context.Context, o Order) error {
		d, _ := sabir.DeliveryFromContext(ctx)
		if d.Attempt == 1 {
			return errors.New("the till is locked") // it comes again
		}
		billed <- fmt.Sprintf("order %d, attempt %d of %d", o.ID, d.Attempt, d.Attempts)
		return nil
	}, sabir.Attempts(3, time.Millisecond, time.Second))

	ctx := context.Background()
	node := sabir.NewNode(sabir.Channels("mem://"), sabir.Serve(billing), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer node.Stop(ctx)
	if _, err := orders.Publish(ctx, node, Order{ID: 7}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-billed)
	// Output: order 7, attempt 2 of 3
}
