package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/validate/tag"
)

// member is a field that becomes a member of the object, before it is known whether another one hides it.
type member struct {
	reflect.StructField
	name    string
	options string // of the json tag, each with a comma before and after it
	depth   int    // how many embedded structs it came through
	tagged  bool   // a tag gave the name
	absent  bool   // it came through an embedded pointer
	skipped bool   // the checker does not look at it
}

// members adds the members of a struct to its schema. It tells whether the zero value is refused.
func (b *builder) members(s *Schema, t reflect.Type, skipped bool) (refusesZero bool, err error) {
	for _, m := range visible(b.collect(nil, t, member{skipped: skipped}, nil)) {
		if m.has("embed") {
			if err := b.rest(s, m); err != nil {
				return false, fmt.Errorf("field %s: %w", m.Name, err)
			}
			continue
		}
		v, err := b.member(m)
		if err != nil {
			return false, fmt.Errorf("field %s: %w", m.Name, err)
		}
		required := v.refusesZero && !m.absent
		refusesZero = refusesZero || required
		if b.side == Output {
			required = !m.omitted() && !m.absent
		}
		if required {
			s.Required = append(s.Required, m.name)
		}
		s.Properties = append(s.Properties, Property{m.name, v.schema})
	}
	return refusesZero, nil
}

// member describes one field.
func (b *builder) member(m member) (value, error) {
	text := m.Tag.Get("validate")
	var steps []tag.Step
	if !m.skipped {
		steps = tag.Parse(text, nil)
	}
	at := place{typ: m.Type, quoted: m.has("string"), nonZero: m.omitted(), skipped: m.skipped || text == "-"}
	v, err := b.value(at, steps)
	if err != nil {
		return v, err
	}
	if m.omitted() {
		v.null = false
	}
	v.schema = b.orNull(v)
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

func (m member) has(option string) bool { return strings.Contains(m.options, ","+option+",") }

// omitted tells whether the field is left out when it is zero, or in the words of encoding/json empty.
func (m member) omitted() bool {
	if m.has("omitzero") {
		return true
	}
	switch m.Type.Kind() {
	case reflect.Struct:
		return false
	case reflect.Array:
		return m.has("omitempty") && m.Type.Len() == 0
	}
	return m.has("omitempty")
}

// collect lists the fields of t and of what it embeds, in their order. The way is the types that it came through.
func (b *builder) collect(all []member, t reflect.Type, from member, way []reflect.Type) []member {
	if slices.Contains(way, t) {
		return all
	}
	way = append(way[:len(way):len(way)], t)
	for f := range t.Fields() {
		text := f.Tag.Get("json")
		if text == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(text, ",")
		m := member{StructField: f, name: name, options: "," + options + ",", depth: from.depth, tagged: name != "", absent: from.absent, skipped: from.skipped}
		if name == "" {
			m.name = f.Name
		} else if quoted, ok := strings.CutPrefix(name, "'"); ok {
			m.name = strings.TrimSuffix(quoted, "'")
		}
		inner, pointer := f.Type, false
		if inner.Kind() == reflect.Pointer && inner.Name() == "" {
			inner, pointer = inner.Elem(), true
		}
		if (f.Anonymous && name == "" || m.has("embed")) && inner.Kind() == reflect.Struct && !b.isPlain(inner) {
			m.depth++
			m.absent = m.absent || pointer
			validate := f.Tag.Get("validate")
			m.skipped = m.skipped || validate == "-" || slices.ContainsFunc(tag.Parse(validate, nil), func(s tag.Step) bool { return s.Kind == tag.StructOnly || s.Kind == tag.NoStructLevel })
			all = b.collect(all, inner, m, way)
			continue
		}
		if f.IsExported() {
			all = append(all, m)
		}
	}
	return all
}

// visible drops the fields that others of the same name hide: those deeper inside, then those without a tag. Of several
// that no rule tells apart none is left.
func visible(all []member) []member {
	groups := make(map[string][]int, len(all))
	for i, m := range all {
		groups[m.name] = append(groups[m.name], i)
	}
	var kept []member
	for i, m := range all {
		best := true
		for _, j := range groups[m.name] {
			best = best && (i == j || m.hides(all[j]))
		}
		if best {
			kept = append(kept, m)
		}
	}
	return kept
}

func (m member) hides(other member) bool {
	if m.depth != other.depth {
		return m.depth < other.depth
	}
	return m.tagged && !other.tagged
}
