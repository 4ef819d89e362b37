package main

import (
	"context"

	_ "github.com/sabir-go/sabir/transport/mem"
)

func Example() {
	if err := run(context.Background(), "mem://example"); err != nil {
		panic(err)
	}
	// Output:
	// answered by [first second]
	// asked for: second
	// ValidationFailed: the input of greeter.hello is not valid: name: name is a required field
	// news of Ada
}

// Another URL is all it takes.
func Example_nats() {
	if err := run(context.Background(), "nats://embedded:27842"); err != nil {
		panic(err)
	}
	// Output:
	// answered by [first second]
	// asked for: second
	// ValidationFailed: the input of greeter.hello is not valid: name: name is a required field
	// news of Ada
}
