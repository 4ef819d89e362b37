package mesh

import "github.com/sabir-go/sabir/internal/wire"

// Extension adds to an extension of a node (sabir.WithExtension) what lets it talk to the same extension on other nodes, as the processes
// of package actor do. It sends posts on a topic of its own over the nodes' links: [wire.Link.Post] and [wire.Link.TryPost] on one
// side, Posted on the other. It is not public, because a link is not.
//
// Linked, Posted and Unlinked are called for one link one at a time and in the order in which things happened, for several
// links at once. They must not block, since nothing else of that link is read while they run: no calls, and no
// [wire.Link.Post], which waits when the peer reads too slowly, but TryPost or another goroutine. They must not panic or end
// their goroutine. A panic is logged with its stack, and the link closed with an error, with all calls in flight; both nodes
// then link anew. What was read together with the post that panicked may still be delivered.
//
// A node outside a cluster, see sabir.Join, starts and stops its extensions and has no links. A node that does not have the
// extension ignores its posts: that a node has it shows only when it posts something itself.
//
// While Stop runs the links still carry posts both ways: those that Stop makes are sent before the links end, as far as the
// peers take them within three seconds and ctx has not ended. Posted and Unlinked are still called, also after Stop, and Linked
// where a link was on its way; all links had their Unlinked when the Stop of its node returns. A node that fails to join ends its links
// before it calls Stop.
type Extension interface {
	// Topic is the number of its posts, from 16 to 255, the same on all nodes of the cluster; 16 is that of package actor, 17 that of its
	// grains. A node does not start with a lower one, or with two extensions of one topic.
	Topic() uint8
	// Linked reports a link to another node, Peer().Node, over which Post works from now on. It is called once
	// for each link, before anything else of it. There may be several links to one node, see cluster.Links, and to one that
	// was started anew the first new link may come before the last Unlinked of those to its former self.
	Linked(l *wire.Link)
	// Posted gets the data that the peer's extension posted on the same topic. It is valid until Posted returns.
	//
	// Posts over one link arrive in the order in which they were given to it; there is no order between links. Also a link
	// over which the peer takes no more calls, because it stops, carries posts both ways until it is Unlinked.
	Posted(l *wire.Link, data []byte)
	// Unlinked reports that the link has ended: with an error that is [wire.ErrClosed] if it was closed in order. It is called
	// once for each link that was Linked, and nothing of the link comes after it.
	Unlinked(l *wire.Link, err error)
}
