// Package redis keeps channels in Redis Streams (Redis 7.0 or later).
//
// Importing it registers the engine of redis:// and rediss://, for one server, a Redis Cluster or Sentinels:
//
//	node := sabir.NewNode(channel.Broker("redis://127.0.0.1:6379?prefix=shop"), sabir.Serve(billing))
//
// docs/addresses.md has all parts of the address, which is the same for links, grains and caches.
//
// A channel is a stream, prefix:{name}:log; a group is a consumer group of it. Beside it each group has a sorted set,
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
// error [engine.ErrUnreachable]. Package internal/replication describes what that guarantees, and what it does not. Answers of
// consumers are not waited for: after a failover, what was done just before may be handed out again.
package redis
