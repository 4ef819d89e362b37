package micro_test

import (
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
)

func ExampleBridge() {
	orders := sabir.NewService("orders")
	// doc: bridge
	node := sabir.NewNode(sabir.Serve(orders),
		micro.Bridge(micro.MDNS(), micro.Open(), micro.Listen("10.0.0.7:8080"), micro.Expose("orders.*")))
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
