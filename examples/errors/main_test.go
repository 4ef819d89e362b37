package main

func Example() {
	main()
	// Output:
	// out of stock: 12 pen left
	// plain error:  Unknown HandlerFailed no/such/template
	// not found:    true
	// ActionNotFound: no action is called orders.plaice; did you mean orders.place?
	// attempt 1 failed: WarehouseClosed: the warehouse is closed for a moment
	// attempt 2 gave receipt 1
}
