// Web is the program of README.md and of docs/start/3-over-http.md: a service that answers HTTP.
package main

import (
	"context"
	"log"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/web" // serves sabir.HTTP
)

type HelloRequest struct {
	Name string `json:"name" validate:"required,max=64"`
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
	greeter := sabir.NewService("greeter")
	Hello.Handle(greeter, hello)

	node := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":3000"))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
