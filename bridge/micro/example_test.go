package micro_test

import (
	"context"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/bridge/micro/etcd"
	"github.com/sabir-go/sabir/bridge/micro/nats"
)

func ExampleBridge() {
	orders := sabir.NewService("orders")
	// doc: bridge
	node := sabir.NewNode(sabir.Serve(orders),
		micro.Bridge(micro.MDNS(), micro.Open(), micro.Listen("10.0.0.7:8080"), micro.Expose("orders.*")))
	// end
	_ = node
}

func ExampleWithRegistry() {
	orders := sabir.NewService("orders")
	// doc: registry
	node := sabir.NewNode(sabir.Serve(orders), micro.Bridge(
		micro.WithRegistry(&etcd.Registry{URLs: []string{"http://10.0.0.9:2379"}}),
		micro.Open(), micro.Listen("10.0.0.7:8080"), micro.Expose("orders.*")))
	// end
	_ = node
}

func ExampleWithBroker() {
	orders := sabir.NewService("orders")
	// doc: events
	node := sabir.NewNode(sabir.Serve(orders), micro.Bridge(
		micro.WithBroker(&nats.Broker{Address: "nats://10.0.0.9:4222"}), micro.Expose("orders.*"), micro.Publish("orders.*")))
	// end
	_ = node
}

func ExampleStatic() {
	// doc: static
	node := sabir.NewNode(micro.Bridge(micro.Static("greeter", []string{"10.0.0.5:9090", "10.0.0.6:9090"}, "Greeter.Hello")))
	// end
	_ = node
}

func ExampleEndpoint() {
	greeter := sabir.NewService("greeter")
	// doc: endpoint
	node := sabir.NewNode(sabir.Serve(greeter),
		micro.Bridge(micro.Listen(":8080"), micro.Endpoint("go.micro.srv.greeter", "Say.Hello", "greeter.hello")))
	// end
	_ = node
}

type HelloRequest struct {
	Name string `json:"name" validate:"required"`
}

type HelloReply struct {
	Text string `json:"text"`
}

// doc: moved
var Hello = sabir.NewAction[HelloRequest, HelloReply]("greeter.hello")

func hello(_ context.Context, in HelloRequest) (HelloReply, error) {
	return HelloReply{Text: "Hello, " + in.Name}, nil
}

// end

func ExampleBridge_moved() {
	// doc: moved-node
	greeter := sabir.NewService("greeter")
	Hello.Handle(greeter, hello)

	node := sabir.NewNode(sabir.Serve(greeter),
		micro.Bridge(micro.MDNS(), micro.Open(), micro.Listen("10.0.0.7:8080"), micro.Expose("greeter.*")))
	// end
	_ = node
}
