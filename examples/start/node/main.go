// Node is the program of docs/start/4-second-node.md: it runs as any number of nodes of one cluster.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/transport/tcp" // carries tcp://
	_ "github.com/sabir-go/sabir/web"           // serves sabir.HTTP
)

type HelloRequest struct {
	Name string `json:"name" validate:"required,max=64"`
}

type HelloReply struct {
	Text string `json:"text"`
	Node string `json:"node"`
}

// Hello may be tried again on another node when the first one fails: answering twice does no harm.
var Hello = sabir.NewAction[HelloRequest, HelloReply]("greeter.hello", sabir.Idempotent())

func hello(ctx context.Context, in HelloRequest) (HelloReply, error) {
	return HelloReply{Text: "Hello, " + in.Name, Node: sabir.NodeFromContext(ctx).ID()}, nil
}

func main() {
	id := flag.String("id", "one", "the name of this node")
	address := flag.String("http", ":3000", "where it answers HTTP")
	cluster := flag.String("join", "tcp://:7700", "where the nodes meet")
	flag.Parse()

	greeter := sabir.NewService("greeter")
	Hello.Handle(greeter, hello)

	node := sabir.NewNode(
		sabir.NodeID(*id),
		sabir.Serve(greeter),
		sabir.HTTP(*address),
		sabir.Join(*cluster))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
