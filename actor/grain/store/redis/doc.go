// Package redis keeps the state of grains in Redis (7.0 or later).
//
// It registers itself as the driver of redis://user:password@host:6379/database, and rediss:// for TLS, as package
// transport/redis knows them; several hosts separated by commas are those of a Redis Cluster. Of the address it takes the
// parameter prefix, of the keys, "sabir" without it: letters, digits, '.', '_' and '-'.
//
// A grain is a hash, prefix:grain:kind:key, with its revision (r), the token of the last write (t) and the state (s). A
// script compares and writes in one step. Where a grain was deleted its hash stays for a day without a state.
//
// A revision is the server's clock in microseconds since 1970, or the revision before plus one where that is more. So none
// is used twice, unless a grain was deleted, a day went by, and the clock then is more than a day behind. It also holds
// where Redis lost its last writes or all of its data: what is written anew has a revision that nobody had.
//
// Load asks the primary. How much Redis keeps through a crash is its own setting. With "appendonly yes" and "appendfsync
// always" what was acknowledged survives a power cut; with "appendfsync everysec" it survives a server that is killed, and
// up to two seconds are lost with the power. A replica that takes over may lack the last writes too. An activation whose
// write was lost like that is fenced at its next one. A server that evicts keys (maxmemory-policy other than noeviction and
// volatile-*) or keeps no append-only file loses grains: the driver then warns in the log.
package redis
