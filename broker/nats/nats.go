// Package nats is NATS as a broker of Sabir, through servers that run elsewhere or one that it runs inside the process: for links, and
// with JetStream for channels and for the states of grains and leases. Import it for its addresses, which are the same for all three:
//
//	import _ "github.com/sabir-go/sabir/broker/nats"
//
//	nats://127.0.0.1:4222                 a server; 4222 is the port where none is named
//	nats://user:password@host             or nats://token@host
//	nats://one:4222,two:4222,three:4222   servers of one NATS cluster; the last one needs its port
//	nats://host?tls=true                  nothing but TLS; implied where Config.TLS is set
//	nats://embedded                       a server inside this process
//
//	node := sabir.NewNode(sabir.Join("nats://embedded"), sabir.Serve(greeter))                                  // links
//	node := sabir.NewNode(channel.Broker("nats://embedded?store=/var/lib/shop"), sabir.Serve(billing)) // channels
//	s, err := store.Open(ctx, "nats://10.0.0.5:4222?replicas=3")                                     // grains, leases
//
// docs/addresses.md has all parts of the address.
//
// # Embedded servers
//
// nats://embedded starts a real nats-server, to which the own node's messages do not cross a socket. It listens on
// 127.0.0.1:4222 for others, or at the port that the address names, and for routes of other servers 2000 above
// (NATS's custom). If another embedded server is there already, this one listens on free ports and joins it: all processes
// of a machine with nats://embedded are one NATS cluster, a full mesh. Each may die, the first one too: within about two
// seconds another process runs a second server at the ports that are free again, where newcomers and plain clients find
// the mesh as before. Where only the port for routes is taken, connecting fails. Port 0 is any free port: such a server
// looks for no others.
//
//	nats://embedded?host=192.0.2.1        listens there, for other machines too; needs a cluster key
//	nats://embedded?routes=192.0.2.2:6222 joins these servers, by the ports for routes
//	nats://embedded?store=/var/lib/shop   with JetStream, which keeps messages in that folder
//	nats://embedded?store=dir&sync=true   which is brought to the disk before it is acknowledged
//
// With a cluster key (Config.Secret) clients prove that they have it without sending it: drivers of this package do so
// wherever the address names no user and Config.Secret is set. Servers send each other a password derived from it, which
// a listener between two machines could read: use Config.TLS there, which then holds for clients and routes beyond
// loopback.
//
// A store has one owner. The first process with an address is the broker of all on the machine that have the same one;
// when it ends, another takes over the port and the folder, within about a second. So such servers form no mesh, and
// routes= and other machines' clients beyond host= are not for them: for a store on several machines run NATS itself.
//
// # Links
//
// In a cluster of servers, embedded or not, a new subscription travels to the other servers on its own: a message
// published at another server right after Subscribe returned may miss it, and a probe there may be reported as unheard.
// A node that got the subject from a message of the subscriber, through the broker, does find the subscription. And Lost
// reports the connection to the own server only: when another server of the cluster dies, messages under way in it are
// lost without a word.
//
// A subscriber that lets 64 MiB or 500000 messages pile up loses what comes then.
//
// # Channels
//
// Channels are kept in JetStream, by servers elsewhere, or one inside the process, which the processes of a machine that name the same
// folder share. Without replicas=n one server of a cluster
// keeps a channel that is new, and one that is there stays as it is.
//
// A channel is a stream of file storage with one subject, prefix.channel.name. A group is a durable pull consumer with
// explicit acknowledgements; how many attempts of a message have failed is kept in a second stream, which is made with the
// first that has. What was published in the last two minutes with the same ID is kept once.
//
// JetStream answers a publisher when its kernel has the message. That survives a server that is killed. Power cuts are
// survived with several replicas, or with "sync_interval: always" in the server's jetstream block (sync=true of an
// embedded one), which brings each message to the disk first and costs most of the speed of a single publisher.
//
// # Grains and leases
//
// States are kept by nats-server 2.11 or later. Without replicas=n one server of a
// cluster keeps a bucket that is new, and one that is there stays as it is.
//
// Grains are in a bucket of the form that JetStream's key-value stores have, prefix_grains, so that "nats kv" can look at
// them. A grain's subject there is its kind and its key; of the key, letters, digits, '-' and '_' stay as they are, all
// other bytes are '=' and two hexadecimal digits, and "=" alone is the empty one. The package does not use the client's
// key-value functions to write, as those have no field for the token that distinguishes a write's repetitions from other writes:
// it is the header Sabir-Token. Where a grain was deleted a marker stays for a day.
//
// A revision is the place of a message in the stream, of which no two have the same. A new bucket counts from the
// microseconds since 1970, so that a bucket which was removed and made anew does not begin again with old revisions.
//
// JetStream answers a write when its kernel has it. That survives a server that is killed. Power cuts are survived with
// several replicas, or with "sync_interval: always" in the server's jetstream block (sync=true of an embedded one).
// Without either, a server that lost its last writes with the power gives their revisions out again; an activation that
// has kept such a one, and whose grain got the very same number for another write, would not be noticed.
//
// A server takes messages up to its max_payload, 1 MiB unless configured: larger states are refused with
// StateTooLarge. Load asks the bucket's leader; where several servers keep the bucket, one that was leader until a
// moment ago may give an answer that is out of date, as it does not know better. Save is then refused. When the leader of
// such a bucket is lost, the others take up to some 10 seconds to agree on another; until then operations wait, or end in
// StoreUnreachable.
package nats

import (
	_ "github.com/sabir-go/sabir/broker/nats/internal/channels" // for channel.Broker
	_ "github.com/sabir-go/sabir/broker/nats/internal/links"    // for sabir.Join
	_ "github.com/sabir-go/sabir/broker/nats/internal/states"   // for store.Open
)
