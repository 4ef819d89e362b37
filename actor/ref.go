package actor

import (
	"context"
	"errors"
	"unique"
	"unsafe"
)

// Ref is a reference to a process whose state is S. The compiler checks what Tell and Ask send through it:
//
//	ref, err := actor.Spawn(system, counter, 40)
//	err = actor.Tell(system, ref, (*Counter).Add, Add{2})
//	total, err := actor.Ask(ctx, system, ref, (*Counter).Total, Total{})
//
// A message of another type, a pointer to one, and a method of another state do not compile. Spawn returns a Ref, RefTo makes one
// for a PID, a Name or an Alias. It is an Address too, so Send, Call, Kill and the others take it. Refs are comparable and as
// small as a PID. One of a PID may be sent in messages; a Name or an Alias is sent as itself.
type Ref[S any] struct{ pid PID } // a placeholder if it was made from a Name or an Alias, even of this node

// RefTo makes a Ref of an address that is known to belong to a process with state S, such as a name:
//
//	visits := actor.RefTo[Counter](actor.Name{Name: "visits"})
//
// A Name is looked up each time, so the Ref reaches whichever process has the name then. That the process has state S is not
// checked here; if it has another, Tell and Ask report ErrNotHandled.
func RefTo[S any, A Address](to A) Ref[S] {
	switch a := any(to).(type) {
	case PID:
		return Ref[S]{a}
	case Name:
		return Ref[S]{placeholder(a)}
	case Alias:
		if a.number == 0 {
			return Ref[S]{}
		}
		return Ref[S]{aliasPlaceholder(a)}
	}
	return Ref[S]{refPID(&to)}
}

// Tell is Send with types that the compiler checks: handler is the method of S that handles the message. It is used for its
// types only and not called here; the process finds its handler by the type of the message, as with Send. What Send says about
// order and errors holds for Tell.
func Tell[S, M any](from Sender, to Ref[S], handler func(*S, *Process, M) error, message M) error {
	return Send(from, to.pid, message) // push resolves a placeholder: that costs nothing where there is none
}

// Ask is Call with types that the compiler checks: handler is the method of S that answers. It is used for its types only and
// not called here. What Call says about contexts and errors holds for Ask.
func Ask[S, In, Out any](ctx context.Context, from Sender, to Ref[S], handler func(*S, *Process, In) (Out, error), in In) (Out, error) {
	return Call[Out](ctx, from, to, in)
}

// PID returns the PID of the process; the zero PID if the Ref was made from a Name or an Alias.
func (r Ref[S]) PID() PID {
	if r.pid.isPlaceholder() {
		return PID{}
	}
	return r.pid
}

// String returns the PID, or the name, as text.
func (r Ref[S]) String() string {
	if !r.pid.isPlaceholder() {
		return r.pid.String()
	}
	if h := r.pid.home.Value(); h.name != "" {
		return Name{h.name, h.node}.String()
	}
	return "an alias of " + r.pid.Node()
}

// errRefOfName is the error for a Ref of a Name or an Alias in a message.
var errRefOfName = errors.New("actor: a Ref made from a Name or an Alias is not written: send the Name or the Alias itself")

// MarshalText returns the text form of the PID. A Ref that was made from a Name or an Alias has none.
func (r Ref[S]) MarshalText() ([]byte, error) {
	if r.pid.isPlaceholder() {
		return nil, errRefOfName
	}
	return r.pid.MarshalText()
}

// UnmarshalText reads what MarshalText wrote.
func (r *Ref[S]) UnmarshalText(text []byte) error { return r.pid.UnmarshalText(text) }

// MarshalBinary returns the wire form of the PID. A Ref that was made from a Name or an Alias has none.
func (r Ref[S]) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }

// AppendBinary appends what MarshalBinary returns.
func (r Ref[S]) AppendBinary(dst []byte) ([]byte, error) {
	if r.pid.isPlaceholder() {
		return dst, errRefOfName
	}
	return r.pid.AppendBinary(dst)
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (r *Ref[S]) UnmarshalBinary(data []byte) error { return r.pid.UnmarshalBinary(data) }

// refPID returns the PID in an address that is a Ref. A type parameter cannot be converted to a Ref of an unknown state; all
// Refs are a PID in memory.
func refPID[A Address](to *A) PID { return *(*PID)(unsafe.Pointer(to)) }

// resolveRef returns the process that a Ref leads to, or a placeholder if that belongs to another node.
func resolveRef(s *System, pid PID) (PID, error) {
	if pid.home == s.home || pid.id != placeholderID {
		return pid, nil
	}
	h := pid.home.Value()
	if h.alias == 0 && (h.node == "" || h.node == s.nodeName()) {
		return resolveName(s, Name{Name: h.name})
	}
	if h.alias != 0 {
		a := Alias{number: h.alias}
		h.alias = 0
		if a.home = unique.Make(h); a.home == s.home {
			return resolveAlias(s, a)
		}
	}
	return pid, nil
}
