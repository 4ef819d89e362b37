package main

func Example() {
	main()
	// Output:
	// a call:
	//    node before orders.place
	//    service before orders.place
	//    action before orders.place
	//    handler: 1 pen
	//    action after orders.place
	//    service after orders.place
	//    node after orders.place
	//    orders.place was fast: true and succeeded: true
	// a call with a bad input, which the node's middlewares see and the others do not:
	//    node before orders.place
	//    node after orders.place
	//    orders.place was fast: true and succeeded: false
	//    ValidationFailed: the input of orders.place is not valid: item: item is a required field
	// an event:
	//    node sees stock.empty on its way to orders
	//    service sees stock.empty on its way to orders
	//    handler: ink is out
}
