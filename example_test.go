package sabir_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/sabir-go/sabir"
)

func ExampleBind() {
	prices := sabir.NewService("prices")
	sabir.Handle(prices, "get", func(_ context.Context, item string) (int, error) { return 100 * len(item), nil })

	// A service binds what it calls when it is made, before there is a node.
	orders := sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("prices")))
	priceOf := sabir.Bind[string, int](orders, "prices.get")
	sabir.Handle(orders, "total", func(ctx context.Context, items []string) (int, error) {
		total := 0
		for _, item := range items {
			price, err := priceOf(ctx, item)
			if err != nil {
				return 0, err
			}
			total += price
		}
		return total, nil
	})

	ctx := context.Background()
	node := sabir.NewNode(sabir.Serve(orders, prices))
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	total, err := sabir.Call[int](ctx, node, "orders.total", []string{"pen", "paper"})
	fmt.Println(total, err)
	// Output: 800 <nil>
}

func ExampleAll() {
	stock := sabir.NewService("stock")
	sabir.Handle(stock, "left", func(_ context.Context, item string) (int, error) {
		if item == "ink" {
			return 0, errors.New("the shelf is gone")
		}
		return 12, nil
	})
	ctx := context.Background()
	node := sabir.NewNode(sabir.Serve(stock))
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	var pens, ink int
	left := sabir.NewAction[string, int]("stock.left")
	err := sabir.All(ctx, node, left.Into(&pens, "pen"), left.Into(&ink, "ink"))
	fmt.Println(pens, ink, err)
	// Output:
	// 12 0 HandlerFailed: the shelf is gone
}

func ExampleCallJSON() {
	type order struct {
		Item  string `json:"item"`
		Count int    `json:"count"`
	}
	orders := sabir.NewService("orders")
	sabir.Handle(orders, "double", func(_ context.Context, in order) (order, error) {
		in.Count *= 2
		return in, nil
	})
	ctx := context.Background()
	node := sabir.NewNode(sabir.Serve(orders))
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	answer, err := sabir.CallJSON(ctx, node, "orders.double", []byte(`{"item":"pen","count":6}`))
	fmt.Println(string(answer), err)
	_, err = sabir.CallJSON(ctx, node, "orders.double", []byte(`{"item":"pen","count":"six"}`))
	fmt.Println(errors.Is(err, sabir.ErrBadInput))
	// Output:
	// {"item":"pen","count":12} <nil>
	// true
}

func ExampleEmit() {
	type orderPlaced struct {
		Number int `json:"number"`
	}
	mail := sabir.NewService("mail")
	sabir.On(mail, "order.placed", func(_ context.Context, e orderPlaced) error {
		fmt.Println("mail: order", e.Number)
		return nil
	})
	stock := sabir.NewService("stock")
	sabir.On(stock, "order.placed", func(_ context.Context, e orderPlaced) error {
		fmt.Println("stock: order", e.Number)
		return nil
	})
	ctx := context.Background()
	node := sabir.NewNode(sabir.Serve(mail, stock))
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	err := sabir.Emit(ctx, node, "order.placed", orderPlaced{Number: 1})
	fmt.Println(err) // the handlers have run
	// Output:
	// mail: order 1
	// stock: order 1
	// <nil>
}

func ExampleOn() {
	audit := sabir.NewService("audit")
	sabir.On(audit, "order.*", func(ctx context.Context, payload any) error {
		fmt.Println(sabir.InfoFromContext(ctx).Event, payload)
		return nil
	})
	sabir.On(audit, "**.failed", func(ctx context.Context, reason string) error {
		fmt.Println("failure:", sabir.InfoFromContext(ctx).Event, reason)
		return nil
	})
	ctx := context.Background()
	node := sabir.NewNode(sabir.Serve(audit))
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	for _, event := range []string{"order.placed", "order.payment.failed"} {
		if err := sabir.Emit(ctx, node, event, "no. 7"); err != nil {
			panic(err)
		}
	}
	// Output:
	// order.placed no. 7
	// failure: order.payment.failed no. 7
}

