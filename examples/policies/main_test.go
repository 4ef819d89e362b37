package main

func Example() {
	main()
	// Output:
	//   signal: timeout of stock.count
	// stock.count: DeadlineExceeded
	//   signal: retry of stock.reserve
	//   signal: retry of stock.reserve
	// stock.reserve: 11 left
	//   signal: fallback of stock.guess
	// stock.guess: 10 left
	// stock.weigh: ScalesBroken
	//   signal: breaker.opened of stock.weigh
	// stock.weigh: ScalesBroken
	// stock.weigh: BreakerOpen
	// stock.search: 12 left
	// stock.search: 12 left
	//   signal: rate.limited of stock.search
	// stock.search: RateLimited
	//   signal: bulkhead.rejected of stock.pack
	// stock.pack: BulkheadFull
	// stock.pack: 9 left
	//   signal: cache.miss of stock.get
	// stock.get: 11 left
	//   signal: cache.hit of stock.get
	// stock.get: 11 left
	// stock.get: 10 left
	//   signal: cache.miss of stock.get
	// stock.get: 9 left
}
