package main

func Example() {
	main()
	// Output:
	// level=INFO msg="order placed" item=pen node=shop-1 service=orders action=orders.place trace_id=… span_id=…
	// level=INFO msg="order placed" item=pen node=shop-1 service=orders action=orders.place trace_id=… span_id=…
	// span: stock.take nested: true
	// span: orders.place nested: false
	// span: stock.take nested: true
	// span: orders.place nested: false
	// metric: sabir_server_calls_total{rpc_method="orders.place",rpc_system_name="sabir",sabir_service="orders"} 2
	// metric: sabir_server_calls_total{rpc_method="stock.take",rpc_system_name="sabir",sabir_service="stock"} 2
}
