package dubbo_test

import (
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/bridge/dubbo/zookeeper"
	"github.com/sabir-go/sabir/transport/tcp"
	"github.com/sabir-go/sabir/web/filter"
)

func ExampleServe() {
	orders := sabir.NewService("orders")
	// doc: serve
	node := sabir.NewNode(sabir.Serve(orders), dubbo.Bridge(
		dubbo.Serve("dubbo://:20880", dubbo.Interface("com.shop.OrderService", "orders", dubbo.Version("1.0.0"), dubbo.Group("eu")))))
	// end
	_ = node
}

func ExampleReference() {
	// doc: reference
	node := sabir.NewNode(dubbo.Bridge(
		dubbo.Reference("dubbo://10.0.0.9:20880", dubbo.Interface("com.shop.StockService", "stock", dubbo.Version("1.0.0"),
			dubbo.Method("reserve", dubbo.Parameters("java.lang.String", "int")),
			dubbo.Method("find"))))) // a generic call: the provider looks up its parameters
	type reservation struct {
		Article string
		Amount  int32
	}
	reserve := sabir.Bind[reservation, bool](node, "stock.reserve")
	// end
	_ = reserve
}

func ExampleMethod() {
	// doc: overloads
	dubbo.Interface("com.shop.OrderService", "orders",
		dubbo.Method("place"),
		dubbo.Method("get", dubbo.Action("getByNumber"), dubbo.Parameters("long")),
		dubbo.Method("get", dubbo.Action("getByText"), dubbo.Parameters("java.lang.String")),
		dubbo.Throws("OutOfStock", "com.shop.OutOfStockException"))
	// end
}

func ExampleStream() {
	dubbo.Bridge(
		// doc: streams
		dubbo.Reference("tri://10.0.0.9:50051", dubbo.Interface("com.shop.TradeService", "trades",
			dubbo.Method("watch", dubbo.ServerStream(), dubbo.Parameters("java.lang.String")), // void watch(String, StreamObserver<Order>)
			dubbo.Method("trade", dubbo.Stream()))))                                           // StreamObserver<String> trade(StreamObserver<Order>)
	// end
}

func ExampleServe_both() {
	dubbo.Bridge(
		// doc: both
		dubbo.Serve("dubbo://:20880", dubbo.Interface("com.shop.OrderService", "orders")),
		dubbo.Serve("tri://:20880", dubbo.Interface("com.shop.OrderService", "orders")))
	// end
}

func ExampleCORS() {
	dubbo.Bridge(
		// doc: cors
		dubbo.CORS(filter.CORS{Origins: []string{"https://shop.example.com"}, Headers: []string{"user"}}),
		dubbo.Serve("tri://:50051", dubbo.Interface("com.shop.OrderService", "orders", dubbo.Protobuf())))
	// end
}

func ExampleTLS() {
	orders := sabir.NewService("orders")
	// doc: tls
	certificates, err := tcp.Certificates("shop.pem", "shop-key.pem", "authority.pem") // of both sides, read anew when they change
	node := sabir.NewNode(sabir.Serve(orders), dubbo.Bridge(dubbo.TLS(certificates),
		dubbo.Serve("tri://0.0.0.0:50051", dubbo.Interface("com.shop.OrderService", "orders"))))
	// end
	_, _ = node, err
}

func ExampleAt() {
	orders := sabir.NewService("orders")
	// doc: registry
	node := sabir.NewNode(sabir.Serve(orders), dubbo.Bridge(
		dubbo.At(&zookeeper.Registry{Servers: []string{"10.0.0.9:2181"}}),
		dubbo.Application("shop"), dubbo.Open(),
		dubbo.Serve("dubbo://0.0.0.0:20880", dubbo.Interface("com.shop.OrderService", "orders", dubbo.Version("1.0.0"))),
		dubbo.Discover(dubbo.Interface("com.shop.StockService", "stock", dubbo.Version("1.0.0"),
			dubbo.Method("reserve", dubbo.Parameters("java.lang.String", "int"))))))
	// end
	_ = node
}
