package actor

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unique"
)

// MarshalBinary is the form in which aliases travel between nodes: number and run of the node (uint64, little endian) and its
// name. The zero Alias is empty.
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

// recentHome is the home that homeOf found last: most PIDs that come in messages are of few nodes.
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
