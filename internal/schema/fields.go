package schema

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/sabir-go/sabir/internal/layout"
	"github.com/sabir-go/sabir/internal/tag"
)

// member is a field that becomes a member of the object.
type member struct {
	layout.Member
	skipped bool // the checker does not look at it
}

// members adds the members of a struct to its schema. It reports what becomes of the zero value: whether it is refused, and whether a
// default changes it before it is checked.
func (b *builder) members(s *Schema, t reflect.Type, skipped bool) (zero zeroValue, err error) {
	visible, _ := layout.JSON.Members(t)
	var described []member
	for _, one := range visible {
		m := member{one, skipped || slices.ContainsFunc(one.Through, unchecked)}
		if m.Has("embed") {
			if err := b.rest(s, m); err != nil {
				return zero, fmt.Errorf("field %s: %w", m.StructField.Name, err)
			}
			continue
		}
		v, err := b.member(m)
		if err != nil {
			return zero, fmt.Errorf("field %s: %w", m.StructField.Name, err)
		}
		_, own := m.Tag.Lookup("default")
		required := v.refusesZero && !own && !m.ByPointer()
		zero.refusesZero = zero.refusesZero || required
		zero.fillsZero = zero.fillsZero || (own || v.fillsZero) && !m.ByPointer()
		if b.side == Output {
			required = !m.omitted() && !m.ByPointer()
		}
		if required {
			s.Required = append(s.Required, m.Name)
		}
		s.Properties = append(s.Properties, Property{m.Name, v.schema})
		described = append(described, m)
	}
	b.protoFields(s, t, described)
	return zero, nil
}

// member describes one field.
func (b *builder) member(m member) (value, error) {
	text := m.Tag.Get("validate")
	var steps []tag.Step
	if !m.skipped {
		steps = tag.Parse(text, nil)
	}
	at := place{typ: m.Type, quoted: m.Has("string"), nonZero: m.omitted(), skipped: m.skipped || text == "-"}
	v, err := b.value(at, steps)
	if err != nil {
		return v, err
	}
	if m.omitted() {
		v.null = false
	}
	if v.schema = b.orNull(v); !v.null {
		present(v.schema, m.Type)
	}
	return v, b.annotate(v.schema, m)
}

// rest is a map with the option "embed": members that have no field of their own.
func (b *builder) rest(s *Schema, m member) error {
	t := m.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s.AdditionalProperties = &Schema{}
	if t.Kind() != reflect.Map {
		return nil
	}
	v, err := b.value(place{typ: t.Elem()}, nil)
	if err == nil {
		s.AdditionalProperties = b.orNull(v)
	}
	return err
}

// unchecked reports whether the checker does not look into an embedded struct.
func unchecked(f reflect.StructField) bool {
	text := f.Tag.Get("validate")
	return text == "-" || slices.ContainsFunc(tag.Parse(text, nil), func(s tag.Step) bool { return s.Kind == tag.StructOnly || s.Kind == tag.NoStructLevel })
}

// omitted reports whether the field is left out when it is zero, or in the words of encoding/json empty.
func (m member) omitted() bool {
	if m.Has("omitzero") {
		return true
	}
	switch m.Type.Kind() {
	case reflect.Struct:
		return false
	case reflect.Array:
		return m.Has("omitempty") && m.Type.Len() == 0
	}
	return m.Has("omitempty")
}
