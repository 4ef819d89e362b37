// Package jetstream keeps channels in NATS JetStream.
//
// It registers itself as the engine of nats:// with the addresses that package transport/nats knows: servers elsewhere, or
// nats://embedded?store=folder for one inside the process, which the processes of a machine that name the same folder
// share. Of the address it takes two parameters more: prefix, of the names it gives streams and subjects ("sabir" without
// it), and replicas, on how many servers of a cluster each message is kept (1 without it).
//
// A channel is a stream of file storage with one subject, prefix.channel.name. A group is a durable pull consumer with
// explicit acknowledgements. What was published in the last two minutes with the same ID is kept once.
//
// JetStream answers a publisher when its kernel has the message. That survives a server that is killed. Power cuts are
// survived with several replicas, or with "sync_interval: always" in the server's jetstream block (sync=true of an
// embedded one), which brings each message to the disk first and costs most of the speed of a single publisher.
package jetstream
