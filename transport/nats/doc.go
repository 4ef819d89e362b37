// Package nats carries links through NATS: through servers that run elsewhere, or one that it runs inside the process.
// Import it for its addresses:
//
//	nats://127.0.0.1:4222                 a server; 4222 is the port where none is named
//	nats://user:password@host             or nats://token@host
//	nats://one:4222,two:4222,three:4222   servers of one NATS cluster; the last one needs its port
//	nats://host?tls=true                  nothing but TLS; implied where Config.TLS is set
//	nats://embedded                       a server inside this process
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
// Calls of [Connect] for the same address, Config.Name and Config.Secret share one server, which ends with the last of
// their connections.
//
// # What NATS does not do
//
// In a cluster of servers, embedded or not, a new subscription travels to the other servers on its own: a message
// published at another server right after Subscribe returned may miss it, and a probe there may be reported as unheard.
// A node that got the subject from a message of the subscriber, through the broker, does find the subscription. And Lost
// reports the connection to the own server only: when another server of the cluster dies, messages under way in it are
// lost without a word.
//
// A subscriber that lets 64 MiB or 500000 messages pile up loses what comes then.
package nats
