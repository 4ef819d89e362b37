package main

func Example() {
	main()
	// Output:
	// emit order.placed:
	//   mail: thanks to ada@example.org for order 1
	//   audit: order.placed
	//   mail: thanks to ada@example.org for order 2
	//   audit: order.placed
	//   picker-a picked 1 and picker-b 1
	// broadcast cache.reset:
	//   picker-a: forgets its stock for a new day
	//   picker-b: forgets its stock for a new day
	// emit stock.counted:
	//   reports: 12 3
}
