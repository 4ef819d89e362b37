package main

func Example() {
	main()
	// Output:
	// warehouse takes 5 pen for acme
	// left: 7
	// warehouse takes 50 pen for acme
	// out of stock: true at warehouse
	// invalid: true at warehouse
}
