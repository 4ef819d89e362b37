// Cluster is one program that runs alone or as any number of nodes: start it several times, and the instances find each
// other by the one address. Each serves the same greeter, so calls are shared out among them; stop one, by Ctrl-C or by
// kill -9, and the others go on.
//
//	go run ./examples/cluster            # in several terminals
//	go run ./cmd/sabir nodes --join tcp://127.0.0.1:7700
//	go run ./cmd/sabir call greeter.hello name=Ada --join tcp://127.0.0.1:7700
//
// The same over NATS, with a server inside each process or one of your own; whatever transport is imported will do:
//
//	go run ./examples/cluster -address nats://embedded
//	go run ./examples/cluster -address nats://127.0.0.1:4222
//
// With -once it starts three nodes in one process, calls, sends an event to all, and ends.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"slices"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/transport/tcp" // tcp://
)

type HelloRequest struct {
	Name string `json:"name" validate:"required,max=64"`
}

type HelloReply struct {
	Text string `json:"text"`
	Node string `json:"node"`
}

func main() {
	once := flag.Bool("once", false, "start three nodes in this process, show what they do, and end")
	address := flag.String("address", "tcp://:7700", "where the nodes meet")
	flag.Parse()
	if *once {
		if err := run(context.Background(), *address); err != nil {
			log.Fatal(err)
		}
		return
	}
	node := sabir.NewNode(sabir.Serve(greeter()), sabir.Join(*address))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// greeter is the same on every node.
func greeter() *sabir.Service {
	s := sabir.NewService("greeter")
	sabir.Handle(s, "hello", func(ctx context.Context, in HelloRequest) (HelloReply, error) {
		return HelloReply{Text: "Hello, " + in.Name, Node: sabir.NodeFromContext(ctx).ID()}, nil
	}, sabir.Idempotent())
	return s
}

func run(ctx context.Context, address string) error {
	for _, id := range []string{"first", "second"} {
		node := sabir.NewNode(sabir.NodeID(id), sabir.Serve(greeter()), sabir.Join(address))
		if err := node.Start(ctx); err != nil {
			return err
		}
		defer node.Stop(ctx)
	}

	// The third serves something else, and calls the greeter by the same line as if it were here.
	news := sabir.NewService("news")
	sabir.On(news, "user.*", func(_ context.Context, name string) error {
		fmt.Println("news of", name)
		return nil
	})
	third := sabir.NewNode(sabir.NodeID("third"), sabir.Serve(news), sabir.Join(address))
	if err := third.Start(ctx); err != nil {
		return err
	}
	defer third.Stop(ctx)

	hello := sabir.Bind[HelloRequest, HelloReply](third, "greeter.hello")
	nodes := make(map[string]bool)
	for len(nodes) < 2 { // they take turns, as soon as both are known here
		reply, err := hello(ctx, HelloRequest{Name: "Ada"}, sabir.WithTimeout(time.Second))
		if err != nil {
			return err
		}
		nodes[reply.Node] = true
	}
	fmt.Println("answered by", slices.Sorted(maps.Keys(nodes)))

	reply, err := hello(ctx, HelloRequest{Name: "Ada"}, sabir.ToNode("second"))
	if err != nil {
		return err
	}
	fmt.Println("asked for:", reply.Node)

	// An error of another node is the same error here.
	if _, err := hello(ctx, HelloRequest{}); err != nil {
		fmt.Println(err)
	}
	return sabir.Emit(ctx, third, "user.created", "Ada")
}
