// Streams shows actions that send or receive many values: many answers to one question, many questions with one answer,
// and both at the same time. The faster side waits for the other.
//
//	go run ./examples/streams
package main

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/sabir-go/sabir"
)

type ListOrders struct {
	Customer string `json:"customer"`
}

type Order struct {
	Number int `json:"number"`
	Cents  int `json:"cents" validate:"gte=0"` // each value that a handler receives is checked
}

type Total struct {
	Orders int `json:"orders"`
	Cents  int `json:"cents"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	node := sabir.NewNode(sabir.Serve(orders()))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx)

	// One question, many answers. Leaving the loop ends the stream.
	for order, err := range sabir.CallStream[Order](ctx, node, "orders.list", ListOrders{"Ada"}) {
		if err != nil {
			return err
		}
		fmt.Println("list: order", order.Number)
		if order.Number == 3 {
			break
		}
	}

	// Many questions, one answer.
	upload, err := sabir.OpenStream[Order, Total](ctx, node, "orders.import")
	if err != nil {
		return err
	}
	defer upload.Close()
	for number := range 40 {
		err := upload.Send(Order{number, 250})
		if err == io.EOF {
			break // the handler wants no more: Recv returns why
		}
		if err != nil {
			return err
		}
	}
	upload.CloseSend()
	total, err := upload.Recv()
	if err != nil {
		return err
	}
	fmt.Println("import:", total.Orders, "orders,", total.Cents, "cents")

	// Both at the same time: here in turns, but one goroutine may send while another receives.
	prices, err := sabir.OpenStream[Order, int](ctx, node, "orders.running")
	if err != nil {
		return err
	}
	defer prices.Close()
	for _, cents := range []int{100, 250, -1} {
		if err := prices.Send(Order{Cents: cents}); err != nil {
			return err
		}
		sum, err := prices.Recv()
		if err != nil {
			fmt.Println("running:", err) // the handler's error: it refused the last one
			return nil
		}
		fmt.Println("running: sum", sum)
	}
	return nil
}

func orders() *sabir.Service {
	s := sabir.NewService("orders")
	sabir.HandleStream(s, "list", func(_ context.Context, stream *sabir.Stream[ListOrders, Order]) error {
		if _, err := stream.Recv(); err != nil {
			return err
		}
		for number := 1; ; number++ {
			if err := stream.Send(Order{Number: number}); err != nil {
				return err // the caller has left
			}
		}
	}, sabir.ServerStream())
	sabir.HandleStream(s, "import", func(_ context.Context, stream *sabir.Stream[Order, Total]) error {
		var total Total
		for order, err := range stream.All() {
			if err != nil {
				return err
			}
			total.Orders++
			total.Cents += order.Cents
		}
		return stream.Send(total)
	}, sabir.ClientStream())
	sabir.HandleStream(s, "running", func(_ context.Context, stream *sabir.Stream[Order, int]) error {
		sum := 0
		for order, err := range stream.All() {
			if err != nil {
				return err
			}
			sum += order.Cents
			if err := stream.Send(sum); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}
