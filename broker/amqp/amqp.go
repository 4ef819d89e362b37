// Package amqp is RabbitMQ as a broker of Sabir, by its protocol AMQP 0-9-1: for links and for channels. Import it for its addresses,
// which are the same for both:
//
//	import _ "github.com/sabir-go/sabir/broker/amqp"
//
//	amqp://user:password@host:5672/vhost   in the clear
//	amqps://user:password@host:5671/vhost  TLS 1.3
//
//	node := sabir.NewNode(sabir.Join("amqp://user:password@10.0.0.5/shop"), sabir.Serve(greeter))           // links
//	node := sabir.NewNode(channel.Broker("amqp://user:password@10.0.0.5/shop"), sabir.Serve(billing)) // channels
//
// docs/addresses.md has all parts of the address.
//
// # Links
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
//
// # Channels
//
// Channels are kept by RabbitMQ 3.10 or later. A channel is a fanout exchange, prefix:name, with a stream as its log, prefix:log:name, and a quorum queue for each
// group, prefix:group:name:group. A group that is new and does not start with what is new is filled from the log first;
// what is published meanwhile it may then get twice. A retry waits in a quorum queue with a time to live,
// prefix:wait:name:group:milliseconds, one for each power of two times 100 ms, so that it may come up to twice as late
// as asked for; after a restart of the server up to three minutes later, which its setting of the application rabbit
// dead_letter_worker_publisher_confirm_timeout (milliseconds) changes. A channel of dead letters has a quorum queue in place of the log, prefix:letters:name, and a group of it
// begins with what is new.
//
// What RabbitMQ does not do over this protocol: report the place of a message (no sequences, so a group cannot start at one),
// keep a message once that was published twice, limit a channel by number, list all channels. Limits of age and
// bytes apply to the log, by whole segments of 64 MB; groups' queues keep what they were given until it was handled. The
// limits of a log that exists can only be changed by a policy of the server.
//
// A consumer holds its messages for as long as its connection lasts: AckWait has no effect. A machine that is gone is
// noticed after two heartbeats of 10 seconds. The server ends the channel of a consumer that has not answered for 30
// minutes, which its setting consumer_timeout changes.
//
// A publisher is answered when the log and the queues of all groups have the message. Quorum queues have brought it to
// the disk by then; streams leave that to the kernel. So it survives a server that is killed; of a power cut what the
// groups have not handled survives, and with several servers, queues on a majority of them.
//
// While the server has an alarm, for its memory or its disk, it reads nothing of connections that publish. So the engine has two:
// one that publishes, whose users get ChannelFull at once, and one for all else, which goes on.
package amqp

import (
	_ "github.com/sabir-go/sabir/broker/amqp/internal/channels" // for channel.Broker
	_ "github.com/sabir-go/sabir/broker/amqp/internal/links"    // for sabir.Join
)
