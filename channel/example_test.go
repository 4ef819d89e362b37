package channel_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

func ExampleChannel_Consume() {
	type Order struct {
		ID int `json:"id"`
	}
	orders := channel.New[Order]("shop.orders")

	billed := make(chan string)
	billing := sabir.NewService("billing")
	orders.ConsumeWith(billing, channel.Consumer{Attempts: 3, FirstPause: time.Millisecond, MaxPause: time.Second}, func(ctx context.Context, o Order) error {
		d, _ := channel.DeliveryFromContext(ctx)
		if d.Attempt == 1 {
			return errors.New("the till is locked") // it comes again
		}
		billed <- fmt.Sprintf("order %d, attempt %d of %d", o.ID, d.Attempt, d.Attempts)
		return nil
	})

	ctx := context.Background()
	node := sabir.NewNode(channel.Broker("mem://"), sabir.Serve(billing), sabir.Logger(slog.New(slog.DiscardHandler)))
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
