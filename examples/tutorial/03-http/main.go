// The shop over HTTP, with a page of documents.
//
//	go run ./examples/tutorial/03-http
package main

import (
	"context"
	"log"

	"github.com/sabir-go/sabir"
	users "github.com/sabir-go/sabir/examples/tutorial/01-users"
	orders "github.com/sabir-go/sabir/examples/tutorial/02-orders"
	"github.com/sabir-go/sabir/gen/openapi"
)

func newNode(address string) *sabir.Node {
	return sabir.NewNode(
		sabir.Serve(users.New(), orders.New()),
		sabir.HTTP(address, openapi.At("/docs")))
}

func main() {
	if err := newNode(":3000").Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
