package actor

// NodeChange is sent to the processes that monitor a node.
type NodeChange struct {
	Node string
	// Up is whether the processes of the node can be reached; false where they cannot any more, or yet. The Exits and Downs of links and
	// monitors across come before that.
	Up bool
}

// MonitorNode reports the state of a node to this process, now and at each change, by a NodeChange, which comes as
// PrioritySystem. "" stands for every node: then those that are up are reported now.
func (p *Process) MonitorNode(node string) {
	s, n := p.system, &p.system.remote
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
	p.entry.mu.Lock()
	p.entry.ensureRare().nodes.set(node, struct{}{})
	p.entry.mu.Unlock()
	if node == "" {
		for _, up := range s.Nodes() {
			inform(s, p.pid, NodeChange{up, true})
		}
	} else {
		_, up := n.byNode.Load(node)
		inform(s, p.pid, NodeChange{node, up || node == s.nodeName()})
	}
}

// DemonitorNode ends MonitorNode. A message sent before may still lie in the mailbox.
func (p *Process) DemonitorNode(node string) {
	p.entry.mu.Lock()
	r := p.entry.rareState()
	known := r != nil && r.nodes.drop(node)
	p.entry.mu.Unlock()
	if known {
		p.system.remote.forget(node, p.pid)
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

// notifyWatchers tells the processes that monitor a node, or all nodes. Call it with mu held.
func (n *network) notifyWatchers(c NodeChange) {
	for _, of := range []string{c.Node, ""} {
		for pid := range n.watchers[of] {
			inform(n.system, pid, c)
		}
	}
}

func inform[M any](s *System, pid PID, m M) {
	l := &messagesOf[M]().envelopeOf(m).head
	l.priority = PrioritySystem
	s.push(pid, l, nil)
}

// MonitorName is Monitor for the process that has a name now, on this or another node. Its Down carries the name, and a PID
// only if a process had the name.
func (p *Process) MonitorName(name Name) MonitorRef {
	s := p.system
	if name.Node == "" {
		name.Node = s.nodeName()
	}
	to, ref := placeholder(name), MonitorRef(s.refs.Add(1))
	p.entry.mu.Lock()
	p.entry.ensureCold().watches.set(ref, to)
	p.entry.mu.Unlock()
	if err := s.monitor(to, ref, p.pid); err != nil {
		s.sendDown(p.pid, Down{Ref: ref, Reason: err})
	}
	return ref
}
