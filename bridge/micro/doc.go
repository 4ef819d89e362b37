// Package micro makes a node a service of go-micro too, of versions 4 and 5: clients of go-micro call its actions by their generated
// code, and it calls services of go-micro by name, over its HTTP transport, which is its default, or its gRPC. Nobody on the other side changes a line:
//
//	sabir.NewNode(sabir.Serve(orders), micro.Bridge(micro.Config{MDNS: true, Open: true, Listen: "10.0.0.7:8080", Expose: []string{"orders.*"}}))
//
// The action "orders.get" is the endpoint Orders.Get of the service orders there. docs/bridges.md says what is carried, what is not, and how
// to move a service.
package micro
