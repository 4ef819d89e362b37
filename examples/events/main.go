// Events shows how services hear of what happened elsewhere: handlers with patterns, Emit to one service of each group,
// Broadcast to all, and a queue that keeps a slow handler from holding up its emitter.
//
//	go run ./examples/events
package main

import (
	"context"
	"fmt"
	"log"
	"sync/atomic"

	"github.com/sabir-go/sabir"
)

type OrderPlaced struct {
	Order int    `json:"order"`
	Email string `json:"email"`
}

type CacheReset struct {
	Reason string `json:"reason"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	mail := sabir.NewService("mail")
	sabir.On(mail, "order.placed", func(_ context.Context, e OrderPlaced) error {
		fmt.Println("  mail: thanks to", e.Email, "for order", e.Order)
		return nil
	})

	// A pattern: "*" is one word, "**" one or more. A handler of different events takes any, and Info has the name of each.
	audit := sabir.NewService("audit")
	sabir.On(audit, "order.*", func(ctx context.Context, payload any) error {
		fmt.Println("  audit:", sabir.InfoFromContext(ctx).Event)
		return nil
	})

	// Two services in one group share what is emitted: each event goes to one of them, in turn. A broadcast goes to both.
	var pickedA, pickedB atomic.Int32
	pickerA, pickerB := picker("picker-a", &pickedA), picker("picker-b", &pickedB)

	// A queue of 100: Emit returns as soon as the event is in it.
	reports := sabir.NewService("reports")
	counted := make(chan int)
	sabir.On(reports, "stock.counted", func(_ context.Context, count int) error {
		counted <- count // a slow handler: it waits for us
		return nil
	}, sabir.Delivery{Buffer: 100})

	node := sabir.NewNode(sabir.Serve(mail, audit, pickerA, pickerB, reports))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx)

	fmt.Println("emit order.placed:")
	for _, order := range []int{1, 2} {
		if err := sabir.Emit(ctx, node, "order.placed", OrderPlaced{order, "ada@example.org"}); err != nil {
			return err
		}
	}
	fmt.Println("  picker-a picked", pickedA.Load(), "and picker-b", pickedB.Load())
	fmt.Println("broadcast cache.reset:")
	if err := sabir.Broadcast(ctx, node, "cache.reset", CacheReset{"a new day"}); err != nil {
		return err
	}
	fmt.Println("emit stock.counted:")
	for _, count := range []int{12, 3} {
		if err := sabir.Emit(ctx, node, "stock.counted", count); err != nil {
			return err
		}
	}
	fmt.Println("  reports:", <-counted, <-counted)
	return nil
}

// picker makes one of the services that pick orders in the warehouse; it counts what it picked.
func picker(name string, picked *atomic.Int32) *sabir.Service {
	s := sabir.NewService(name)
	warehouse := sabir.Delivery{Group: "warehouse"}
	sabir.On(s, "order.placed", func(context.Context, OrderPlaced) error {
		picked.Add(1)
		return nil
	}, warehouse)
	sabir.On(s, "cache.reset", func(_ context.Context, e CacheReset) error {
		fmt.Println("  "+name+": forgets its stock for", e.Reason)
		return nil
	}, warehouse)
	return s
}
