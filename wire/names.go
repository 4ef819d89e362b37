package wire

import (
	"encoding/binary"
	"maps"
)

// maxInterned is the longest name that is worth a number; longer ones go as they are each time.
const maxInterned = 255

// appendName appends a metadata key or the name of a caller. Names are told to the peer once and then known by a number;
// where the peer has no room for more, the name itself follows a 0.
func (l *Link) appendName(dst []byte, name string) []byte {
	known, ok := (*l.names.Load())[name]
	if !ok && len(name) <= maxInterned {
		known = l.intern(name)
	}
	dst = binary.AppendUvarint(dst, uint64(known))
	if known == 0 {
		dst = appendString(dst, name)
	}
	return dst
}

// intern gives name a number and tells the peer. It returns 0 where the peer accepts no more. Frames are sent in the order
// in which they were appended, so the peer knows the number before it meets it.
func (l *Link) intern(name string) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := *l.names.Load()
	if known, ok := names[name]; ok {
		return known
	}
	if len(names) >= l.peer.Limits.Names || l.closed {
		return 0
	}
	number := uint32(len(names) + 1)
	// Copied, so that reading takes no lock; there are few names, each new once.
	next := make(map[string]uint32, len(names)+1)
	maps.Copy(next, names)
	next[name] = number
	l.names.Store(&next)
	l.append(0, kindName, 0, appendString(binary.AppendUvarint(nil, uint64(number)), name))
	return number
}

// learnName is the peer's declaration of a name.
func (r *reader) learnName(body []byte) error {
	in := fields{left: body}
	number := in.number(r.link.config.Limits.Names)
	name := in.string()
	if in.bad || len(in.left) > 0 || len(name) > maxInterned {
		return protocolError("a name frame cannot be read or declares too many names")
	}
	if number != len(r.names)+1 {
		return protocolError("name %d declared after %d others", number, len(r.names))
	}
	r.names = append(r.names, name)
	return nil
}

// name reads what appendName appended.
func (r *reader) name(in *fields) string {
	number := in.number(len(r.names))
	if in.bad {
		return ""
	}
	if number == 0 {
		return in.string()
	}
	return r.names[number-1]
}
