// Package amqp is the transports amqp:// and amqps://, by RabbitMQ, whose protocol is AMQP 0-9-1. Importing it registers
// them:
//
//	amqp://user:password@host:5672/vhost   in the clear
//	amqps://user:password@host:5671/vhost  TLS 1.3
//
// A node joins by one of them, and docs/addresses.md has all parts of the address, which is the same for channels:
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("amqp://user:password@10.0.0.5/shop"))
//
// Subjects are routing keys of the exchange amq.direct, which every virtual host has. A subscription is a queue of its
// own, which RabbitMQ keeps in memory and removes with the connection: called by the subject and something random, it
// holds at most 64 MiB, beyond which the oldest messages are dropped. Messages are transient and not acknowledged. Probes
// are mandatory messages: RabbitMQ returns those that no queue is bound for. So the user needs the permission to configure,
// write and read the queues, and to write and read amq.direct.
//
// What is published and what is delivered go by two connections, since RabbitMQ stops reading from one that publishes more
// than it can take: Publish then waits. Either one's end is a loss of the broker.
//
// RabbitMQ closes a connection's channel when a message is too large for it (max_message_size, 128 MiB unless
// configured) or may not be published; that is a loss of the broker too, and Lost reports why. The client does not ask for
// less than a heartbeat a second, and cannot do without.
package amqp
