package sabir

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sabir-go/sabir/wire"
)

// Extension is a room above the node that talks to its like on other nodes over the node's links, such as the processes of
// package actor. Give it to a node with [Extend]. What it says are posts on a topic of its own: [wire.Link.Post] and
// [wire.Link.TryPost] on one side, Posted on the other.
//
// Linked, Posted and Unlinked are called on the goroutine that reads the link: for one link one at a time and in the order
// in which things happened, for several links at once. They must not block, since nothing else of that link is read while
// they run: no calls, and no [wire.Link.Post], which waits when the peer reads too slowly, but TryPost or a goroutine of
// one's own. They must not panic. One that does is logged with its stack, and its link closed with an error, with all calls
// in flight; both nodes then link anew. What was read together with the post that panicked may still be told.
//
// A node outside a cluster, see [Join], starts and stops its extensions and has no links. A node that does not have the
// extension ignores its posts, so who it is that understands them shows only when it posts something itself.
type Extension interface {
	// Name is for errors and logs.
	Name() string
	// Start is called once, before the node joins its cluster: there is no link yet, and no service runs. Its error is that
	// of the node's start; it must have undone by itself what it began, as Stop is not called then.
	Start(ctx context.Context, n *Node) error
	// Stop is called once after Start returned nil, also where the node could not start. The services have stopped, and the
	// links still carry posts both ways: those that Stop makes are sent before the links end, as far as the peers take them
	// within three seconds and ctx has not ended. Posted and Unlinked are still called, also after Stop, and Linked where a
	// link was on its way; all links had their Unlinked when [Node.Stop] returns. A node that fails to join ends its links before it calls Stop.
	Stop(ctx context.Context) error
	// Linked says that there is a link to another node, Peer().Node, over which Post works from now on. It is called once
	// for each link, before anything else of it. There may be several links to one node, see [Connections], and to one that
	// was started anew the first new link may come before the last Unlinked of those to its former self.
	Linked(l *wire.Link)
	// Posted gets what the peer's extension posted on the same topic. data is valid until Posted returns.
	//
	// Posts over one link arrive in the order in which they were given to it; there is no order between links. Also a link
	// over which the peer takes no more calls, because it stops, carries posts both ways until it is Unlinked.
	Posted(l *wire.Link, data []byte)
	// Unlinked says that the link has ended: with an error that is [wire.ErrClosed] if that was in peace. It is called once
	// for each link that was Linked, and nothing of the link comes after it.
	Unlinked(l *wire.Link, err error)
}

// Offering is an [Extension] that also offers services, for tools to ask it: their names begin with "$". The node asks for
// them once, after Start, and runs them beside $node, before those that it was given with [Serve].
type Offering interface{ Services() []Servable }

// offered is the services of the extensions.
func (n *Node) offered() (list []*Service) {
	for _, e := range n.extensions.started {
		if o, ok := e.(Offering); ok {
			list = append(list, flatten(o.Services())...)
		}
	}
	return list
}

// firstTopic is the lowest topic of an extension. Those below are for mesh.
const firstTopic uint8 = 16

// Extend gives the node an extension, which talks to those with the same topic on other nodes. A topic is a number from
// 16 to 255, the same on all nodes of the cluster; 16 is that of package actor. The node does not start with a
// lower one, or with two extensions of one topic.
//
// Extensions start in the order in which they were given, and stop in the reverse order.
func Extend(topic uint8, e Extension) NodeOption {
	return nodeOption(func(n *Node) { n.extensions.given = append(n.extensions.given, extended{topic, e}) })
}

// extensions is the extensions of a node.
type extensions struct {
	given   []extended
	started []Extension
	byTopic [256]Extension // written before the node joins, so that the links read it without a lock
}

type extended struct {
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

func (n *Node) checkExtension(g extended) error {
	invalid := func(format string, args ...any) error {
		return &Error{Code: InvalidArgument, Name: nameNodeState, Node: n.id, Message: "Extend: " + fmt.Sprintf(format, args...)}
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
	err := isolate(what, ctx, do)
	n.logPanic(ctx, err)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Opened tells the extensions of a link. It is the first of the link's methods, see [wire.Handler], so that they hear of the
// link before they hear from it, and on the same goroutine as Post and Closed.
func (m *mesh) Opened(l *wire.Link) {
	m.mu.Lock() // waits until linked has taken note of the link
	given := m.node.extensions.given
	m.mu.Unlock()
	for _, g := range given {
		m.toExtension(l, g.extension, "Linked", func() { g.extension.Linked(l) })
	}
}

// posted gives a post to the extension of its topic, if there is one.
func (m *mesh) posted(l *wire.Link, topic uint8, data []byte) {
	e := m.node.extensions.byTopic[topic]
	if e == nil {
		return
	}
	defer m.extensionPanicked(l, e, "Posted")
	e.Posted(l, data)
}

// unlinked tells the extensions that a link has ended.
func (m *mesh) unlinked(l *wire.Link, err error) {
	for _, g := range m.node.extensions.given {
		m.toExtension(l, g.extension, "Unlinked", func() { g.extension.Unlinked(l, err) })
	}
}

func (m *mesh) toExtension(l *wire.Link, e Extension, what string, tell func()) {
	defer m.extensionPanicked(l, e, what)
	tell()
}

// extensionPanicked is deferred around a method of an extension: where that panicked it ends the link, because nobody knows
// what the extension made of it.
func (m *mesh) extensionPanicked(l *wire.Link, e Extension, what string) {
	v := recover()
	if v == nil {
		return
	}
	err := panicError(what+" of extension "+e.Name(), v)
	err.Node = m.node.id
	m.log.Error("panic: the link is closed", "node", m.node.id, "peer", l.Peer().Node, "error", err)
	l.Close(err)
}
