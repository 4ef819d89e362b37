package typescript

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
)

// side is the direction in which values of a type travel. It decides what TypeScript accepts for them.
type side uint8

const (
	input side = iota
	output
)

// named is a type with a name of its own.
type named struct {
	def    string // its name in api.Types
	schema *schema.Schema
	used   [2]bool   // by side
	name   [2]string // by side; the same twice where the forms do not differ
	reads  bool      // whether its output needs a reader
}

// action is an action with the names of its types.
type action struct {
	api.Action
	pascal string // "UsersGet"
	camel  string // "usersGet", its function
	errors []*declared
	get    *route.Route // the GET form; nil for none
}

// declared is an error that actions declare they may end with.
type declared struct {
	api.Error
	name string // of its interface
	data string // of the type of its data; "" for a reference or none
}

// collect finds out which types are used which way, and gives everything its name.
func (m *module) collect() error {
	for _, def := range slices.Sorted(maps.Keys(m.api.Types)) {
		s := m.api.Types[def]
		if s == nil {
			s = &schema.Schema{} // null in a description, which has no meaning
		}
		m.types[def] = &named{def: def, schema: s}
	}
	for _, a := range m.api.Actions {
		if err := m.use(a.In, input, a.Name); err != nil {
			return err
		}
		if err := m.use(a.Out, output, a.Name); err != nil {
			return err
		}
		for _, e := range a.Errors {
			if err := m.use(e.Data, output, a.Name); err != nil {
				return err
			}
		}
	}
	m.nameTypes()
	for _, a := range m.api.Actions {
		one := &action{Action: a, get: m.getRoute(a)}
		one.pascal, one.camel = m.names.forAction(pascal(a.Name))
		m.actions = append(m.actions, one)
	}
	for _, a := range m.actions {
		for _, e := range a.Errors {
			a.errors = append(a.errors, m.declare(a, e))
		}
	}
	return nil
}

// use notes that a schema, and what it refers to, is used by a side.
func (m *module) use(s *schema.Schema, by side, where string) error {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		t, err := m.lookup(s.Ref)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		if t.used[by] {
			return nil
		}
		t.used[by] = true
		return m.use(t.schema, by, t.def)
	}
	for _, part := range parts(s) {
		if err := m.use(part, by, where); err != nil {
			return err
		}
	}
	return nil
}

func (m *module) lookup(ref string) (*named, error) {
	def, ok := strings.CutPrefix(ref, "#/$defs/")
	if t := m.types[def]; ok && t != nil && t.schema != nil {
		return t, nil
	}
	return nil, fmt.Errorf("the API has no type %q", ref)
}

// parts are the schemas inside of one that values of other types come under.
func parts(s *schema.Schema) []*schema.Schema {
	var list []*schema.Schema
	for _, p := range s.Properties {
		list = append(list, p.Schema)
	}
	for _, one := range []*schema.Schema{s.Items, s.AdditionalProperties} {
		if one != nil {
			list = append(list, one)
		}
	}
	for i := range s.AnyOf {
		list = append(list, &s.AnyOf[i])
	}
	for i := range s.AllOf {
		list = append(list, &s.AllOf[i])
	}
	return list
}

// nameTypes gives the types names, two where a type that goes both ways is not the same for both.
func (m *module) nameTypes() {
	all := slices.Sorted(maps.Keys(m.types))
	differ := m.closure(func(s *schema.Schema) bool { return s.Format == "date-time" })
	reads := m.closure(func(s *schema.Schema) bool { return primitiveReader(s) != "" })
	for _, def := range all {
		t := m.types[def]
		t.reads = reads[def]
		name := m.names.unique(pascal(def))
		t.name = [2]string{input: name, output: name}
		if t.used[input] && t.used[output] && differ[def] {
			t.name[input] = m.names.unique(pascal(def) + "Input")
		}
	}
}

// closure is the types of which some part, or a type they refer to, has a property.
func (m *module) closure(has func(*schema.Schema) bool) map[string]bool {
	found := map[string]bool{}
	var in func(s *schema.Schema) bool
	in = func(s *schema.Schema) bool {
		if s.Ref != "" {
			return found[strings.TrimPrefix(s.Ref, "#/$defs/")]
		}
		return has(s) || slices.ContainsFunc(parts(s), in)
	}
	for changed := true; changed; {
		changed = false
		for def, t := range m.types {
			if t.schema != nil && !found[def] && in(t.schema) {
				found[def], changed = true, true
			}
		}
	}
	return found
}

// declare finds the error among those of other actions, or adds it.
func (m *module) declare(a *action, e api.Error) *declared {
	for _, known := range m.errors {
		if reflect.DeepEqual(known.Error, e) {
			return known
		}
	}
	one := &declared{Error: e}
	wanted := pascal(e.Name)
	if !strings.HasSuffix(wanted, "Error") {
		wanted += "Error"
	}
	if m.names.taken[wanted] {
		wanted = a.pascal + wanted
	}
	one.name = m.names.unique(wanted)
	if e.Data != nil && e.Data.Ref == "" {
		one.data = m.names.unique(one.name + "Data")
	}
	m.errors = append(m.errors, one)
	return one
}

// resolve follows references; nil for none.
func (m *module) resolve(s *schema.Schema) *schema.Schema {
	for range 64 { // a reference to itself has no end
		if s == nil || s.Ref == "" {
			return s
		}
		t, err := m.lookup(s.Ref)
		if err != nil {
			return nil
		}
		s = t.schema
	}
	return nil
}

// getRoute is the GET form of an action that has a place for every member of its input, and none in a cookie, which browsers
// do not let a program send.
func (m *module) getRoute(a api.Action) *route.Route {
	if a.Stream {
		return nil
	}
	in := m.resolve(a.In)
	for i := range a.Routes {
		r := &a.Routes[i]
		if r.Method != "GET" || slices.ContainsFunc(r.Params, func(p route.Param) bool { return p.In == route.Cookie }) {
			continue
		}
		placed := func(name string) bool {
			return slices.ContainsFunc(r.Params, func(p route.Param) bool { return p.Field == name })
		}
		if in == nil || !slices.ContainsFunc(in.Properties, func(p schema.Property) bool { return !placed(p.Name) }) {
			return r
		}
	}
	return nil
}
