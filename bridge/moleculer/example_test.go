package moleculer_test

import (
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
)

func ExampleBridge() {
	orders := sabir.NewService("orders")
	// doc: join
	node := sabir.NewNode(sabir.Serve(orders),
		sabir.Join("nats://10.0.0.9:4222", moleculer.Bridge(moleculer.Namespace("shop"), moleculer.Expose("orders.*"))))
	// end
	_ = node
}

func ExampleAt() {
	orders := sabir.NewService("orders")
	// doc: at
	node := sabir.NewNode(sabir.Serve(orders), moleculer.Bridge(moleculer.At("nats://10.0.0.9:4222"), moleculer.Expose("orders.*")))
	// end
	_ = node
}
