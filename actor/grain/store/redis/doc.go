// Package redis keeps the state of grains in Redis (7.0 or later).
//
// Importing it registers the driver of redis:// and rediss://, for one server, a Redis Cluster or Sentinels:
//
//	s, err := store.Open(ctx, "redis://127.0.0.1:6379?prefix=shop")
//
// docs/addresses.md has all parts of the address, which is the same for links, channels and caches.
//
// A grain is a hash, prefix:grain:kind:key, with a number (r), the token of the last write (t) and the state (s). A script
// compares and writes in one step. Where a grain was deleted its hash stays for a day without a state.
//
// The number is the server's clock in microseconds since 1970, or more than the number before where that is not. A revision is the
// number and the beginning of the token. So none is used twice, unless a grain was deleted, a day went by, and the clock then
// is more than a day behind. It also holds where Redis lost its last writes or all of its data: what is written anew has a
// revision that was not used before, but for one chance in sixteen million where the clocks of two primaries are out of step.
//
// # What is kept
//
// How much one server keeps through a crash is its own setting. With "appendonly yes" and "appendfsync always" what it wrote
// survives a power cut; with "appendfsync everysec" it survives a server that is killed, and up to two seconds are lost with the
// power. A server that evicts keys (maxmemory-policy other than noeviction and volatile-*) or keeps no append-only file loses
// grains: the driver then warns in the log.
//
// None of that is about a replica that takes over, which has what it was sent. So a save is acknowledged when replicas have it
// (WAIT), and a state is loaded when they have what was read: replicas=n in the address sets how many, 0 none; by default, or
// with replicas=auto, it is all that are online. With fsync=true they have it in their append-only files (WAITAOF, Redis 7.2). The
// time for that is the operation's context. A save that is not confirmed ends in [store.ErrOutcomeUnknown], a load in [store.ErrStoreUnreachable],
// both with how many replicas there were. Package internal/replication describes what that guarantees, and what it does not.
//
// An activation whose write was lost all the same is fenced at its next one.
package redis
