package actor

// groupsName is the name of the process that exchanges memberships with the other nodes.
const groupsName = "$groups"

// These messages go between the group keepers of two nodes. Their names and fields are part of the wire format.
type (
	// groupChange is one process that has joined or left.
	groupChange struct {
		Joined bool
		Group  string
		PID    PID
		Caster PID
	}

	// groupState holds all memberships of a node, in several parts.
	groupState struct {
		First, Last bool
		Members     []groupChange
	}
)

// statePart is the number of memberships in one groupState.
const statePart = 500

// membership is one process in one group.
type membership struct {
	group string
	pid   PID
}

// groupKeeper is the state of that process. The memberships themselves are in groupTable; the keeper decides which changes of
// other nodes are applied.
type groupKeeper struct {
	up map[string]map[membership]struct{} // nodes that are up, with the parts of their groupState so far; nil between two
}

var groupKeeperBehavior = internalProcess(Define("groups", (*groupKeeper).Init,
	OnMessage((*groupKeeper).Change), OnMessage((*groupKeeper).State), OnMessage((*groupKeeper).Node)))

// serve starts the keeper, when the system starts with its node.
func (t *groupTable) serve(s *System) error {
	_, err := Spawn(s, groupKeeperBehavior, struct{}{}, SpawnConfig{Name: groupsName})
	return err
}

func (k *groupKeeper) Init(p *Process, _ struct{}) error {
	k.up = make(map[string]map[membership]struct{})
	p.MonitorNode("")
	return nil
}

// Node sends a new node all memberships of this one, and removes the members on one that is lost.
func (k *groupKeeper) Node(p *Process, n NodeChange) error {
	if !n.Up {
		delete(k.up, n.Node)
		p.system.groups.retainRemote(p.system, n.Node, nil)
		return nil
	}
	k.up[n.Node] = nil
	all := p.system.groups.memberships()
	for first := true; first || len(all) > 0; first = false {
		count := min(len(all), statePart)
		k.send(p, n.Node, groupState{First: first, Last: count == len(all), Members: all[:count]})
		all = all[count:]
	}
	return nil
}

// Change sends on a change of this node, or applies one of another.
func (k *groupKeeper) Change(p *Process, c groupChange) error {
	if p.Sender().Zero() {
		for node := range k.up {
			k.send(p, node, c)
		}
		return nil
	}
	if node, ok := k.from(p, c.PID, c.Caster); ok {
		p.system.groups.changeRemote(p.system, node, c)
	}
	return nil
}

// State applies the memberships of another node. A known member that is not among them has left.
func (k *groupKeeper) State(p *Process, state groupState) error {
	node, ok := k.from(p)
	if !ok {
		return nil
	}
	if state.First || k.up[node] == nil {
		k.up[node] = make(map[membership]struct{})
	}
	for _, c := range state.Members {
		if _, ok := k.from(p, c.PID, c.Caster); ok {
			k.up[node][membership{c.Group, c.PID}] = struct{}{}
			c.Joined = true
			p.system.groups.changeRemote(p.system, node, c)
		}
	}
	if state.Last {
		p.system.groups.retainRemote(p.system, node, k.up[node])
		k.up[node] = nil
	}
	return nil
}

// from returns the node of the sender if it is up. A node acts for its own processes only.
func (k *groupKeeper) from(p *Process, of ...PID) (node string, ok bool) {
	sender := p.Sender()
	node = sender.Node()
	_, ok = k.up[node]
	for _, pid := range of {
		ok = ok && pid.home == sender.home && !pid.Zero()
	}
	return node, ok && node != p.system.nodeName()
}

// send sends to another keeper. An error means that the session has ended; then both sides start over.
func (k *groupKeeper) send(p *Process, node string, m any) {
	to := Name{Name: groupsName, Node: node}
	switch m := m.(type) {
	case groupChange:
		_ = Send(p, to, m)
	case groupState:
		_ = Send(p, to, m)
	}
}

// distributor is the process of a group, on a node with members of it, that receives what other nodes send to the group and
// delivers it here.
type distributor struct{ group string }

var distributorBehavior = internalProcess(Define("group", (*distributor).Init, Handler[distributor](distributeAny{})))

func (c *distributor) Init(_ *Process, group string) error { c.group = group; return nil }

// distributeAny handles messages of any type.
type distributeAny struct{}

func (distributeAny) of(*distributor)            {}
func (distributeAny) handlerEntry() handlerEntry { return handlerEntry{} }

func (distributeAny) handle(p *Process, l *envelope) error {
	local, _ := p.system.groups.recipients(p.entry.state.(*distributor).group)
	deliverToAll(p.system, local, l)
	l.at = l.count
	return nil
}
