// Channel shows a durable channel: a published order is billed although the first attempt fails, what cannot be billed
// is dead-lettered with its reason, and comes back when the fault is mended. The address of the broker is all that
// changes from the memory of this process to NATS JetStream, Redis Streams or RabbitMQ.
//
//	go run ./examples/channel
//	go run ./examples/channel nats://embedded?store=/tmp/shop
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/amqp"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/channel"
)

type Order struct {
	ID    int `json:"id"`
	Cents int `json:"cents"`
}

// Orders is the channel, which publishers and consumers share: a name and a type.
var Orders = channel.New[Order]("example.orders", channel.Config{KeepFor: 24 * time.Hour})

func main() {
	address := "mem://"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	if err := run(context.Background(), address); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address string) error {
	var fixed atomic.Bool
	billed := make(chan string)
	billing := sabir.NewService("billing")
	Orders.ConsumeWith(billing, channel.Consumer{Attempts: 5, FirstPause: 50 * time.Millisecond, MaxPause: time.Second, MaxInFlight: 1}, func(ctx context.Context, o Order) error {
		d, _ := channel.DeliveryFromContext(ctx)
		if o.Cents < 0 && !fixed.Load() {
			return channel.Reject(fmt.Errorf("order %d costs less than nothing", o.ID)) // no use to try again
		}
		if d.Attempt == 1 && o.ID == 1 {
			return errors.New("the till is locked") // comes again
		}
		billed <- fmt.Sprintf("order %d is billed, attempt %d", o.ID, d.Attempt)
		return nil
	})

	node := sabir.NewNode(channel.Broker(address), sabir.Serve(billing), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx)

	// When Publish returns, the broker keeps the order: it will be billed, whatever ends in between.
	if _, err := Orders.PublishWithID(ctx, node, "order-1", Order{1, 500}); err != nil {
		return err
	}
	fmt.Println(<-billed)
	if _, err := Orders.Publish(ctx, node, Order{2, -500}); err != nil {
		return err
	}
	letters, err := awaitLetter(ctx, node)
	if err != nil {
		return err
	}
	for _, l := range letters {
		fmt.Println("dead letter:", l.Dead.Reason)
	}
	fixed.Store(true)
	if _, err := channel.Replay(ctx, node, "example.orders.dead"); err != nil {
		return err
	}
	fmt.Println(<-billed)
	return nil
}

// awaitLetter waits until there is a dead-lettered message.
func awaitLetter(ctx context.Context, node *sabir.Node) ([]channel.DeadLetter, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		letters, err := channel.DeadLetters(ctx, node, "example.orders.dead", 10)
		if err != nil || len(letters) > 0 {
			return letters, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
