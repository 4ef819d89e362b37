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

func ExampleEncryption() {
	password, iv := "0123456789abcdef0123456789abcdef", "fedcba9876543210"
	options := []sabir.NodeOption{
		// doc: transmit
		moleculer.Bridge(moleculer.At("nats://10.0.0.9:4222"),
			moleculer.Encryption(password, "aes-256-cbc", iv), moleculer.Compression("deflate")),
		// end
	}
	_ = options
}

func ExamplePeers() {
	options := []sabir.NodeOption{
		// doc: tcp
		moleculer.Bridge(moleculer.At("tcp://10.0.0.4:4100"), moleculer.Open(),
			moleculer.Peers("tcp://10.0.0.5:4100/node-1"), moleculer.Expose("orders.*")),
		// end
	}
	_ = options
}
