// Errors shows errors that callers can act on: your own kinds with a name and data, which match by errors.Is wherever the
// handler ran, what becomes of an ordinary Go error, and which errors are worth another try.
//
//	go run ./examples/errors
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"sync/atomic"

	"github.com/sabir-go/sabir"
)

// A service's errors are variables that its callers import, or make again with the same code and name.
var (
	ErrOutOfStock = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "there is not enough in stock")
	ErrClosed     = sabir.NewError(sabir.CodeUnavailable, "WarehouseClosed", "the warehouse is closed for a moment").AsRetryable()
)

// Shortage is the data of ErrOutOfStock.
type Shortage struct {
	Item string `json:"item"`
	Left int    `json:"left"`
}

type Order struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

type Receipt struct {
	Number int `json:"number"`
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

	// An own error: asked for with errors.Is, its data read into a type.
	_, err := sabir.Call[Receipt](ctx, node, "orders.place", Order{"pen", 20})
	if errors.Is(err, ErrOutOfStock) {
		short, err := sabir.DataAs[Shortage](sabir.AsError(err))
		if err != nil {
			return err
		}
		fmt.Println("out of stock:", short.Left, short.Item, "left")
	}

	// Any other Go error stays what it is for callers in the same process; over HTTP they get no details.
	_, err = sabir.Call[Receipt](ctx, node, "orders.print", Order{})
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		e := sabir.AsError(err)
		fmt.Println("plain error: ", e.Code, e.Name, path.Path)
	}

	// The runtime's own errors are variables of package sabir.
	_, err = sabir.Call[Receipt](ctx, node, "orders.plaice", Order{"pen", 1})
	fmt.Println("not found:   ", errors.Is(err, sabir.ErrActionNotFound))
	fmt.Println(err)

	// Retryable means that the handler did nothing yet and another try may help. policy.Retry does this for you.
	for attempt := 1; ; attempt++ {
		receipt, err := sabir.Call[Receipt](ctx, node, "orders.place", Order{"ink", 1})
		if err == nil {
			fmt.Println("attempt", attempt, "gave receipt", receipt.Number)
			return nil
		}
		if !sabir.AsError(err).Retryable || attempt == 3 {
			return err
		}
		fmt.Println("attempt", attempt, "failed:", err)
	}
}

func orders() *sabir.Service {
	var open atomic.Bool // a handler is called by many goroutines at once
	s := sabir.NewService("orders")
	sabir.Handle(s, "place", func(_ context.Context, in Order) (Receipt, error) {
		if in.Item == "pen" && in.Count > 12 {
			return Receipt{}, ErrOutOfStock.WithData(Shortage{in.Item, 12})
		}
		if open.CompareAndSwap(false, true) { // the first time
			return Receipt{}, ErrClosed
		}
		return Receipt{Number: 1}, nil
	})
	sabir.Handle(s, "print", func(context.Context, Order) (Receipt, error) {
		_, err := os.ReadFile("no/such/template")
		return Receipt{}, fmt.Errorf("printing the order: %w", err)
	})
	return s
}
