package main

func Example() {
	main()
	// Output:
	// tool orders_cancel cancels an order, only reads: false
	// tool orders_get finds an order, only reads: true
	// orders_get: error false: {"id":"o-1","state":"on its way"}
	// orders_get: error true: the input of orders.get is not valid: id: id must start with 'o-'
	// orders_cancel: error true: the order is on its way and cannot be cancelled
	// resource orders://o-2 {"id":"o-2","state":"on its way"}
}
