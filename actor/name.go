package actor

import (
	"fmt"
	"unique"
)

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

// Alias is another address of a process, which it made itself and can take back: see Process.NewAlias.
type Alias struct {
	home   unique.Handle[home]
	number uint64
}

// maxName bounds names of processes, groups and events, in bytes.
const maxName = 255

// resolve finds the PID of an address of this node, or the one that stands for it on another.
func resolve[A Address](s *System, to A) (PID, error) {
	switch a := any(to).(type) {
	case PID:
		return a, nil
	case Name:
		return s.named(a)
	case Alias:
		return s.aliased(a)
	}
	panic("actor: no such address")
}

// Register gives this process a name on its node, under which it is found until it ends. It can have one. ErrNameTaken
// where another has it.
func (p *Process) Register(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("actor: a name has 1 to %d bytes", maxName)
	}
	p.slot.mu.Lock()
	has := ""
	if r := p.slot.rare(); r != nil {
		has = r.name
	}
	p.slot.mu.Unlock()
	if has != "" {
		return problem(ErrNameTaken, p.pid.Node(), "%s has the name %q already, and can have one", p.pid, has)
	}
	if other, taken := p.system.names.LoadOrStore(name, p.pid); taken {
		return problem(ErrNameTaken, p.pid.Node(), "%q is %s", name, other)
	}
	p.slot.mu.Lock()
	p.slot.rarely().name = name
	p.slot.mu.Unlock()
	return nil
}

// Unregister takes the name back.
func (p *Process) Unregister() {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	if r := p.slot.rare(); r != nil && r.name != "" {
		p.system.names.CompareAndDelete(r.name, p.pid)
		r.name = ""
	}
}

// Whereis finds the process that has a name on this node.
func (s *System) Whereis(name string) (PID, bool) {
	pid, ok := s.names.Load(name)
	if !ok {
		return PID{}, false
	}
	return pid.(PID), true
}

func (s *System) named(n Name) (PID, error) {
	if n.Node != "" && n.Node != s.home.Value().node {
		return s.namedAway(n)
	}
	if pid, ok := s.Whereis(n.Name); ok {
		return pid, nil
	}
	return PID{}, problem(ErrNoProcess, s.home.Value().node, "nobody is called %q", n.Name)
}

// NewAlias makes another address of this process, which it may give to others instead of its PID and take back with
// DropAlias. It has at most 1000.
func (p *Process) NewAlias() (Alias, error) {
	a := Alias{p.system.home, p.system.refs.Add(1)}
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	r := p.slot.rarely()
	if r.aliases.len() >= maxAliases {
		return Alias{}, problem(ErrTooMany, p.pid.Node(), "a process has at most %d aliases", maxAliases)
	}
	r.aliases.set(a, struct{}{})
	p.system.aliases.Store(a, p.pid)
	return a, nil
}

const maxAliases = 1000

// DropAlias takes an alias back: what is sent to it from now on finds nobody.
func (p *Process) DropAlias(a Alias) {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	if r := p.slot.rare(); r != nil && r.aliases.drop(a) {
		p.system.aliases.Delete(a)
	}
}

func (s *System) aliased(a Alias) (PID, error) {
	if a.number != 0 && a.home != s.home {
		return s.aliasedAway(a)
	}
	if pid, ok := s.aliases.Load(a); ok {
		return pid.(PID), nil
	}
	return PID{}, problem(ErrNoProcess, s.home.Value().node, "the alias is nobody's")
}

// forget frees the names of a process that ends.
func (s *System) forget(pid PID, r *rare) {
	if r.name != "" {
		s.names.CompareAndDelete(r.name, pid)
	}
	for a := range r.aliases.all() {
		s.aliases.Delete(a)
	}
	for node := range r.nodes.all() {
		s.away.forget(node, pid)
	}
}
