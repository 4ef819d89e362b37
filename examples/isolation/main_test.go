package main

func Example() {
	main()
	// Output:
	// count:  true Panic: stock.count panicked
	// import: BadFile: the file cannot be read
	// import: Panic: stock.import panicked
	// import: 2 files; the node is running
}
