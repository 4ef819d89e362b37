package main

import (
	"context"
	"log"
)

func Example() {
	if err := run(context.Background(), "mem://"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// order 1 is billed, attempt 2
	// dead letter: order 2 costs less than nothing
	// order 2 is billed, attempt 1
}
