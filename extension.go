package sabir

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sabir-go/sabir/internal/wire"
)

// Extension is a part of a program that talks to the same part on other nodes over the nodes' links, such as the processes of
// package actor. Give it to a node with [WithExtension]. What it sends are posts on a topic of its own: [wire.Link.Post] and
// [wire.Link.TryPost] on one side, Posted on the other.
//
// Linked, Posted and Unlinked are called for one link one at a time and in the order in which things happened, for several
// links at once. They must not block, since nothing else of that link is read while they run: no calls, and no
// [wire.Link.Post], which waits when the peer reads too slowly, but TryPost or another goroutine. They must not panic or end
// their goroutine. A panic is logged with its stack, and the link closed with an error, with all calls in flight; both nodes
// then link anew. What was read together with the post that panicked may still be delivered.
//
// A node outside a cluster, see [Join], starts and stops its extensions and has no links. A node that does not have the
// extension ignores its posts: that a node has it shows only when it posts something itself.
type Extension interface {
	// Name identifies it in errors and logs.
	Name() string
	// Start is called once, before the node joins its cluster: there is no link yet, and no service runs. Its error is that
	// of the node's start; it must have undone by itself what it began, as Stop is not called then.
	Start(ctx context.Context, n *Node) error
	// Stop is called once after Start returned nil, also where the node could not start. The services have stopped, and the
	// links still carry posts both ways: those that Stop makes are sent before the links end, as far as the peers take them
	// within three seconds and ctx has not ended. Posted and Unlinked are still called, also after Stop, and Linked where a
	// link was on its way; all links had their Unlinked when [Node.Stop] returns. A node that fails to join ends its links before it calls Stop.
	Stop(ctx context.Context) error
	// Linked reports a link to another node, Peer().Node, over which Post works from now on. It is called once
	// for each link, before anything else of it. There may be several links to one node, see [cluster.Connections], and to one that
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

// Offering is an [Extension] that also offers services, for tools to ask it: their names begin with "$". The node asks for
// them once, after Start, and runs them beside $node, before those that it was given with [Serve].
type Offering interface{ Services() []Servable }

// extensionServices lists the services that extensions offer.
func (n *Node) extensionServices() (list []*Service) {
	for _, e := range n.extensions.started {
		if o, ok := e.(Offering); ok {
			list = append(list, flatten(o.Services())...)
		}
	}
	return list
}

// firstTopic is the lowest topic of an extension. Those below belong to package mesh.
const firstTopic uint8 = 16

// WithExtension gives the node an extension, which talks to those with the same topic on other nodes. A topic is a number from
// 16 to 255, the same on all nodes of the cluster; 16 is that of package actor. The node does not start with a
// lower one, or with two extensions of one topic.
//
// Extensions start in the order in which they were given, and stop in the reverse order.
func WithExtension(topic uint8, e Extension) NodeOption {
	return nodeOption(func(n *Node) { n.extensions.given = append(n.extensions.given, registration{topic, e}) })
}

// extensions is the extensions of a node.
type extensions struct {
	given   []registration
	started []Extension
	byTopic [256]Extension // written before the node joins, so that the links read it without a lock
}

type registration struct {
	topic     uint8
	extension Extension
}

// startExtensions starts the extensions. Where one fails, stopExtensions stops those before it.
func (n *Node) startExtensions(ctx context.Context) error {
	x := &n.extensions
	for _, g := range x.given {
		if err := n.checkExtension(g); err != nil {
			return err
		}
		x.byTopic[g.topic] = g.extension
	}
	for _, g := range x.given {
		start := func(ctx context.Context) error { return g.extension.Start(ctx, n) }
		if err := n.isolateExtension(ctx, "the start of ", g.extension, start); err != nil {
			return err
		}
		x.started = append(x.started, g.extension)
	}
	return nil
}

func (n *Node) checkExtension(g registration) error {
	invalid := func(format string, args ...any) error {
		return &Error{Code: CodeInvalidArgument, Name: nameBadOption, Node: n.id, Message: "Extend: " + fmt.Sprintf(format, args...)}
	}
	if g.extension == nil {
		return invalid("the extension of topic %d is nil", g.topic)
	}
	if g.topic < firstTopic {
		return invalid("%s has topic %d: those below %d are the node's own, give it one from %d to 255", g.extension.Name(), g.topic, firstTopic, firstTopic)
	}
	if other := n.extensions.byTopic[g.topic]; other != nil {
		return invalid("%s and %s have the same topic, %d: give each a topic of its own, and an extension to a node once", other.Name(), g.extension.Name(), g.topic)
	}
	return nil
}

// stopExtensions stops those that were started.
func (n *Node) stopExtensions(ctx context.Context) error {
	x := &n.extensions
	var errs []error
	for _, e := range slices.Backward(x.started) {
		errs = append(errs, n.isolateExtension(ctx, "the stop of ", e, e.Stop))
	}
	x.started = nil
	return errors.Join(errs...)
}

// isolateExtension starts or stops an extension, and makes an error of a panic.
func (n *Node) isolateExtension(ctx context.Context, what string, e Extension, do func(context.Context) error) error {
	what += "extension " + e.Name()
	err := n.isolated(what, ctx, do)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
