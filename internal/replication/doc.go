// Package replication has writes to Redis confirmed by replicas before they count as done.
//
// A Redis primary answers a write before its replicas have it. When the primary is lost and a replica takes over, the writes
// that had not got there are gone, though they were answered. A [Primary] sends a write and, behind it on the same connection,
// the command WAIT: it returns when the replicas have confirmed that they have the write, or with an [*Unconfirmed] error.
//
// # How many replicas
//
// [Setting].Replicas is a number, or [Auto]:
//
//   - A number n: every write that is confirmed is on n replicas, or more, whatever the server looks like at the time.
//   - Auto: on all replicas that are online when the write is made. A server that never had one is not waited for; it is asked
//     twenty times a second, at most, whether it has got one. A server that had one and has none now is a primary that was cut
//     off, or one whose replicas died: the two look the same, and what it takes would be lost if one of them was promoted. So
//     its writes are not confirmed until a replica is back. A replica that was itself promoted continues the history of its
//     primary, which it proves by naming it (master_replid2): that is a new beginning, and it goes on alone where it has no
//     replica yet.
//
// # What that is good for
//
// The invariant: what was confirmed under n replicas is lost only with the primary and n replicas together, or where a replica
// that did not confirm is promoted although one that did could be. WAIT does not make Redis a consistent store: a failover must
// choose the replica with the highest offset, as Sentinel and Redis Cluster do among those that they reach. Only where n is the
// number of all replicas does the choice not matter.
//
// A primary that was cut off still executes writes. None is confirmed there, as its replicas follow another. So of two
// primaries at once at most one confirms, as long as each write has to be on a majority of the servers.
package replication
