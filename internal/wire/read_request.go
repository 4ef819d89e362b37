package wire

import (
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/admission"
)

// request begins a request.
func (r *reader) request(h header, body []byte) error {
	l := r.link
	head := fields{left: body}
	route, err := r.route(head.number(len(r.routes)), false)
	if err != nil {
		return err
	}
	in := &r.inline
	here := h.flags&(flagMore|flagCompressed) == 0 && route.target.Inline() && !l.outgoingFull()
	if !here {
		in = inboundPool.Get().(*Inbound)
	}
	in.link, in.Route, in.id, in.flags = l, route, h.id, h.flags
	if err := r.meta(&head, route.Kind, h.flags, &in.Meta); err != nil {
		return err
	}
	in.TakesPairs = h.flags&flagPairs != 0 && route.Kind != EventRoute
	if h.flags&flagTimeout != 0 {
		in.arrived = r.now()
	}
	if here {
		if in.schema, in.payload, err = r.value(head.left); err != nil {
			return err
		}
		r.batch.write = true // before it is served, since the target may end this goroutine
		in.serve()
		return nil
	}
	if int(h.id&indexMask) >= l.config.Limits.Calls || !l.inbound.enter(l) { // in this order: what entered has a place to give back
		return r.refuse(in, "serves as many calls as it accepts")
	}
	in.counted = true
	in.class = classOf(route, &in.Meta)
	if l.jobs.full(in.class, in.Timeout, r.batch.jobs) {
		return r.refuse(in, l.config.Admission.TooMuch())
	}
	if in.class != admission.Critical && l.memory.Full() {
		return r.refuse(in, "holds as much for its peer as it may")
	}
	if h.flags&flagMore == 0 {
		if !l.memory.Take(len(head.left)) {
			return r.refuse(in, "holds as much as it may")
		}
		in.held = len(head.left)
		in.copied = append(in.copied[:0], head.left...)
		return r.queue(in, in.copied)
	}
	a := &assembly{key: partKey{0, h.id}, total: head.number(maxInt32), in: in, flags: h.flags}
	if head.bad {
		in.drop()
		return protocolError("the head of a request cannot be read")
	}
	if err := r.begin(a, head.left); err == errTooMuchAtOnce {
		r.batch.write = true
		in.failHere(l.refuseLarge(a.total))
		return r.checkOutgoing()
	} else if err != nil {
		in.drop()
		return err
	}
	return r.partCame(a, h.flags)
}

// classOf is the order in which a request is served. The runtime's own actions keep the cluster together, so they go first.
func classOf(route *Route, m *Meta) admission.Class {
	switch {
	case strings.HasPrefix(route.Name, "$"):
		return admission.Critical
	case m.Metadata != nil:
		return admission.ClassOf(m.Metadata[admission.MetadataKey], m.Level)
	case m.Level > 0:
		return admission.Nested
	}
	return admission.Normal
}

// meta reads the head that headOf made.
func (r *reader) meta(head *fields, kind RouteKind, flags uint8, m *Meta) error {
	if kind == EventRoute {
		m.Event = r.name(head)
	}
	if flags&flagTimeout != 0 {
		micros := head.uvarint()
		if micros > uint64(maxTimeout/time.Microsecond) {
			head.fail()
		}
		m.Timeout = time.Duration(micros) * time.Microsecond
	}
	if flags&flagNested != 0 {
		m.Level = head.number(maxInt32)
		m.Caller = r.name(head)
	}
	if flags&flagRequestID != 0 {
		m.RequestID = head.string()
	}
	if flags&flagMetadata != 0 {
		n := head.number(len(head.left))
		m.Metadata = make(map[string]string, min(n, 64))
		for range n {
			key := r.name(head)
			m.Metadata[key] = head.string()
			if head.bad {
				break
			}
		}
	}
	if kind == EventRoute && flags&flagGroups != 0 && r.link.groups {
		m.Groups = make([]string, head.number(MaxGroups))
		for i := range m.Groups {
			m.Groups[i] = r.name(head)
		}
	}
	if head.bad {
		return protocolError("the head of a request or a stream cannot be read")
	}
	return nil
}

// MaxGroups is the most groups that an event may name.
const MaxGroups = 256

const (
	maxInt32   = 1<<31 - 1
	maxTimeout = 100 * 365 * 24 * time.Hour
)

// queue gives a request with its whole value to the workers, at the end of the batch.
func (r *reader) queue(in *Inbound, value []byte) (err error) {
	if in.schema, in.payload, err = r.value(value); err != nil {
		in.drop()
		return err
	}
	if in.flags&(flagCancellable|flagTimeout) != 0 {
		r.link.inbound.add(in)
	}
	if r.batch.last == nil {
		r.batch.first = in
	} else {
		r.batch.last.next = in
	}
	r.batch.last = in
	r.batch.jobs++
	return nil
}

// refuse answers a request for which there is no place.
func (r *reader) refuse(in *Inbound, why string) error {
	in.failHere(&Failure{Code: codeResourceExhausted, Retryable: true, Name: NameTooManyCalls, Node: r.link.config.Node,
		Message: "node " + r.link.config.Node + " " + why})
	r.batch.write = true
	return r.checkOutgoing()
}

// failHere answers on the reader, which must not wait for space in the outgoing buffer, and releases in.
func (in *Inbound) failHere(f *Failure) {
	in.onReader = true
	in.Fail(f)
	in.onReader = false
	in.release()
}

// drop ends a request that cannot be answered, since the link ends: it gives back the place among those in flight, which
// other links share.
func (in *Inbound) drop() {
	in.answered = true
	in.release()
}

// checkOutgoing ends the link of a peer that makes the reader answer without reading the answers.
func (r *reader) checkOutgoing() error {
	r.link.mu.Lock()
	defer r.link.mu.Unlock()
	if len(r.link.pending) > hardMark {
		return protocolError("more than %d bytes of answers wait, which the peer does not read while it asks for more", hardMark)
	}
	return nil
}

// outgoingFull reports whether appending goroutines have to wait. What is served inline otherwise goes to the workers then,
// which can wait.
func (l *Link) outgoingFull() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) >= highWater
}
