// Package channel keeps messages until they are handled: durable queues, kept by NATS JetStream, Redis Streams, RabbitMQ or,
// for tests, the memory of the process.
//
//	package main
//
//	import (
//		"context"
//		"log"
//
//		"github.com/sabir-go/sabir"
//		"github.com/sabir-go/sabir/channel"
//	)
//
//	type Order struct {
//		ID int `json:"id"`
//	}
//
//	var Orders = channel.New[Order]("shop.orders")
//
//	func main() {
//		ctx, billing := context.Background(), sabir.NewService("billing")
//		done := make(chan bool)
//		Orders.Consume(billing, func(ctx context.Context, o Order) error {
//			log.Println("billed", o.ID)
//			close(done)
//			return nil // an error: the message comes again, later
//		})
//		node := sabir.NewNode(channel.Broker("mem://"), sabir.Serve(billing))
//		if err := node.Start(ctx); err != nil {
//			log.Fatal(err)
//		}
//		if _, err := Orders.Publish(ctx, node, Order{ID: 7}); err != nil {
//			log.Fatal(err)
//		}
//		<-done // without an error of Publish, the broker keeps the order until it is handled
//		node.Stop(ctx)
//	}
//
// A message whose Publish returned nil is handled at least once by each group of consumers, whatever ends in between: the
// publisher, a consumer, the broker. One that cannot be handled becomes a dead letter, with the reason: see [DeadLetters].
//
// Each node with a broker has the service $channels, which lists its channels and dead letters for tools such as "sabir
// channels". docs/channels.md is the guide.
package channel
