// Middleware shows how to wrap calls and events with your own code: for the whole node, for a service, or for one
// action, and in which order they run.
//
//	go run ./examples/middleware
package main

import (
	"context"
	"fmt"
	"log"
	"reflect"
	"time"

	"github.com/sabir-go/sabir"
)

type Order struct {
	Item  string `json:"item" validate:"required"`
	Count int    `json:"count"`
}

type Receipt struct {
	Number int `json:"number"`
}

// timing measures calls that are handled here and hands them to report. The outer function runs once for each action, when
// its service starts; the inner one for each call.
func timing(report func(action string, took time.Duration, err error)) sabir.Middleware {
	return sabir.Middleware{Name: "timing", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			start := time.Now()
			err := next(ctx, r)
			report(a.Name, time.Since(start), err)
			return err
		}
	}}
}

// trace prints when something passes, so that the order can be seen.
func trace(name string) sabir.Middleware {
	return sabir.Middleware{
		Name: name,
		Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
			return func(ctx context.Context, r *sabir.Request) error {
				fmt.Println("  ", name, "before", a.Name)
				err := next(ctx, r)
				fmt.Println("  ", name, "after", a.Name)
				return err
			}
		},
		Event: func(s *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
			return func(ctx context.Context, e *sabir.Event) error {
				fmt.Println("  ", name, "sees", e.Name, "on its way to", s.Service)
				return next(ctx, e)
			}
		},
	}
}

// atLeastOne changes the input on its way. It refuses to wrap actions with another input, so that the mistake is found when
// the service starts.
var atLeastOne = sabir.Middleware{Name: "at least one", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
	if a.In != reflect.TypeFor[Order]() {
		a.Reject("atLeastOne is for actions that take an Order, not a %s", a.In)
	}
	return func(ctx context.Context, r *sabir.Request) error {
		order := r.Input().(*Order)
		order.Count = max(order.Count, 1)
		return next(ctx, r)
	}
}}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	orders := sabir.NewService("orders", sabir.Use(trace("service")))
	sabir.Handle(orders, "place", func(_ context.Context, in Order) (Receipt, error) {
		fmt.Println("   handler:", in.Count, in.Item)
		return Receipt{1}, nil
	}, sabir.Use(trace("action"), atLeastOne))
	sabir.On(orders, "stock.empty", func(_ context.Context, item string) error {
		fmt.Println("   handler:", item, "is out")
		return nil
	})

	report := func(action string, took time.Duration, err error) {
		fmt.Println("  ", action, "was fast:", took < time.Minute, "and succeeded:", err == nil)
	}
	node := sabir.NewNode(sabir.Serve(orders), sabir.Use(timing(report), trace("node")))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx)

	fmt.Println("a call:")
	if _, err := sabir.Call[Receipt](ctx, node, "orders.place", Order{Item: "pen"}); err != nil {
		return err
	}
	fmt.Println("a call with a bad input, which the node's middlewares see and the others do not:")
	_, err := sabir.Call[Receipt](ctx, node, "orders.place", Order{})
	fmt.Println("  ", err)
	fmt.Println("an event:")
	return sabir.Emit(ctx, node, "stock.empty", "ink")
}
