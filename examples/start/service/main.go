// Service is the program of docs/start/2-first-service.md: a contract, a service that handles it, and a call.
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

// Hello is the contract: the action's name and types, for the service and for its callers.
var Hello = sabir.NewAction[HelloRequest, HelloReply]("greeter.hello")

func hello(ctx context.Context, in HelloRequest) (HelloReply, error) {
	return HelloReply{Text: "Hello, " + in.Name}, nil
}

func main() {
	ctx := context.Background()

	greeter := sabir.NewService("greeter")
	Hello.Handle(greeter, hello)

	node := sabir.NewNode(sabir.Serve(greeter))
	if err := node.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer node.Stop(ctx)

	reply, err := Hello.Call(ctx, node, HelloRequest{Name: "Ada"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Text)
}
