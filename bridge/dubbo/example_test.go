package dubbo_test

import (
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/bridge/dubbo/zookeeper"
	"github.com/sabir-go/sabir/transport/tcp"
	"github.com/sabir-go/sabir/web/filter"
)

func ExampleBridge() {
	orders := sabir.NewService("orders")
	// doc: serve
	node := sabir.NewNode(sabir.Serve(orders), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{
		"dubbo://:20880": {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0", Group: "eu"}},
	}}))
	// end
	_ = node
}

func ExampleBridge_reference() {
	// doc: reference
	node := sabir.NewNode(dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{
		"dubbo://10.0.0.9:20880": {{Name: "com.shop.StockService", Service: "stock", Version: "1.0.0", Methods: []dubbo.Method{
			{Name: "reserve", Parameters: []string{"java.lang.String", "int"}},
			{Name: "find"}, // a generic call: the provider looks up its parameters
		}}},
	}}))
	type reservation struct {
		Article string
		Amount  int32
	}
	reserve := sabir.Bind[reservation, bool](node, "stock.reserve")
	// end
	_ = reserve
}

func ExampleInterface() {
	// doc: overloads
	table := dubbo.Interface{Name: "com.shop.OrderService", Service: "orders",
		Methods: []dubbo.Method{
			{Name: "place"},
			{Name: "get", Action: "getByNumber", Parameters: []string{"long"}},
			{Name: "get", Action: "getByText", Parameters: []string{"java.lang.String"}},
		},
		Throws: map[string]string{"OutOfStock": "com.shop.OutOfStockException"},
	}
	// end
	_ = table
}

func ExampleMethod() {
	// doc: streams
	references := map[string][]dubbo.Interface{"tri://10.0.0.9:50051": {{Name: "com.shop.TradeService", Service: "trades", Methods: []dubbo.Method{
		{Name: "watch", ServerStream: true, Parameters: []string{"java.lang.String"}},
		{Name: "trade", Stream: true}, // StreamObserver<String> trade(StreamObserver<Order>)
	}}}}
	// end
	_ = dubbo.Config{References: references}
}

func ExampleBridge_both() {
	// doc: both
	orders := []dubbo.Interface{{Name: "com.shop.OrderService", Service: "orders"}}
	serve := map[string][]dubbo.Interface{"dubbo://:20880": orders, "tri://:20880": orders}
	// end
	_ = dubbo.Config{Serve: serve}
}

func ExampleBridge_pages() {
	// doc: cors
	bridge := dubbo.Bridge(dubbo.Config{
		CORS:  &filter.CORS{Origins: []string{"https://shop.example.com"}, Headers: []string{"user"}},
		Serve: map[string][]dubbo.Interface{"tri://:50051": {{Name: "com.shop.OrderService", Service: "orders", Protobuf: true}}},
	})
	// end
	_ = bridge
}

func ExampleBridge_encrypted() {
	orders := sabir.NewService("orders")
	// doc: tls
	certificates, err := tcp.Certificates("shop.pem", "shop-key.pem", "authority.pem") // of both sides, read anew when they change
	node := sabir.NewNode(sabir.Serve(orders), dubbo.Bridge(dubbo.Config{TLS: certificates, Serve: map[string][]dubbo.Interface{
		"tri://0.0.0.0:50051": {{Name: "com.shop.OrderService", Service: "orders"}},
	}}))
	// end
	_, _ = node, err
}

func ExampleBridge_registry() {
	orders := sabir.NewService("orders")
	// doc: registry
	node := sabir.NewNode(sabir.Serve(orders), dubbo.Bridge(dubbo.Config{
		Registries: []dubbo.Registry{&zookeeper.Registry{Servers: []string{"10.0.0.9:2181"}}}, Application: "shop", Open: true,
		Serve: map[string][]dubbo.Interface{"dubbo://0.0.0.0:20880": {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}},
		Discover: []dubbo.Interface{{Name: "com.shop.StockService", Service: "stock", Version: "1.0.0", Methods: []dubbo.Method{
			{Name: "reserve", Parameters: []string{"java.lang.String", "int"}},
		}}},
	}))
	// end
	_ = node
}
