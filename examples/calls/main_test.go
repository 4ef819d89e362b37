package main

func Example() {
	main()
	// Output:
	// call:      Ada
	// bind:      Grace
	// own types: ada@example.org
	// JSON:      {"id":7,"name":"Ada","email":"ada@example.org"}
	// all:       12 pens, 3 ink
	// timeout:   DeadlineExceeded: the deadline passed before stock.count answered
	// deadline:  true
}
