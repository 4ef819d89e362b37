package moleculer_test

import (
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/secret"
)

func ExampleBridge() {
	orders := sabir.NewService("orders")
	// doc: join
	node := sabir.NewNode(sabir.Serve(orders),
		sabir.Join("nats://10.0.0.9:4222", moleculer.Bridge(moleculer.Config{Namespace: "shop", Expose: []string{"orders.*"}})))
	// end
	_ = node
}

func ExampleAt() {
	orders := sabir.NewService("orders")
	// doc: at
	node := sabir.NewNode(sabir.Serve(orders), moleculer.Bridge(moleculer.Config{Address: "nats://10.0.0.9:4222", Expose: []string{"orders.*"}}))
	// end
	_ = node
}

func ExampleEncryption() {
	password, iv := "0123456789abcdef0123456789abcdef", "fedcba9876543210"
	options := []sabir.NodeOption{
		// doc: transmit
		moleculer.Bridge(moleculer.Config{Address: "nats://10.0.0.9:4222",
			Encryption: &moleculer.Encryption{Password: secret.New(password), IV: iv, First: true}, Compression: "deflate"}),
		// end
	}
	_ = options
}

func ExampleBridge_meeting() {
	options := []sabir.NodeOption{
		// doc: tcp
		moleculer.Bridge(moleculer.Config{Address: "tcp://10.0.0.4:4100", Open: true,
			Peers: []string{"tcp://10.0.0.5:4100/node-1"}, Expose: []string{"orders.*"}}),
		// end
	}
	_ = options
}