func ExampleHandleStream() {
	sums := sabir.NewService("sums")
	sabir.HandleStream(sums, "running", func(_ context.Context, stream *sabir.Stream[int, int]) error {
		sum := 0
		for n, err := range stream.All() {
			if err != nil {
				return err
			}
			sum += n
			if err := stream.Send(sum); err != nil {
				return err
			}
		}
		return nil
	})
	ctx := context.Background()
	node := sabir.NewNode(sabir.Serve(sums))
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	stream, err := sabir.OpenStream[int, int](ctx, node, "sums.running")
	if err != nil {
		panic(err)
	}
	defer stream.Close()
	for _, n := range []int{1, 2, 3} { // fewer than 16, so no Send waits
		if err := stream.Send(n); err != nil {
			panic(err)
		}
	}
	stream.CloseSend()
	for sum, err := range stream.All() {
		fmt.Println(sum, err)
	}
	// Output:
	// 1 <nil>
	// 3 <nil>
	// 6 <nil>
}

func ExampleGo() {
	files := sabir.NewService("files")
	sabir.Handle(files, "import", func(ctx context.Context, names []string) (int, error) {
		for _, name := range names {
			sabir.Go(ctx, func(context.Context) error {
				if name == "broken.csv" {
					return fmt.Errorf("cannot read %s", name)
				}
				return nil
			})
		}
		return len(names), nil // the caller gets it when all goroutines have ended
	})
	ctx := context.Background()
	node := sabir.NewNode(sabir.Serve(files))
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	for _, names := range [][]string{{"a.csv", "b.csv"}, {"a.csv", "broken.csv"}} {
		_, err := sabir.Call[int](ctx, node, "files.import", names)
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// HandlerFailed: cannot read broken.csv
}

func ExampleUse() {
	// The outer function runs once for each action, the inner one for each call.
	audit := sabir.Middleware{Name: "audit", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			err := next(ctx, r)
			fmt.Println(a.Name, "failed:", err != nil)
			return err
		}
	}}
	users := sabir.NewService("users")
	sabir.Handle(users, "get", func(_ context.Context, id int) (string, error) { return "Ada", nil })

	ctx := context.Background()
	node := sabir.NewNode(sabir.Serve(users), sabir.Use(audit)) // or for a service, an action, an event handler
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	name, err := sabir.Call[string](ctx, node, "users.get", 7)
	fmt.Println(name, err)
	// Output:
	// users.get failed: false
	// Ada <nil>
}

func ExampleNewError() {
	type shortage struct {
		Left int `json:"left"`
	}
	errOutOfStock := sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "there is not enough in stock")

	orders := sabir.NewService("orders")
	sabir.Handle(orders, "place", func(_ context.Context, item string) (int, error) {
		return 0, errOutOfStock.WithData(shortage{Left: 3})
	})
	ctx := context.Background()
	node := sabir.NewNode(sabir.Serve(orders))
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	_, err := sabir.Call[int](ctx, node, "orders.place", "pen")
	if errors.Is(err, errOutOfStock) {
		short, err := sabir.DataAs[shortage](sabir.AsError(err))
		fmt.Println(short.Left, "left", err)
	}
	// Output: 3 left <nil>
}

func ExampleNewModule() {
	greet := func(name string) *sabir.Service {
		s := sabir.NewService(name)
		sabir.Handle(s, "hello", func(context.Context, struct{}) (string, error) { return "hello from " + name, nil })
		return s
	}
	office := sabir.NewModule("office", greet("mail"), greet("reports"))

	ctx := context.Background()
	node := sabir.NewNode()
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	if err := node.Add(ctx, office); err != nil {
		panic(err)
	}
	text, err := sabir.Call[string](ctx, node, "reports.hello", struct{}{})
	fmt.Println(text, err)
	if err := node.Remove(ctx, office); err != nil { // all of it goes
		panic(err)
	}
	_, err = sabir.Call[string](ctx, node, "mail.hello", struct{}{})
	fmt.Println(errors.Is(err, sabir.ErrActionNotFound))
	// Output:
	// hello from reports <nil>
	// true
}
