package sabir

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sabir-go/sabir/internal/secret"
	"github.com/sabir-go/sabir/internal/wire"
)

// Extension is a part of a program that starts and stops with a node, such as the connection of package channel to its
// broker. Give it to a node with [WithExtension], or to each node with [RegisterExtension]. One that talks to the other nodes
// of the cluster is a [LinkExtension], one that offers services an [Offering], one that the node is not ready without a
// [ReadinessExtension].
type Extension interface {
	// Name identifies it in errors and logs.
	Name() string
	// Start is called once, before the node joins its cluster: there is no link yet, and no service runs. Its error is that
	// of the node's start; it must have undone by itself what it began, as Stop is not called then.
	Start(ctx context.Context, n *Node) error
	// Stop is called once after Start returned nil, also where the node could not start. The services have stopped, and the node
	// has not left its cluster.
	Stop(ctx context.Context) error
}

// LinkExtension is an [Extension] that talks to the same part on other nodes over the nodes' links, such as the processes of
// package actor. Give it to a node with [WithLinkExtension]. What it sends are posts on a topic of its own: [wire.Link.Post] and
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
//
// While Stop runs the links still carry posts both ways: those that Stop makes are sent before the links end, as far as the
// peers take them within three seconds and ctx has not ended. Posted and Unlinked are still called, also after Stop, and Linked
// where a link was on its way; all links had their Unlinked when [Node.Stop] returns. A node that fails to join ends its links
// before it calls Stop.
type LinkExtension interface {
	Extension
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
// them once, when it has joined its cluster, and runs them beside $node, before those that it was given with [Serve].
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

// WithExtension gives the node an extension. Extensions start in the order in which they were given, after those that were
// registered, and stop in the reverse order.
func WithExtension(e Extension) NodeOption {
	return nodeOption(func(n *Node) { n.extensions.given = append(n.extensions.given, registration{extension: e}) })
}

// WithLinkExtension is [WithExtension] for one that talks to those with the same topic on other nodes. A topic is a number from
// 16 to 255, the same on all nodes of the cluster; 16 is that of package actor. The node does not start with a
// lower one, or with two extensions of one topic.
func WithLinkExtension(topic uint8, e LinkExtension) NodeOption {
	return nodeOption(func(n *Node) { n.extensions.given = append(n.extensions.given, registration{e, e, topic}) })
}

// RegisterExtension gives an extension to each node that starts from then on, before its own; make is called for each. A package
// calls it from its init, and is then at work in every program that imports it, without an option.
func RegisterExtension(make func() Extension) {
	registeredExtensions = append(registeredExtensions, make)
}

var registeredExtensions []func() Extension

// JoinAddress is the address that the node was given with [Join]; "" for none.
func (n *Node) JoinAddress() string {
	if len(n.joins) == 0 {
		return ""
	}
	return n.joins[0].Address
}

// ClusterSecret is a secret that the nodes of the cluster share, once the node has joined one with a [cluster.Key]; none
// otherwise. It is for servers within the process that only these nodes may use, and does not show where it is printed.
func (n *Node) ClusterSecret() secret.Secret {
	if m := n.mesh.Load(); m != nil {
		return m.Secret()
	}
	return secret.Secret{}
}

// extensions is the extensions of a node.
type extensions struct {
	given   []registration
	started []Extension
	byTopic [256]LinkExtension // written before the node joins, so that the links read it without a lock
}

type registration struct {
	extension Extension
	linked    LinkExtension // the same; nil for one without a topic
	topic     uint8
}

// startExtensions starts the extensions. Where one fails, stopExtensions stops those before it.
func (n *Node) startExtensions(ctx context.Context) error {
	x := &n.extensions
	var all []Extension
	for _, make := range registeredExtensions {
		all = append(all, make())
	}
	for _, g := range x.given {
		if err := n.checkExtension(g); err != nil {
			return err
		}
		x.byTopic[g.topic] = g.linked
		all = append(all, g.extension)
	}
	for _, e := range all {
		start := func(ctx context.Context) error { return e.Start(ctx, n) }
		if err := n.isolateExtension(ctx, "the start of ", e, start); err != nil {
			return err
		}
		x.started = append(x.started, e)
	}
	n.noteReadiness(x.started)
	return nil
}

func (n *Node) checkExtension(g registration) error {
	invalid := func(format string, args ...any) error {
		return &Error{Code: CodeInvalidArgument, Name: nameBadOption, Node: n.id, Message: "an extension: " + fmt.Sprintf(format, args...)}
	}
	switch {
	case g.extension == nil && g.topic != 0:
		return invalid("that of topic %d is nil", g.topic)
	case g.extension == nil:
		return invalid("it is nil")
	case g.linked == nil:
		return nil
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
	n.noteReadiness(nil)
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
