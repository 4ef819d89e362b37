package schema

import (
	"iter"
	"slices"
	"strings"
)

// RefName is the name in Defs that the schema refers to; "" where it refers to none.
func (s *Schema) RefName() string {
	name, ok := strings.CutPrefix(s.Ref, refPrefix)
	if !ok {
		return ""
	}
	return name
}

// All is the schema and all that lie in it, each before those in it. References are not followed.
func (s *Schema) All() iter.Seq[*Schema] {
	return func(yield func(*Schema) bool) { s.walk(yield) }
}

func (s *Schema) walk(yield func(*Schema) bool) bool {
	if !yield(s) {
		return false
	}
	for inner := range s.inside() {
		if !inner.walk(yield) {
			return false
		}
	}
	return true
}

// inside is the schemas right inside this one.
func (s *Schema) inside() iter.Seq[*Schema] {
	return func(yield func(*Schema) bool) {
		for i := range s.AnyOf {
			if !yield(&s.AnyOf[i]) {
				return
			}
		}
		for i := range s.AllOf {
			if !yield(&s.AllOf[i]) {
				return
			}
		}
		for _, list := range []Properties{s.Properties, s.ProtoFields} {
			for i := range list {
				if list[i].Schema != nil && !yield(list[i].Schema) {
					return
				}
			}
		}
		for _, one := range []*Schema{s.Not, s.AdditionalProperties, s.PropertyNames, s.Items} {
			if one != nil && !yield(one) {
				return
			}
		}
	}
}

// Clone is a copy that shares no schema with the original. Limits, and values in Enum and the like, which nothing changes,
// are shared.
func (s *Schema) Clone() *Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.AnyOf, c.AllOf = cloneList(s.AnyOf), cloneList(s.AllOf)
	c.Not, c.Items = s.Not.Clone(), s.Items.Clone()
	c.AdditionalProperties, c.PropertyNames = s.AdditionalProperties.Clone(), s.PropertyNames.Clone()
	c.Properties, c.ProtoFields = s.Properties.clone(), s.ProtoFields.clone()
	return &c
}

func (p Properties) clone() Properties {
	c := slices.Clone(p)
	for i := range c {
		c[i].Schema = c[i].Schema.Clone()
	}
	return c
}

func cloneList(list []Schema) []Schema {
	var c []Schema
	for i := range list {
		c = append(c, *list[i].Clone())
	}
	return c
}

// Nullable reports whether null is allowed beside something else, and gives the schema without it: the same one where null
// stands in Type, and what is left of AnyOf where it stands there.
func (s *Schema) Nullable() (rest *Schema, nullable bool) {
	isNull := func(one Schema) bool { return slices.Equal(one.Type, Types{"null"}) }
	switch {
	case len(s.Type) > 1 && slices.Contains(s.Type, "null"):
		c := *s
		c.Type = slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
		if c.Enum != nil {
			c.Enum = slices.DeleteFunc(slices.Clone(s.Enum), func(v any) bool { return v == nil })
		}
		return &c, true
	case len(s.Type) == 0 && len(s.AnyOf) > 1 && slices.ContainsFunc(s.AnyOf, isNull):
		left := slices.DeleteFunc(slices.Clone(s.AnyOf), isNull)
		if len(left) == 1 {
			return &left[0], true
		}
		c := *s
		c.AnyOf = left
		return &c, true
	}
	return s, false
}

// missing stands for what a reference that leads nowhere refers to, and allows everything. There is one of it, so that pairs with it
// are recognized.
var missing = &Schema{}

// Resolve follows references to the named types, and is a schema that allows everything where one leads nowhere.
func (s *Schema) Resolve(types map[string]*Schema) *Schema {
	for range len(types) + 1 {
		name := s.RefName()
		if name == "" {
			return s
		}
		if types[name] == nil {
			return missing
		}
		s = types[name]
	}
	return missing // it refers to itself and to nothing else
}
