// Hello is the smallest program: a service with one action, a node that serves it, and a call.
//
//	go run ./examples/hello
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/sabir-go/sabir"
)

type HelloRequest struct {
	Name string `json:"name"`
}

type HelloReply struct {
	Text string `json:"text"`
}

func hello(_ context.Context, in HelloRequest) (HelloReply, error) {
	return HelloReply{Text: "Hello, " + in.Name}, nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", hello)

	node := sabir.NewNode(sabir.Serve(greeter))
	if err := node.Start(ctx); err != nil { // a server would call node.Run, which waits for Ctrl-C
		return err
	}
	defer node.Stop(ctx)

	reply, err := sabir.Call[HelloReply](ctx, node, "greeter.hello", HelloRequest{Name: "Ada"})
	if err != nil {
		return err
	}
	fmt.Println(reply.Text)
	return nil
}
