package sabir

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sabir-go/sabir/internal/everynode"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/secret"
)

// Extension is a part of a program that starts and stops with a node, such as the connection of package channel to its broker: give it to
// the node with [WithExtension]. Or it starts and stops with a service, for which it works besides the actions and handlers, such as the
// consumer of a channel: the package that offers it adds it with [Service.Attach], and hands events to a handler by an [EventReceiver].
//
// That of a node may have two methods besides:
//
//	Services() []sabir.Servable
//
// offers services to tools that ask for it; their names begin with "$". The node calls it once, when it has joined its cluster, and
// runs them beside $node, before those that it was given with [Serve].
//
//	Ready(ctx context.Context) error
//
// returns why calls should rather go to other nodes now, and names what is wrong, such as a store that is full; nil where nothing is:
// see [Node.Ready]. It is called while the node runs, about twice a second at most and one at a time; ctx gives it a second at most.
//
// That of a service may have two others:
//
//	Begin()
//
// is called after the start hooks, when the service's actions can be called. It must not block. A panic in it is only logged.
//
//	Receives() (MessageType, string)
//
// is the type of the messages that it receives and the group of consumers, which the descriptions of the service then have.
type Extension interface {
	// Name identifies it in errors and logs; within its service: "consumer of shop.orders in group billing".
	Name() string
	// Start of a node's extension is called once, before the node joins its cluster: there is no link yet, and no service runs. That of a
	// service is called while n starts the service: the services that this one depends on can be called, and its start hooks have not run.
	// The error, or a panic, is that of the start; Start must have undone by itself what it began, as Stop is not called then.
	Start(ctx context.Context, n *Node) error
	// Stop is called once after a Start that returned nil, also where the node or the service could not start. With a node: the services have
	// stopped, and the node has not left its cluster. With a service: its actions can still be called, and its stop hooks have not run; Stop
	// takes no more work, and waits for running handlers or for the end of ctx, which is an error. All extensions of a service stop at the
	// same time. A service that was stopped may be served again, so Start may be called again after Stop.
	Stop(ctx context.Context) error
}

// extensionServices lists the services that extensions offer.
func (n *Node) extensionServices() (list []*Service) {
	for _, e := range n.extensions.started {
		if o, ok := e.(interface{ Services() []Servable }); ok {
			list = append(list, flatten(o.Services())...)
		}
	}
	return list
}

// linkExtension is an extension that talks to the same one on other nodes, such as the processes of package actor.
type linkExtension interface {
	Extension
	mesh.Extension
}

// firstTopic is the lowest topic of an extension. Those below belong to package mesh.
const firstTopic uint8 = 16

// WithExtension gives the node an extension. Extensions start in the order in which they were given, after those of
// packages that are at work in every node, such as channel, and stop in the reverse order.
func WithExtension(e Extension) NodeOption {
	return nodeOption(func(n *Node) {
		r := registration{extension: e}
		if linked, ok := e.(linkExtension); ok {
			r.linked, r.topic = linked, linked.Topic()
		}
		n.extensions.given = append(n.extensions.given, r)
	})
}

// JoinAddress is the address that the node was given with [Join]; "" for none.
func (n *Node) JoinAddress() string {
	if len(n.joins) == 0 {
		return ""
	}
	return n.joins[0].Address
}

// ClusterSecret is a secret that the nodes of the cluster share, once the node has joined one with a [cluster.Config.Key]; none
// otherwise. It is for servers within the process that only these nodes may use, and does not show where it is printed.
func (n *Node) ClusterSecret() secret.Secret {
	if m := n.cluster(); m != nil {
		return m.Secret()
	}
	return secret.Secret{}
}

// extensions is the extensions of a node.
type extensions struct {
	given   []registration
	started []Extension
	checks  []*readyCheck      // of those that have a method Ready
	byTopic [256]linkExtension // written before the node joins, so that the links read it without a lock
}

type registration struct {
	extension Extension
	linked    linkExtension // the same; nil for one without a topic
	topic     uint8
}

// talksOverLinks reports whether the node has an extension that sends messages of its own over links.
func (n *Node) talksOverLinks() bool {
	return slices.ContainsFunc(n.extensions.given, func(g registration) bool { return g.linked != nil })
}

// startExtensions starts the extensions. Where one fails, stopExtensions stops those before it.
func (n *Node) startExtensions(ctx context.Context) error {
	x := &n.extensions
	var all []Extension
	for _, make := range everynode.Extensions {
		all = append(all, make().(Extension))
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
		if server, ok := e.(operatorsServer); ok {
			n.operators.Store(&server)
		}
	}
	x.checks = extensionChecks(x.started)
	n.readiness.add(x.checks...)
	return nil
}

func (n *Node) checkExtension(g registration) error {
	invalid := func(format string, args ...any) error {
		return &Error{Code: CodeInvalidArgument, Name: nameBadOption, Node: n.id, Message: "an extension: " + fmt.Sprintf(format, args...)}
	}
	switch {
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
	n.readiness.remove(x.checks...)
	var errs []error
	for _, e := range slices.Backward(x.started) {
		errs = append(errs, n.isolateExtension(ctx, "the stop of ", e, e.Stop))
	}
	x.started = nil
	n.operators.Store(nil)
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
