// Isolation shows that a failure reaches exactly the caller that asked for the work: a panic in a handler, and a panic or an
// error in a goroutine that a handler started, become that caller's error. The node and all other callers go on.
//
//	go run ./examples/isolation
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sabir-go/sabir"
)

type Import struct {
	Files []string `json:"files"`
}

type Report struct {
	Files int `json:"files"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	node := sabir.NewNode(sabir.Serve(stock()))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx)

	// A panic in the handler. Its value, with its stack, is in the node's log (here on stderr); callers get less.
	_, err := sabir.Call[Report](ctx, node, "stock.count", Import{})
	fmt.Println("count: ", errors.Is(err, sabir.ErrPanic), err)

	// A goroutine that fails, and one that panics.
	for _, file := range []string{"broken.csv", "cursed.csv"} {
		_, err = sabir.Call[Report](ctx, node, "stock.import", Import{[]string{"a.csv", file, "b.csv"}})
		fmt.Println("import:", err)
	}

	// All other callers are served as before.
	report, err := sabir.Call[Report](ctx, node, "stock.import", Import{[]string{"a.csv", "b.csv"}})
	if err != nil {
		return err
	}
	fmt.Println("import:", report.Files, "files; the node is", node.State())
	return nil
}

func stock() *sabir.Service {
	s := sabir.NewService("stock")
	sabir.Handle(s, "count", func(_ context.Context, in Import) (Report, error) {
		fmt.Println("count:  begins with", in.Files[0]) // panics when there is none
		return Report{len(in.Files)}, nil
	})
	// The answer is given when all goroutines have ended; when one fails, the contexts of the others end.
	sabir.Handle(s, "import", func(ctx context.Context, in Import) (Report, error) {
		for _, file := range in.Files {
			sabir.Go(ctx, func(ctx context.Context) error { return load(ctx, file) })
		}
		return Report{len(in.Files)}, nil
	})
	return s
}

var ErrBadFile = sabir.NewError(sabir.CodeInvalidArgument, "BadFile", "the file cannot be read")

func load(_ context.Context, file string) error {
	switch file {
	case "broken.csv":
		return ErrBadFile.WithData(file)
	case "cursed.csv":
		panic("no such shelf: secret cupboard")
	}
	return nil
}
