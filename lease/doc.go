// Package lease gives one process of a cluster at a time the right to do something: to lead, to run a service, to have a name.
//
//	st, err := store.Open(ctx, "nats://127.0.0.1:4222") // import _ ".../broker/nats"
//	leases := lease.New(st, lease.Config{})
//	mailer := sabir.NewService("mailer", sabir.Once())
//	node := sabir.NewNode(sabir.Serve(mailer), leases.Option(), sabir.Join("tcp://:7700"))
//
// A lease has a name, and holds for a short time, 3 s by default, within which its holder renews it. It is kept in a store of grains,
// which all nodes share: see package actor/grain/store. Three things stand on it: [Leases.Lead] runs a function on one node at a
// time, [sabir.Once] a service, and [Leases.Register] gives a process a name that holds in the whole cluster.
//
// # What may be relied on
//
// Two processes do not hold one lease at the same time, as far as their clocks run equally fast: to an eighth. What the clocks show does
// not matter, and no time of day is ever stored or compared. The holder counts from before it asked the store to renew; others
// count from after they have seen that renewal, and wait an eighth longer. So a holder that is cut off from the store stops before
// another begins.
//
// A process can still stand still between its last look at the lease and a write: the machine sleeps, the debugger stops it. It
// finds out when it goes on, too late for that write. Hence the fencing token, [Lease.Token]: a number that grows with each new holder.
// Give it to what is written, and let that refuse a token which is lower than the highest that it has seen. Only with tokens are there
// never two that write; see Kleppmann, "How to do distributed locking" (2016).
//
// If the holder dies, another process has the lease after at most 1.4 times the lease's time: 4.2 s by default. If it releases the
// lease, as a node that stops does, after at most a quarter of the time. While the store cannot be reached nobody gets the lease, and its
// holder loses it.
//
// # Cost
//
// A holder writes to the store three times in the lease's time; each process that waits reads it four times. In a cluster of n nodes
// that all campaign for one lease of 3 s these are 4n/3 reads a second.
package lease
