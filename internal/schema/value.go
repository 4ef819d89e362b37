package schema

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/sabir-go/sabir/internal/tag"
)

// builder describes types as they are on one side.
type builder struct {
	set   *Set
	side  Side
	owner *variant // whose schema is being made; nil for what no named type contains
}

// place is the position of a value.
type place struct {
	typ     reflect.Type
	pointed bool // a pointer points to it: then its zero value counts as a value
	quoted  bool // the json tag has "string"
	nonZero bool // the zero value is left out when it is written
	skipped bool // the checker does not look into it
}

// value is the schema of one value in a document, with its properties there.
type value struct {
	schema *Schema
	named  *named // which schema refers to; nil for others
	null   bool   // may be null
	zeroValue
}

// zeroValue holds what follows from a value that is left out, so that a validator of a client decides as the node does.
type zeroValue struct {
	refusesZero bool // it does not pass the rules, so it cannot be left out
	fillsZero   bool // it is a struct of which a field has a default, so it is not zero when it is checked
}

// value describes a type with rules.
func (b *builder) value(at place, steps []tag.Step) (value, error) {
	t := at.typ
	if t.Kind() == reflect.Pointer {
		if t.Name() != "" && leadsTo(t, t, make(map[reflect.Type]bool)) {
			return value{}, fmt.Errorf("%v has no JSON form: it points to itself", t)
		}
		return b.pointer(at, steps)
	}
	if name := t.Name(); name != "" && (t.Kind() == reflect.Struct && !b.isPlain(t) || b.set.isRecursive(t)) {
		return b.namedType(at, steps)
	}
	s, sh, err := b.form(t)
	if err != nil {
		return value{}, err
	}
	own := sh == opaque
	if at.quoted {
		if s, err = quoted(s, sh); err != nil {
			return value{}, err
		}
		sh = opaque
	}
	if s.ProtoType = protoType(t, own || at.quoted); s.ProtoType == "string" && slices.Equal(s.Type, Types{"string"}) && !at.quoted {
		s.ProtoType = ""
	}
	v := value{schema: s}
	if own {
		b.ownFields(s, t)
	}
	if sh == record {
		if v.zeroValue, err = b.members(s, t, at.skipped); err != nil {
			return value{}, err
		}
	}
	v.null = sh == anything
	return v, b.constrain(&v, at, sh, steps)
}

// isPlain reports whether a struct type has a form of its own, which needs no name.
func (b *builder) isPlain(t reflect.Type) bool {
	_, _, own := b.ownForm(t)
	return own && !has(t, ownType)
}

// pointer describes what t points to. Whether nil passes is decided by the first step.
func (b *builder) pointer(at place, steps []tag.Step) (value, error) {
	inner := at
	inner.typ, inner.pointed, inner.nonZero = at.typ.Elem(), true, false
	v, err := b.value(inner, steps)
	v.zeroValue = zeroValue{refusesZero: b.side == Input && refusesNil(steps)}
	v.null = !v.refusesZero
	return v, err
}

// refusesNil reports whether the checker certainly refuses a nil pointer or interface: it looks at the first step only, and
// whether it lets a rule that looks at other fields run on nil is the rule's business.
func refusesNil(steps []tag.Step) bool {
	if len(steps) == 0 {
		return false
	}
	first := steps[0]
	return first.Kind == tag.Dive || first.Kind == tag.StructOnly || first.Kind == tag.Check && first.Rules[0].Raw != "isdefault" && (tag.Single(first.Rules[0].Name) || tag.Across(first.Rules[0].Name))
}

// namedType refers to a type with an entry in the set, which it makes where there is none.
func (b *builder) namedType(at place, steps []tag.Step) (value, error) {
	n := b.set.types[at.typ]
	if n == nil {
		n = &named{typ: at.typ, name: b.set.nameFor(at.typ)}
		b.set.types[at.typ] = n
	}
	if n.sides[b.side] == nil && n.err == nil {
		n.err = b.define(n)
	}
	if n.err != nil {
		return value{}, n.err
	}
	if b.owner != nil {
		b.owner.uses = append(b.owner.uses, n)
	}
	v := value{schema: b.set.refer(n, b.side), named: n}
	if !at.pointed {
		v.fillsZero = n.sides[b.side].fillsZero
		v.refusesZero = n.sides[b.side].refusesZero && !at.skipped
	}
	sh := opaque
	if at.typ.Kind() == reflect.Struct {
		sh = record
	}
	return v, b.constrain(&v, at, sh, steps)
}

