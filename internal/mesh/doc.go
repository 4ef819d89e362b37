// Package mesh links a node with the other nodes of its cluster. It finds them by a membership of package cluster, keeps links of
// package wire to them, and exchanges catalogs: what each node offers. Of the node it knows only the [Host].
//
//	m, err := mesh.New(host, config)
//	err = m.Listen(ctx)   // from here on its methods can be called
//	err = m.Enter(ctx)    // from here on there are links
//	link := m.Peer("b").Link()
//	…
//	err = m.Drain(ctx)    // no new calls come in, those in flight finish
//	err = m.Leave(ctx)    // the end of all links
//
// # How a node comes to know another
//
// [Mesh.Listen] takes the address. [Mesh.Enter] dials the seeds (bootstrap.go) and starts the membership, whose changes come to
// changed (links.go): for each member there is a [Peer], and maintain has it dialled until it has its links (peer.go). After the
// handshake AddLink makes the link and sends this node's catalog over it; announce sends what changes later as a difference. The catalog of the other side comes by Post, waits for
// updateLoop (catalog.go), goes into the registry, and the host rebuilds its tables.
//
// # Large clusters
//
// In a cluster of more nodes than Config.FullMesh, which is sparse, a node has links to a few neighbours and to those that it calls. The neighbours tell each other of all nodes (relay.go);
// a [Peer] without a link is at rest, and [Peer.Connect] makes one for a call; tend ends those that neither side needs (demand.go). Gossip to nodes without a link goes over connections of
// its own (packets.go).
//
// # What must hold
//
//   - mu is held only for moments: nothing that waits for another node runs with it, and no method of the host is called with it,
//     since the host's own locks are taken before mu.
//   - announcing is held while the host is asked what it offers. Nothing that holds mu, or a lock of the host's, takes it.
//   - The links of a peer are replaced as a whole, under mu, so that calls read them without a lock.
//   - A catalog counts only for the run of the node that sent it (Info.Instance), and only while there is a link to it, or in a sparse cluster while it is a member and no dial
//     of it has failed.
//   - A summary is passed on, and is in a digest, only when its services are known: whoever gets it asks the sender for them.
//   - A link that comes to rest is taken out of its peer before GoAway is sent or read, which would be that of a node that leaves.
package mesh
