// Package redis carries links through the publish and subscribe of Redis, or of Valkey and others that speak its
// protocol. Import it for its addresses:
//
//	redis://user:password@127.0.0.1:6379              a server
//	redis://one:26379,two:26379?sentinel=mymaster     Sentinels, which know the server
//	rediss://host:6379                                over TLS 1.3
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("redis://127.0.0.1:6379"))
//
// docs/addresses.md has all parts of the address, which is the same for channels, grains and caches.
//
// The server must speak RESP3: Redis 6 or later. Each connection to the broker is two connections to the server, one to
// publish and one for subscriptions. User accounts (ACL) need the commands PUBLISH, SUBSCRIBE, UNSUBSCRIBE, HELLO and
// PING, and the channels "*" or those of the cluster.
//
// Redis keeps nothing: a subscriber that is disconnected, or so slow that the server's client-output-buffer-limit for pubsub is
// reached (32 MiB at once, or 8 MiB for a minute), loses its connection and the messages that were under way. PUBLISH returns
// the number of subscribers that got a message, but in a Redis Cluster, and on replicas, it counts those of one server only.
// So the addresses of a cluster are refused.
//
// Publish gathers messages, of 1 MiB at most, while others are on their way to the server. Where the server refuses them
// (a user without the right, for example), a later Publish returns its error.
package redis
