package actor

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unique"
)

// Alias is another address of a process, which the process can withdraw: see Process.NewAlias.
type Alias struct {
	home   unique.Handle[home]
	number uint64
}

const maxAliases = 1000

// MarshalBinary returns the wire form of the alias: number and run of the node (uint64, little endian), then the node's name.
// The zero Alias is empty.
func (a Alias) MarshalBinary() ([]byte, error) { return a.AppendBinary(nil) }

// AppendBinary appends what MarshalBinary returns.
func (a Alias) AppendBinary(dst []byte) ([]byte, error) {
	if a.number == 0 {
		return dst, nil
	}
	h := a.home.Value()
	return append(appendID(appendID(dst, a.number), h.instance), h.node...), nil
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (a *Alias) UnmarshalBinary(data []byte) error {
	if len(data) == 0 {
		*a = Alias{}
		return nil
	}
	if len(data) < 17 || len(data) > 16+maxNodeName {
		return fmt.Errorf("actor: an alias has 17 to %d bytes, not %d", 16+maxNodeName, len(data))
	}
	number := binary.LittleEndian.Uint64(data)
	if number == 0 {
		return fmt.Errorf("actor: an alias of number 0")
	}
	*a = Alias{homeOf(data[16:], binary.LittleEndian.Uint64(data[8:])), number}
	return nil
}

// recentHome caches the last result of homeOf: most PIDs in messages are of a few nodes.
var recentHome atomic.Pointer[struct {
	home
	handle unique.Handle[home]
}]

func homeOf(node []byte, instance uint64) unique.Handle[home] {
	if known := recentHome.Load(); known != nil && known.instance == instance && known.node == string(node) {
		return known.handle
	}
	found := &struct {
		home
		handle unique.Handle[home]
	}{home: home{node: string(node), instance: instance}}
	found.handle = unique.Make(found.home)
	recentHome.Store(found)
	return found.handle
}

// NewAlias makes another address of this process, to give to others instead of the PID and to withdraw with DropAlias. A
// process has at most 1000.
func (p *Process) NewAlias() (Alias, error) {
	a := Alias{p.system.home, p.system.refs.Add(1)}
	p.entry.mu.Lock()
	defer p.entry.mu.Unlock()
	r := p.entry.ensureRare()
	if r.aliases.len() >= maxAliases {
		return Alias{}, problem(ErrTooMany, p.pid.Node(), "a process has at most %d aliases", maxAliases)
	}
	r.aliases.set(a, struct{}{})
	p.system.aliases.Store(a, p.pid)
	return a, nil
}

// DropAlias withdraws an alias: messages to it find no process from now on.
func (p *Process) DropAlias(a Alias) {
	p.entry.mu.Lock()
	defer p.entry.mu.Unlock()
	if r := p.entry.rareState(); r != nil && r.aliases.drop(a) {
		p.system.aliases.Delete(a)
	}
}

// resolveAlias returns the process that has an alias, or a placeholder if the alias is of another node.
func resolveAlias(s *System, a Alias) (PID, error) {
	if a.number != 0 && a.home != s.home {
		return aliasPlaceholder(a), nil
	}
	if pid, ok := s.aliases.Load(a); ok {
		return pid.(PID), nil
	}
	return PID{}, problem(ErrNoProcess, s.home.Value().node, "the alias is nobody's")
}
