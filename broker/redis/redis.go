// Package redis is Redis as a broker of Sabir, or Valkey and others that speak its protocol: for links, for channels, and for the states
// of grains and leases. Import it for its addresses, which are the same for all three:
//
//	import _ "github.com/sabir-go/sabir/broker/redis"
//
//	redis://user:password@127.0.0.1:6379              a server
//	redis://one:26379,two:26379?sentinel=mymaster     Sentinels, which know the server
//	redis://one,two,three                             a Redis Cluster; not for links
//	rediss://host:6379                                over TLS 1.3
//
//	node := sabir.NewNode(sabir.Join("redis://127.0.0.1:6379"), sabir.Serve(greeter))              // links
//	node := sabir.NewNode(channel.Broker("redis://127.0.0.1:6379?prefix=shop"), sabir.Serve(billing)) // channels
//	s, err := store.Open(ctx, "redis://127.0.0.1:6379?prefix=shop")                                // grains, leases
//
// docs/addresses.md has all parts of the address. Caches ([github.com/sabir-go/sabir/policy/rediscache]) take the same.
//
// # Links
//
// Links go through its publish and subscribe. The server must speak RESP3: Redis 6 or later. Each connection to the broker is two connections to the server, one to
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
//
// # Channels
//
// Channels are kept in Redis Streams, Redis 7.0 or later. A channel is a stream, prefix:{name}:log; a group is a consumer group of it. Beside it each group has a sorted set,
// prefix:{name}:due:group, with the time at which each message handed out is due to be handed out again: as soon as its
// consumer is silent for AckWait, or when the time of a retry has come; and a hash, prefix:{name}:failed:group, of how many
// attempts of a message have failed. Scripts keep them in step, and take the time
// from the server, so clocks of nodes need not agree.
//
// The place of a message is its entry's id as one number: milliseconds since 1970 times 1,048,576, plus the count within
// the millisecond. Limits by age and count are kept approximately, as Redis does ("~"): some more may stay. There is none
// by bytes.
//
// How much one server keeps through a crash is its own setting. With "appendonly yes" and "appendfsync always" a message that
// was written survives a power cut; with "appendfsync everysec" it survives a server that is killed, unless the
// disk was too busy (Redis then answers before it writes), and up to two seconds are lost with the power. Without
// appendonly messages are lost with the server: the engine then warns in the log.
//
// None of that is about a replica that takes over. So a message is acknowledged, a group is joined and a message is handed out when
// replicas have it (WAIT): replicas=n in the address sets how many, 0 none; by default (replicas=auto) it is all that are
// online. With fsync=true they have it in their append-only files (WAITAOF, Redis 7.2). What is not confirmed in time has the
// error ChannelUnreachable. Answers of
// consumers are not waited for: after a failover, what was done just before may be handed out again.
//
// # Grains and leases
//
// States are kept by Redis 7.0 or later. A grain is a hash, prefix:grain:kind:key, with a number (r), the token of the last write (t) and the state (s). A script
// compares and writes in one step. Where a grain was deleted its hash stays for a day without a state.
//
// The number is the server's clock in microseconds since 1970, or more than the number before where that is not. A revision is the
// number and the beginning of the token. So none is used twice, unless a grain was deleted, a day went by, and the clock then
// is more than a day behind. It also holds where Redis lost its last writes or all of its data: what is written anew has a
// revision that was not used before, but for one chance in sixteen million where the clocks of two primaries are out of step.
//
// How much one server keeps through a crash is its own setting. With "appendonly yes" and "appendfsync always" what it wrote
// survives a power cut; with "appendfsync everysec" it survives a server that is killed, and up to two seconds are lost with the
// power. A server that evicts keys (maxmemory-policy other than noeviction and volatile-*) or keeps no append-only file loses
// grains: the driver then warns in the log.
//
// None of that is about a replica that takes over, which has what it was sent. So a save is acknowledged when replicas have it
// (WAIT), and a state is loaded when they have what was read: replicas=n in the address sets how many, 0 none; by default, or
// with replicas=auto, it is all that are online. With fsync=true they have it in their append-only files (WAITAOF, Redis 7.2). The
// time for that is the operation's context. A save that is not confirmed ends in OutcomeUnknown, a load in StoreUnreachable,
// both with how many replicas there were. An activation whose write was lost all the same is fenced at its next one.
package redis

import (
	_ "github.com/sabir-go/sabir/broker/redis/internal/channels" // for channel.Broker
	_ "github.com/sabir-go/sabir/broker/redis/internal/links"    // for sabir.Join
	_ "github.com/sabir-go/sabir/broker/redis/internal/states"   // for store.Open
)
