package actor

// groupsName is the name of the process that tells other nodes of the groups of this one, and hears of theirs.
const groupsName = "$groups"

// What nodes tell each other.
type (
	// groupChange is one process that has joined or left.
	groupChange struct {
		Joined bool
		Group  string
		PID    PID
		Caster PID
	}

	// groupState is all memberships of a node, in several parts.
	groupState struct {
		First, Last bool
		Members     []groupChange
	}
)

// statePart is how many memberships go together.
const statePart = 500

// groupKeeper is the process of that name. What it knows is in the table; it decides what comes of other nodes.
type groupKeeper struct {
	up map[string]map[GroupJoined]struct{} // nodes, with the parts of their state that have come; nil for none
}

var groupKeeperBehavior = unlisted(Define("groups", (*groupKeeper).Init,
	On((*groupKeeper).Change), On((*groupKeeper).State), On((*groupKeeper).Up), On((*groupKeeper).Down)))

// serveGroups starts the keeper. It is called when the system starts with its node.
func (s *System) serveGroups() error {
	_, err := Spawn(s, groupKeeperBehavior, struct{}{}, Named(groupsName))
	return err
}

func (k *groupKeeper) Init(p *Process, _ struct{}) error {
	k.up = make(map[string]map[GroupJoined]struct{})
	p.MonitorNode("")
	return nil
}

// Up tells a node all that it must know.
func (k *groupKeeper) Up(p *Process, up NodeUp) error {
	k.up[up.Node] = nil
	all := p.system.groups.memberships()
	for first := true; first || len(all) > 0; first = false {
		n := min(len(all), statePart)
		k.send(p, up.Node, groupState{First: first, Last: n == len(all), Members: all[:n]})
		all = all[n:]
	}
	return nil
}

// Down takes out who lived there.
func (k *groupKeeper) Down(p *Process, down NodeDown) error {
	delete(k.up, down.Node)
	p.system.groups.keepAway(p.system, down.Node, nil)
	return nil
}

// Change is one on this node, to be told, or one on another.
func (k *groupKeeper) Change(p *Process, c groupChange) error {
	if p.Sender().Zero() {
		for node := range k.up {
			k.send(p, node, c)
		}
		return nil
	}
	if node, ok := k.from(p, c.PID, c.Caster); ok {
		p.system.groups.changeAway(p.system, node, c)
	}
	return nil
}

// State is that of another node. Who was a member there and is not in it has left.
func (k *groupKeeper) State(p *Process, state groupState) error {
	node, ok := k.from(p)
	if !ok {
		return nil
	}
	if state.First || k.up[node] == nil {
		k.up[node] = make(map[GroupJoined]struct{})
	}
	for _, c := range state.Members {
		if _, ok := k.from(p, c.PID, c.Caster); ok {
			k.up[node][GroupJoined{c.Group, c.PID}] = struct{}{}
			c.Joined = true
			p.system.groups.changeAway(p.system, node, c)
		}
	}
	if state.Last {
		p.system.groups.keepAway(p.system, node, k.up[node])
		k.up[node] = nil
	}
	return nil
}

// from is the node of the sender, if it is up. A node speaks for its own processes only.
func (k *groupKeeper) from(p *Process, of ...PID) (node string, ok bool) {
	sender := p.Sender()
	node = sender.Node()
	_, ok = k.up[node]
	for _, pid := range of {
		ok = ok && pid.home == sender.home && !pid.Zero()
	}
	return node, ok && node != p.system.homeName()
}

// send tells another keeper. That it cannot be told is the end of the session, after which both begin anew.
func (k *groupKeeper) send(p *Process, node string, m any) {
	to := Name{Name: groupsName, Node: node}
	switch m := m.(type) {
	case groupChange:
		_ = Send(p, to, m)
	case groupState:
		_ = Send(p, to, m)
	}
}

// caster is the process of a group on a node with members of it, to which other nodes send what all members there get.
type caster struct{ group string }

var casterBehavior = unlisted(Define("group", (*caster).Init, Handler[caster](cast{})))

func (c *caster) Init(_ *Process, group string) error { c.group = group; return nil }

// cast handles messages of whatever type.
type cast struct{}

func (cast) of(*caster)   {}
func (cast) calls() bool  { return false }
func (cast) entry() entry { return entry{} }

func (cast) handle(p *Process, l *letter) error {
	local, _ := p.system.groups.recipients(p.slot.state.(*caster).group)
	scatter(p.system, local, l)
	l.at = l.count
	return nil
}
