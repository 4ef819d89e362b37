// Package membership knows which nodes there are, what each offers, and which of them gets a call.
//
//   - A [Membership] finds the other nodes and reports when one joins, changes, leaves or fails: [Gossip] by SWIM gossip over
//     the links the nodes have anyway, [Presence] at a broker, [Static] from a list of addresses.
//   - The [Registry] keeps what each node offers, as nodes send it in a [Catalog], in snapshots that are read without a lock.
//   - A [Balancer] picks one [Candidate] among the nodes that offer an action.
//
// The three know nothing of each other and nothing of connections: package sabir joins them to its links.
// docs/cluster.md describes how they work together.
package membership
