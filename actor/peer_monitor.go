package actor

import "slices"

// NodeUp is the word that the processes of a node can be reached.
type NodeUp struct{ Node string }

// NodeDown is the word that they cannot be, any more or yet. Links and monitors across were told before.
type NodeDown struct{ Node string }

// Nodes is the other nodes whose processes can be reached, sorted.
func (s *System) Nodes() []string {
	var nodes []string
	for node := range s.away.byNode.Range {
		nodes = append(nodes, node.(string))
	}
	slices.Sort(nodes)
	return nodes
}

// MonitorNode tells this process how things stand with a node, now and at each change, by NodeUp and NodeDown, which come
// as PrioritySystem. For "" it is told of every node: now of those that are up.
func (p *Process) MonitorNode(node string) {
	s, n := p.system, &p.system.away
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watchers == nil {
		n.watchers = map[string]map[PID]struct{}{}
	}
	if n.watchers[node] == nil {
		n.watchers[node] = map[PID]struct{}{}
	}
	if _, twice := n.watchers[node][p.pid]; twice {
		return
	}
	n.watchers[node][p.pid] = struct{}{}
	p.slot.mu.Lock()
	p.slot.rarely().nodes.set(node, struct{}{})
	p.slot.mu.Unlock()
	if node == "" {
		for _, up := range s.Nodes() {
			inform(s, p.pid, NodeUp{up})
		}
	} else if _, up := n.byNode.Load(node); up || node == s.homeName() {
		inform(s, p.pid, NodeUp{node})
	} else {
		inform(s, p.pid, NodeDown{node})
	}
}

// DemonitorNode takes MonitorNode back. What was told before may still lie in the mailbox.
func (p *Process) DemonitorNode(node string) {
	p.slot.mu.Lock()
	r := p.slot.rare()
	known := r != nil && r.nodes.drop(node)
	p.slot.mu.Unlock()
	if known {
		p.system.away.forget(node, p.pid)
	}
}

func (n *network) forget(node string, pid PID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.watchers[node], pid)
	if len(n.watchers[node]) == 0 {
		delete(n.watchers, node)
	}
}

// tellWatchers tells those who monitor a node, or all. It runs under mu.
func tellWatchers[M any](n *network, node string, m M) {
	for _, of := range []string{node, ""} {
		for pid := range n.watchers[of] {
			inform(n.system, pid, m)
		}
	}
}

func inform[M any](s *System, pid PID, m M) {
	l := &messagesOf[M]().letterOf(m).head
	l.lane = PrioritySystem
	s.push(pid, l, nil)
}

// MonitorName is Monitor of whoever has a name now, on this or another node. Its Down has the name, and a PID only if
// somebody had it.
func (p *Process) MonitorName(name Name) Ref {
	s := p.system
	if name.Node == "" {
		name.Node = s.homeName()
	}
	to, ref := standIn(name), Ref(s.refs.Add(1))
	p.slot.mu.Lock()
	p.slot.extra().watches.set(ref, to)
	p.slot.mu.Unlock()
	if err := s.monitor(to, ref, p.pid); err != nil {
		s.tellDown(p.pid, Down{Ref: ref, Reason: err})
	}
	return ref
}
