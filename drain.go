package sabir

// Drain has the other nodes send their calls, streams and events for services of this node to nodes that offer the same, as an operator
// wants before the node is stopped or looked into; GET /ready answers 503, so that load balancers do so too. What is in flight ends as
// usual, and where no other node offers an action its calls still come. Calls that start on this node, those over HTTP among
// them, broadcasts, consumers of channels, processes and grains are not affected. All nodes learn of it at once, and those that come
// later; a node that starts anew is not drained.
func (n *Node) Drain() { n.setDrained(true) }

// Undrain ends [Node.Drain].
func (n *Node) Undrain() { n.setDrained(false) }

func (n *Node) setDrained(drained bool) {
	if n.callingNode() == nil || n.drained.Swap(drained) == drained {
		return
	}
	if drained {
		n.log.Info("node is drained: calls go to other nodes", "node", n.id)
	} else {
		n.log.Info("node is not drained any more", "node", n.id)
	}
	n.health.Add(1)
	n.announce()
}

// isDrained reports whether calls shall go to others than a provider.
func (n *Node) isDrained(p *provider) bool {
	if p.isHere() {
		return n.drained.Load()
	}
	return n.table.Load().view.Drained(p.id)
}
