package actor

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unique"
)

// PID names one process of the cluster. It is never given to another process: not when the process has ended, nor when
// its node was started anew. The zero PID names none. PIDs are comparable, small, and may be sent in messages.
type PID struct {
	home unique.Handle[home]
	id   uint64 // entry in the lower half, generation of the entry in the upper
}

// home is one run of a node: after a restart, instance is another. A PID whose home has a name or an alias is a placeholder,
// which stands for the process at that address of another node and never leaves this package.
type home struct {
	node     string
	instance uint64
	name     string
	alias    uint64
}

// Zero reports whether the PID names no process.
func (p PID) Zero() bool { return p.id == 0 }

// Node is the name of the node that the process runs on; "" for the zero PID.
func (p PID) Node() string {
	if p.id == 0 {
		return ""
	}
	return p.home.Value().node
}

// Compare orders PIDs: by node, its run, and then by what else they are made of.
func (p PID) Compare(other PID) int { return strings.Compare(p.String(), other.String()) }

// String is the text form, such as "orders-1/18a3f0c2d1e00000/7.1": node, run of the node, entry and generation.
// UnmarshalText reads it.
func (p PID) String() string {
	if p.id == 0 {
		return "none"
	}
	h := p.home.Value()
	return h.node + "/" + strconv.FormatUint(h.instance, 16) + "/" + strconv.FormatUint(uint64(uint32(p.id)), 10) + "." + strconv.FormatUint(p.id>>32, 10)
}

// parsePID reads what PID.String wrote.
func parsePID(text string) (PID, error) {
	if text == "none" {
		return PID{}, nil
	}
	bad := func() (PID, error) {
		return PID{}, fmt.Errorf("actor: %q is not a PID: it looks like node/18a3f0c2d1e00000/7.1", text)
	}
	rest, last, ok := cutLast(text, "/")
	if !ok {
		return bad()
	}
	node, instance, ok := cutLast(rest, "/")
	entry, generation, dot := strings.Cut(last, ".")
	if !ok || !dot || node == "" {
		return bad()
	}
	run, err1 := strconv.ParseUint(instance, 16, 64)
	low, err2 := strconv.ParseUint(entry, 10, 32)
	high, err3 := strconv.ParseUint(generation, 10, 32)
	if err1 != nil || err2 != nil || err3 != nil || high == 0 {
		return bad()
	}
	return PID{unique.Make(home{node: node, instance: run}), high<<32 | low}, nil
}

func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(sep):], true
}

// MarshalText is String as bytes, for JSON and the like.
func (p PID) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what String wrote.
func (p *PID) UnmarshalText(text []byte) error {
	read, err := parsePID(string(text))
	if err == nil {
		*p = read
	}
	return err
}

// MarshalBinary is the form in which PIDs travel between nodes: generation and entry (uint64, little endian), the run of
// the node (uint64) and its name. The zero PID is empty.
func (p PID) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }

// AppendBinary appends what MarshalBinary returns.
func (p PID) AppendBinary(dst []byte) ([]byte, error) {
	if p.id == 0 {
		return dst, nil
	}
	h := p.home.Value()
	dst = binary.LittleEndian.AppendUint64(dst, p.id)
	dst = binary.LittleEndian.AppendUint64(dst, h.instance)
	return append(dst, h.node...), nil
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (p *PID) UnmarshalBinary(data []byte) error {
	if len(data) == 0 {
		*p = PID{}
		return nil
	}
	if len(data) < 17 || len(data) > 16+maxNodeName {
		return fmt.Errorf("actor: a PID has 17 to %d bytes, not %d", 16+maxNodeName, len(data))
	}
	id := binary.LittleEndian.Uint64(data)
	if id>>32 == 0 {
		return fmt.Errorf("actor: a PID of generation 0")
	}
	*p = PID{homeOf(data[16:], binary.LittleEndian.Uint64(data[8:])), id}
	return nil
}

const maxNodeName = 255
