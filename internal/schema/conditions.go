package schema

import "slices"

// The methods here add a condition to those that a schema has. A keyword that is taken goes into allOf.

func (s *Schema) also(more Schema) { s.AllOf = append(s.AllOf, more) }

func (s *Schema) pattern(p string) {
	if s.Pattern != "" {
		s.also(Schema{Pattern: p})
		return
	}
	s.Pattern = p
}

func (s *Schema) format(f string) {
	if s.Format != "" {
		s.also(Schema{Format: f})
		return
	}
	s.Format = f
}

func (s *Schema) not(n *Schema) {
	if s.Not != nil {
		s.also(Schema{Not: n})
		return
	}
	s.Not = n
}

func (s *Schema) constant(v any) {
	if s.Const != nil {
		s.also(Schema{Const: v})
		return
	}
	s.Const = v
}

func (s *Schema) enum(list []any) {
	switch {
	case len(list) == 0:
		s.not(&Schema{})
	case s.Enum != nil:
		s.also(Schema{Enum: list})
	default:
		s.Enum = list
	}
}

// oneOf allows some texts, and reports whether "" is among them.
func (s *Schema) oneOf(list []string) (empty bool) {
	s.enum(texts(list))
	return contains(list, "")
}

func (s *Schema) either(some ...*Schema) {
	var list []Schema
	for _, one := range some {
		list = append(list, *one)
	}
	if s.AnyOf != nil {
		s.also(Schema{AnyOf: list})
		return
	}
	s.AnyOf = list
}

func texts(list []string) (values []any) {
	for _, text := range list {
		if !slices.Contains(values, any(text)) {
			values = append(values, text)
		}
	}
	return values
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }
