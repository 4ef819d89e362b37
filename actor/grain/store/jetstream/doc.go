// Package jetstream keeps the state of grains in NATS JetStream (nats-server 2.11 or later).
//
// Importing it registers the driver of nats://, for servers elsewhere, or one inside the process, which the processes of a
// machine that name the same folder share:
//
//	s, err := store.Open(ctx, "nats://10.0.0.5:4222?replicas=3")
//
// docs/addresses.md has all parts of the address, which is the same for links and channels. Without replicas=n one server of a
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
// [store.ErrStoreUnreachable].
package jetstream
