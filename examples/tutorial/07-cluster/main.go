// The shop as any number of nodes. Each serves what its flag names, and calls the rest on other nodes.
//
//	go run ./examples/tutorial/07-cluster -serve users,orders -http :3000
//	go run ./examples/tutorial/07-cluster -serve users,orders -http :3001
package main

import (
	"context"
	"flag"
	"log"
	"strings"

	"github.com/sabir-go/sabir"
	users "github.com/sabir-go/sabir/examples/tutorial/01-users"
	orders "github.com/sabir-go/sabir/examples/tutorial/02-orders"
	"github.com/sabir-go/sabir/policy"
	_ "github.com/sabir-go/sabir/transport/tcp"
	_ "github.com/sabir-go/sabir/web"
)

// doc: node
var services = map[string]func() *sabir.Service{"users": users.New, "orders": orders.New}

func newNode(serve []string, address string, options ...sabir.NodeOption) *sabir.Node {
	options = append(options, sabir.Join(address), sabir.Use(policy.Retry{}))
	for _, name := range serve {
		options = append(options, sabir.Serve(services[name]()))
	}
	return sabir.NewNode(options...)
}

// end

func main() {
	serve := flag.String("serve", "users,orders", "the services of this node")
	http := flag.String("http", ":3000", "where it answers HTTP")
	address := flag.String("join", "tcp://:7700", "where the nodes meet")
	flag.Parse()
	node := newNode(strings.Split(*serve, ","), *address, sabir.HTTP(*http))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
