package wire

import "encoding/binary"

// maxInterned is the longest name that is worth a number; longer ones go as they are each time, and so does the empty one.
const maxInterned = 255

// appendName appends a reference to a metadata key, to the name of an event or to that of a caller: the number by which the peer
// knows it, which is declared to the peer here where it does not know it, or 0 and the name itself. It runs under mu.
func (l *Link) appendName(dst []byte, name string) []byte {
	if len(name) == 0 || len(name) > maxInterned {
		return appendString(append(dst, 0), name)
	}
	n, declare := l.names.use(name, l.frame)
	if n == nil {
		return appendString(append(dst, 0), name)
	}
	if declare {
		l.append(0, kindName, 0, appendString(binary.AppendUvarint(nil, uint64(n.number)), name))
	}
	return binary.AppendUvarint(dst, uint64(n.number))
}

// learnName is the peer's declaration of a name: with the next number, or with one that another name had.
func (r *reader) learnName(body []byte) error {
	in := fields{left: body}
	number := in.number(r.link.config.Limits.Names)
	name := in.string()
	if in.bad || len(in.left) > 0 || len(name) > maxInterned {
		return protocolError("a name frame cannot be read or has a number above the limit")
	}
	switch {
	case number < 1 || number > len(r.names)+1:
		return protocolError("name %d declared after %d others", number, len(r.names))
	case number > len(r.names):
		r.names = append(r.names, name)
	default:
		r.names[number-1] = name
	}
	return nil
}

// name reads a name that appendName wrote.
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
