// Program bridges is one side of calls between Sabir and a node of another framework, which the other side is: a Moleculer node at NATS, or Java's Dubbo.
// The order's Row is the framework and its Role the side. The lab starts it; packages seeds/moleculer and seeds/hsf have the tables.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/lab/child"
)

func main() { child.Main(start) }

// findTimeout is for the other side's service to be known.
const findTimeout = 15 * time.Second

// sides make a node for an order. A server's caller is nil; a client's makes the calls of one caller.
var sides = map[string]func(o child.Order) (node *sabir.Node, caller func(i int) func() error, err error){
	"moleculer": moleculerSide,
	"dubbo":     dubboSide,
}

func start(o child.Order) (child.Job, error) {
	side, known := sides[o.Row]
	if !known {
		return child.Job{}, fmt.Errorf("there is no bridge to %q", o.Row)
	}
	node, caller, err := side(o)
	if err != nil {
		return child.Job{}, err
	}
	if err := node.Start(context.Background()); err != nil {
		return child.Job{}, err
	}
	job := child.Job{Stop: func() { node.Stop(context.Background()) }}
	if caller == nil {
		return job, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), findTimeout)
	defer cancel()
	if err := node.WaitFor(ctx, called[o.Row]); err != nil {
		job.Stop()
		return child.Job{}, err
	}
	job.Measure = func(d time.Duration) (child.Sample, error) { return child.Closed(d, o.Callers, caller) }
	return job, nil
}

// called are the services of the other side.
var called = map[string]string{"moleculer": "echo", "dubbo": "benchmark"}

var quiet = sabir.Logger(slog.New(slog.DiscardHandler))
