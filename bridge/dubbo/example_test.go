package dubbo_test

import (
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
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
