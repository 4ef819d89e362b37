// Lifecycle shows how services come and go: start and stop hooks, the order that needs give, groups, adding and removing
// services while the node runs, waiting for one, and versions side by side.
//
//	go run ./examples/lifecycle
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sabir-go/sabir"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	stock := service("stock")
	orders := service("orders", sabir.DependsOn(sabir.ServiceName("stock"))) // starts after stock and stops before it
	node := sabir.NewNode(sabir.Serve(orders, stock))

	fmt.Println("start:")
	if err := node.Start(ctx); err != nil { // a long-running program calls node.Run(ctx) instead of Start and Stop
		return err
	}
	if err := hot(ctx, node); err != nil {
		return errors.Join(err, node.Stop(ctx))
	}
	if err := versions(ctx, node); err != nil {
		return errors.Join(err, node.Stop(ctx))
	}
	fmt.Println("stop:") // waits for the calls in flight, for as long as the context allows
	return node.Stop(ctx)
}

// hot adds a group of services to the running node and removes it.
func hot(ctx context.Context, node *sabir.Node) error {
	office := sabir.NewModule("office", service("mail"), service("reports"))

	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ready := make(chan error, 1)
	go func() { ready <- node.WaitFor(wait, "mail", "reports") }()

	fmt.Println("add a group:")
	if err := node.Add(ctx, office); err != nil {
		return err
	}
	if err := <-ready; err != nil {
		return err
	}
	answer, err := sabir.Call[string](ctx, node, "mail.ping", struct{}{})
	if err != nil {
		return err
	}
	fmt.Println("  ", answer)

	fmt.Println("remove it:")
	if err := node.Remove(ctx, office); err != nil {
		return err
	}
	_, err = sabir.Call[string](ctx, node, "mail.ping", struct{}{})
	fmt.Println("   mail is gone:", errors.Is(err, sabir.ErrActionNotFound))
	return nil
}

// versions adds two versions of a service. Callers that name none get the highest, or the one marked sabir.Preferred().
func versions(ctx context.Context, node *sabir.Node) error {
	fmt.Println("two versions:")
	if err := node.Add(ctx, service("users", sabir.Version(1)), service("users", sabir.Version(2))); err != nil {
		return err
	}
	for _, name := range []string{"v1.users.ping", "v2.users.ping", "users.ping"} {
		answer, err := sabir.Call[string](ctx, node, name, struct{}{})
		if err != nil {
			return err
		}
		fmt.Println("  ", name, "reaches", answer)
	}
	return nil
}

// service makes a service with one action and with hooks that print what happens.
func service(name string, options ...sabir.ServiceOption) *sabir.Service {
	var s *sabir.Service
	options = append(options,
		sabir.OnStart(func(context.Context) error { // before the first call; an error stops the start
			fmt.Println("  ", s.Name(), "opens its database")
			return nil
		}),
		sabir.OnStop(func(context.Context) error { // after the last call
			fmt.Println("  ", s.Name(), "closes its database")
			return nil
		}))
	s = sabir.NewService(name, options...)
	sabir.Handle(s, "ping", func(context.Context, struct{}) (string, error) { return s.Name(), nil })
	return s
}
