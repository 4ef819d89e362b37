// Package moleculer makes a node a Moleculer node too: the nodes of a Moleculer project see it as one of theirs, call its actions and send
// it events, and it calls theirs, over the broker that they use. Nobody on the other side changes a line. One option does it, beside the
// cluster of Sabir's own nodes at the same broker, or of a node alone:
//
//	sabir.NewNode(sabir.Serve(orders), sabir.Join("nats://10.0.0.9:4222", moleculer.Bridge(moleculer.Config{Namespace: "shop", Expose: []string{"orders.*"}})))
//	sabir.NewNode(sabir.Serve(orders), moleculer.Bridge(moleculer.Config{Address: "nats://10.0.0.9:4222", Expose: []string{"orders.*"}}))
//
// The program imports the transport of the broker, such as _ "github.com/sabir-go/sabir/broker/nats".
//
// It speaks the protocol versions 5 (Moleculer 0.15) and 4 (0.14) at once. docs/bridges.md says what is carried, what is not,
// and how to move a service.
package moleculer
