package main

func Example() {
	main()
	// Output:
	// action orders.place
	//   node shop-1, level 1, caller ""
	//   request request-42 metadata map[tenant:acme]
	// action stock.take
	//   node shop-1, level 2, caller "orders.place"
	//   request request-42 metadata map[reason:new order tenant:acme]
	// event order.placed in stock
	//   node shop-1, level 2, caller "orders.place"
	//   request request-42 metadata map[reason:new order tenant:acme]
}
