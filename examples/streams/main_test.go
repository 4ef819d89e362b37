package main

func Example() {
	main()
	// Output:
	// list: order 1
	// list: order 2
	// list: order 3
	// import: 40 orders, 10000 cents
	// running: sum 100
	// running: sum 350
	// running: ValidationFailed: the input of orders.running is not valid: cents: cents must be 0 or greater
}
