// Package redis keeps channels in Redis Streams (Redis 7.0 or later).
//
// It registers itself as the engine of redis://user:password@host:6379/database, and rediss:// for TLS; several hosts
// separated by commas are those of a Redis Cluster. Of the address it takes the parameter prefix, of the keys, "sabir"
// without it.
//
// A channel is a stream, prefix:{name}:log; a group is a consumer group of it. Beside it each group has a sorted set,
// prefix:{name}:due:group, that says of each message handed out when it is due to be handed out again: as soon as its
// consumer is silent for AckWait, or when the time of a retry has come. Scripts keep the two in step, and take the time
// from the server, so clocks of nodes need not agree.
//
// The place of a message is its entry's id as one number: milliseconds since 1970 times 1,048,576, plus the count within
// the millisecond. Limits by age and count are kept approximately, as Redis does ("~"): some more may stay. There is none
// by bytes.
//
// How much Redis keeps through a crash is its own setting. With "appendonly yes" and "appendfsync always" a message that
// was acknowledged survives a power cut; with "appendfsync everysec" it survives a server that is killed, unless the
// disk was too busy (Redis then answers before it writes), and up to two seconds are lost with the power. Without
// appendonly messages are lost with the server: the engine then warns in the log.
package redis
