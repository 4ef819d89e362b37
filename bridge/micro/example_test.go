package micro_test

import (
	"context"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/bridge/micro/nats"
)

func ExampleBridge() {
	orders := sabir.NewService("orders")
	// doc: bridge
	node := sabir.NewNode(sabir.Serve(orders),
		micro.Bridge(micro.Config{MDNS: true, Open: true, Listen: "10.0.0.7:8080", Expose: []string{"orders.*"}}))
	// end
	_ = node
}

func ExampleBridge_registry() {
	orders := sabir.NewService("orders")
	// doc: registry
	node := sabir.NewNode(sabir.Serve(orders), micro.Bridge(micro.Config{
		Registries: []micro.Registry{&micro.Etcd{URLs: []string{"http://10.0.0.9:2379"}}},
		Open:       true, Listen: "10.0.0.7:8080", Expose: []string{"orders.*"}}))
	// end
	_ = node
}

func ExampleBridge_broker() {
	orders := sabir.NewService("orders")
	// doc: events
	node := sabir.NewNode(sabir.Serve(orders), micro.Bridge(micro.Config{
		Broker: &nats.Broker{Address: "nats://10.0.0.9:4222"}, Expose: []string{"orders.*"}, Publish: []string{"orders.*"}}))
	// end
	_ = node
}

func ExampleBridge_addresses() {
	// doc: static
	node := sabir.NewNode(micro.Bridge(micro.Config{Services: map[string]micro.Service{
		"greeter": {Addresses: []string{"10.0.0.5:9090", "10.0.0.6:9090"}, Endpoints: []string{"Greeter.Hello"}}}}))
	// end
	_ = node
}

func ExampleEndpoint() {
	greeter := sabir.NewService("greeter")
	// doc: endpoint
	node := sabir.NewNode(sabir.Serve(greeter), micro.Bridge(micro.Config{
		Listen: ":8080", Endpoints: []micro.Endpoint{{Service: "go.micro.srv.greeter", Name: "Say.Hello", Action: "greeter.hello"}}}))
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
		micro.Bridge(micro.Config{MDNS: true, Open: true, Listen: "10.0.0.7:8080", Expose: []string{"greeter.*"}}))
	// end
	_ = node
}
