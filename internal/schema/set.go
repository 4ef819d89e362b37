package schema

import (
	"fmt"
	"reflect"

	"github.com/sabir-go/sabir/codec"
)

// Side is the direction in which values of a type travel. It decides which fields are required.
type Side uint8

// The sides.
const (
	Input Side = iota
	Output
)

// String is "input" or "output".
func (s Side) String() string { return [...]string{"input", "output"}[min(s, Output)] }

// Set is several schemas that share the named types they use. Its zero value is ready. It is not safe for concurrent use.
type Set struct {
	// Defs has a schema for each named struct type that any of the others refers to, by its short name: "User", or
	// "PageUser" for Page[User]. Where two packages have types of one name, the later one's is "billing.User".
	Defs map[string]*Schema `json:"$defs,omitempty"`

	types     map[reflect.Type]*named
	taken     map[string]bool
	recursive map[reflect.Type]bool // of types that are no structs: whether they contain themselves
	listing   map[reflect.Type]bool // structs whose fields in Protocol Buffers are being listed
	pending   []*named              // both sides are there, and whether they are the same is open
}

// named is a type with an entry in Defs.
type named struct {
	typ       reflect.Type
	name      string
	inputName string // of the input where it differs from the output, and both are there
	sides     [2]*variant
	differ    bool // input and output
	err       error
	users     []*named
}

// variant is a named type as an input or as an output.
type variant struct {
	schema *Schema
	zeroValue
	refs []*Schema // that refer to it, to be updated when its name changes
	uses []*named
}

const refPrefix = "#/$defs/"

// Ref is the reference to the entry of Defs called name.
func Ref(name string) string { return refPrefix + name }

// Of describes a type, and adds to Defs the named types that it refers to. It returns nil for nil.
//
// The names in Defs, and the references to them in schemas that were returned before, are final when the last type is in:
// "User" may yet become "UserInput". So add all types first, read then. The schema belongs to the caller but for that.
//
// It fails for a type that has no JSON form, such as a channel, and for an example or default that its field cannot hold.
// Where a JSONSchema method panics the error is a [codec.PanicError]. After an error the set may hold parts of the type: use it
// no more, but to find out which other types fail.
func (s *Set) Of(t reflect.Type, side Side) (_ *Schema, err error) {
	defer codec.Contain("schema", &err)
	if t == nil {
		return nil, nil
	}
	if s.types == nil {
		s.Defs = make(map[string]*Schema)
		s.types = make(map[reflect.Type]*named)
		s.taken = make(map[string]bool)
		s.recursive = make(map[reflect.Type]bool)
	}
	b := builder{set: s, side: side}
	v, err := b.value(place{typ: t}, nil)
	if err != nil {
		return nil, fmt.Errorf("schema: %v: %w", t, err)
	}
	s.settle()
	return b.orNull(v), nil
}

// settle decides for the types that now have both sides whether these differ, and gives them their names. All that such
// types refer to has both sides too.
func (s *Set) settle() {
	var differing []*named
	for _, n := range s.pending {
		in, out := n.sides[Input], n.sides[Output]
		for _, used := range append(in.uses, out.uses...) {
			used.users = append(used.users, n)
		}
		if !reflect.DeepEqual(in.schema, out.schema) {
			n.differ = true
			differing = append(differing, n)
		}
	}
	for len(differing) > 0 { // a type that uses one that differs, differs too
		last := differing[len(differing)-1]
		differing = differing[:len(differing)-1]
		for _, user := range last.users {
			if !user.differ {
				user.differ = true
				differing = append(differing, user)
			}
		}
	}
	for _, n := range s.pending {
		in, out := n.sides[Input], n.sides[Output]
		s.Defs[n.name] = out.schema
		if !n.differ {
			continue
		}
		n.inputName = s.claim(n.name + "Input")
		s.Defs[n.inputName] = in.schema
		for _, ref := range in.refs {
			ref.Ref = Ref(n.inputName)
		}
		in.refs = nil
	}
	s.pending = nil
}

// refer is a reference to the side's variant of n.
func (s *Set) refer(n *named, side Side) *Schema {
	if n.inputName != "" && side == Input {
		return &Schema{Ref: Ref(n.inputName)}
	}
	ref := &Schema{Ref: Ref(n.name)}
	s.follow(n, side, ref)
	return ref
}

// follow makes ref change with the name of what it refers to.
func (s *Set) follow(n *named, side Side, ref *Schema) {
	if v := n.sides[side]; side == Input && n.inputName == "" {
		v.refs = append(v.refs, ref)
	}
}
