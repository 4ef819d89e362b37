package actor

import "fmt"

// Name is a registered name of a process: on this node where Node is "". Names belong to a node; the same name on two
// nodes is two processes.
type Name struct{ Name, Node string }

// String is the name, with "@" and the node if there is one.
func (n Name) String() string {
	if n.Node == "" {
		return n.Name
	}
	return n.Name + "@" + n.Node
}

// maxName bounds names of processes, groups and events, in bytes.
const maxName = 255

// resolve returns the PID at an address of this node, or a placeholder for one of another.
func resolve[A Address](s *System, to A) (PID, error) {
	switch a := any(to).(type) {
	case PID:
		return a, nil
	case Name:
		return resolveName(s, a)
	case Alias:
		return resolveAlias(s, a)
	}
	return resolveRef(s, refPID(&to))
}

// Register gives this process a name on its node, under which it is found until it ends. It can have one. ErrNameTaken if
// another process has it.
func (p *Process) Register(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("actor: a name has 1 to %d bytes", maxName)
	}
	p.entry.mu.Lock()
	has := ""
	if r := p.entry.rareState(); r != nil {
		has = r.name
	}
	p.entry.mu.Unlock()
	if has != "" {
		return problem(ErrNameTaken, p.pid.Node(), "%s has the name %q already, and can have one", p.pid, has)
	}
	if other, taken := p.system.names.LoadOrStore(name, p.pid); taken {
		return problem(ErrNameTaken, p.pid.Node(), "%q is %s", name, other)
	}
	p.entry.mu.Lock()
	p.entry.ensureRare().name = name
	p.entry.mu.Unlock()
	return nil
}

// Unregister takes the name back.
func (p *Process) Unregister() {
	p.entry.mu.Lock()
	defer p.entry.mu.Unlock()
	if r := p.entry.rareState(); r != nil && r.name != "" {
		p.system.names.CompareAndDelete(r.name, p.pid)
		r.name = ""
	}
}

// resolveName returns the process that has a name, or a placeholder if the name is of another node.
func resolveName(s *System, n Name) (PID, error) {
	if n.Node != "" && n.Node != s.home.Value().node {
		return placeholder(n), nil
	}
	if pid, ok := s.Whereis(n.Name); ok {
		return pid, nil
	}
	return PID{}, problem(ErrNoProcess, s.home.Value().node, "nobody is called %q", n.Name)
}

// forgetNames frees the name, the aliases and the node monitors of a process that ends.
func (r *rareState) forgetNames(s *System, pid PID) {
	if r.name != "" {
		s.names.CompareAndDelete(r.name, pid)
	}
	for a := range r.aliases.all() {
		s.aliases.Delete(a)
	}
	for node := range r.nodes.all() {
		s.remote.forget(node, pid)
	}
}
