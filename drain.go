package sabir

import "github.com/sabir-go/sabir/internal/membership"

// Drain has the other nodes send their calls, streams and events for services of this node to nodes that offer the same, as an operator
// wants before the node is stopped or looked into; GET /ready answers 503, so that load balancers do so too. What is in flight ends as
// usual, and where no other node offers an action its calls still come. Calls that start on this node, those over HTTP among
// them, broadcasts, consumers of channels, processes and grains are not affected. All nodes learn of it, and those that come
// later: Drain returns when those that it is linked with go by it, or two seconds have passed, so that the node may be stopped at once. The other nodes keep it, so a node of this id that starts anew is drained too, until [Node.Undrain]. It fails where so many nodes
// and routes are decided about that nothing can be added.
func (n *Node) Drain() error { return n.setDrained(true) }

// Undrain ends [Node.Drain].
func (n *Node) Undrain() error { return n.setDrained(false) }

func (n *Node) setDrained(drained bool) error {
	if n.callingNode() == nil || n.decisions.Load().Drained(n.id) == drained {
		return nil
	}
	return n.settle(membership.Decision{Drain: n.id, Ended: !drained})
}

// isDrained reports whether calls shall go to others than a provider.
func (n *Node) isDrained(p *provider) bool { return n.decisions.Load().Drained(p.id) }
