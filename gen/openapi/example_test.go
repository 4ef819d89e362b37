package openapi_test

import (
	"context"
	"log"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gen/openapi"
)

// The documentation of a node, at http://localhost:3000/docs.
func ExampleAt() {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", func(_ context.Context, name string) (string, error) { return "Hello, " + name, nil },
		sabir.Example("Ada", "Hello, Ada"))
	node := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":3000", openapi.At("/docs")))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