// define makes the side's variant of a named type.
func (b *builder) define(n *named) error {
	t := n.typ
	v := &variant{schema: &Schema{}}
	n.sides[b.side] = v
	if n.sides[1-b.side] != nil {
		b.set.pending = append(b.set.pending, n)
	} else {
		b.set.Defs[n.name] = v.schema
	}
	inner := builder{set: b.set, side: b.side, owner: v}
	s, sh, err := inner.form(t)
	if err != nil {
		return err
	}
	*v.schema = *s
	v.schema.GoType = goName(t)
	if t.Kind() == reflect.Struct {
		v.schema.ProtoType = protoType(t, false)
	}
	if sh == opaque {
		inner.ownFields(v.schema, t)
	}
	if sh == record {
		v.zeroValue, err = inner.members(v.schema, t, false)
		return err
	}
	made := value{schema: v.schema}
	return inner.elements(&made, place{typ: t}, sh, false, nil, nil)
}

// isRecursive reports whether a named type that is no struct contains itself without a named struct between, as
// "type Tree []Tree" does.
func (s *Set) isRecursive(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
	default:
		return false
	}
	known, ok := s.recursive[t]
	if !ok {
		known = leadsTo(t, t, make(map[reflect.Type]bool))
		s.recursive[t] = known
	}
	return known
}

func leadsTo(from, to reflect.Type, seen map[reflect.Type]bool) bool {
	var parts []reflect.Type
	switch from.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer:
		parts = append(parts, from.Elem())
	case reflect.Struct:
		if from.Name() == "" {
			for f := range from.Fields() {
				parts = append(parts, f.Type)
			}
		}
	}
	for _, part := range parts {
		if part == to {
			return true
		}
		if !seen[part] {
			seen[part] = true
			if leadsTo(part, to, seen) {
				return true
			}
		}
	}
	return false
}

// orNull is the schema of a value where nothing keeps null out.
func (b *builder) orNull(v value) *Schema {
	s := v.schema
	switch {
	case !v.null, s.Ref == "" && len(s.Type) == 0:
		return s
	case v.named != nil && s.Ref != "":
		either := &Schema{AnyOf: []Schema{*s, {Type: Types{"null"}}}}
		b.set.follow(v.named, b.side, &either.AnyOf[0])
		return either
	case s.Ref != "", s.AnyOf != nil, s.AllOf != nil, s.Not != nil:
		return &Schema{AnyOf: []Schema{*s, {Type: Types{"null"}}}}
	}
	s.Type = append(slices.Clip(s.Type), "null")
	if s.Const != nil {
		s.Enum, s.Const = []any{s.Const}, nil
	}
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}

// elements adds to a list, an array or a map what it contains. The steps are those after the dive, if there was one.
func (b *builder) elements(v *value, at place, sh shape, dived bool, steps, keys []tag.Step) error {
	if sh != list && sh != fixed && sh != object {
		return nil
	}
	made, err := b.value(place{typ: at.typ.Elem()}, steps)
	if err != nil {
		return err
	}
	v.refusesZero = v.refusesZero || made.refusesZero && dived && sh == fixed && at.typ.Len() > 0 && !at.pointed
	inner := b.orNull(made)
	if sh != object {
		v.schema.Items = inner
		return nil
	}
	v.schema.AdditionalProperties, v.schema.ProtoType = inner, protoKey(at.typ.Key())
	if len(keys) == 0 {
		return nil
	}
	key, err := b.value(place{typ: at.typ.Key()}, keys)
	if err != nil || at.typ.Key().Kind() != reflect.String {
		return err
	}
	key.schema.Type, key.schema.ProtoType = nil, "" // names are texts
	v.schema.PropertyNames = key.schema
	return nil
}
