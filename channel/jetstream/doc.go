// Package jetstream keeps channels in NATS JetStream.
//
// Importing it registers the engine of nats://, for servers elsewhere, or one inside the process, which the processes of a
// machine that name the same folder share:
//
//	node := sabir.NewNode(channel.Broker("nats://embedded?store=/var/lib/shop"), sabir.Serve(billing))
//
// docs/addresses.md has all parts of the address, which is the same for links and grains. Without replicas=n one server of a cluster
// keeps a channel that is new, and one that is there stays as it is.
//
// A channel is a stream of file storage with one subject, prefix.channel.name. A group is a durable pull consumer with
// explicit acknowledgements; how many attempts of a message have failed is kept in a second stream, which is made with the
// first that has. What was published in the last two minutes with the same ID is kept once.
//
// JetStream answers a publisher when its kernel has the message. That survives a server that is killed. Power cuts are
// survived with several replicas, or with "sync_interval: always" in the server's jetstream block (sync=true of an
// embedded one), which brings each message to the disk first and costs most of the speed of a single publisher.
package jetstream
