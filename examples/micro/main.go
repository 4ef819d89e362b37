// Micro is a service of Go beside one of go-micro, each of which calls the other by name; they find each other by mDNS. The client of
// go-micro orders from the shop here, and the shop has the greeter there greet. The shop emits an event for each order, which go-micro's
// subscriber gets.
//
//	go run ./examples/micro                   # in one terminal
//	go run -C examples/micro/gomicro .        # in another: go-micro 5, a module of its own
package main

import (
	"context"
	"flag"
	"log"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
)

type Order struct {
	Item string `json:"item" validate:"required"`
	Name string `json:"name" validate:"required"`
}

// Placed is the event of an order.
type Placed struct {
	Item string `json:"item"`
}

type Confirmation struct {
	Text string `json:"text"`
}

// HelloRequest and HelloReply have the form of go-micro's messages.
type HelloRequest struct {
	Name string `json:"name"`
}

type HelloReply struct {
	Text string `json:"text"`
}

func main() {
	name := flag.String("shop", "shop", "the name of this service")
	greeter := flag.String("greeter", "greeting", "the name of the service of go-micro")
	listen := flag.String("listen", ":0", "where clients of go-micro on this machine reach the shop")
	flag.Parse()
	node := sabir.NewNode(sabir.Serve(shop(*name, *greeter)), micro.Bridge(micro.Config{MDNS: true, Listen: *listen, Expose: []string{*name + ".*"}, Publish: []string{*name + ".placed"}}))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func shop(name, greeter string) *sabir.Service {
	s := sabir.NewService(name)
	sabir.Handle(s, "place", func(ctx context.Context, in Order) (Confirmation, error) {
		hello, err := sabir.Call[HelloReply](ctx, s, greeter+".greeter.hello", HelloRequest{Name: in.Name})
		if err != nil {
			return Confirmation{}, err
		}
		if err := sabir.Emit(context.WithoutCancel(ctx), s, name+".placed", Placed{in.Item}); err != nil { // the order stands
			sabir.NodeFromContext(ctx).Log().WarnContext(ctx, "an order was not announced", "error", err)
		}
		return Confirmation{Text: hello.Text + "! Your order: " + in.Item + "."}, nil
	})
	return s
}
