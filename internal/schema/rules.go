package schema

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/sabir-go/sabir/internal/tag"
)

// checks is the rules of one value on their way into a schema.
type checks struct {
	place
	shape   shape
	schema  *Schema
	notZero bool // "required" or the like was among them
	refuses bool // the zero value
	fills   bool // it is a struct whose zero value gets defaults before it is checked
}

// constrain adds the rules of a tag's steps, in the order in which the checker takes them. Nothing checks what handlers answer, so of
// an output's rules only the values of "oneof" stay, which make a type in other languages.
func (b *builder) constrain(v *value, at place, sh shape, steps []tag.Step) error {
	inside := v.refusesZero // what is in a struct, when the checker comes to it
	c := &checks{place: at, shape: sh, schema: v.schema, fills: v.fillsZero}
	before := false // what refused the zero value before an omitempty
	var optional []tag.Step
	forgiven := false
walk:
	for i, s := range steps {
		switch s.Kind {
		case tag.Check:
			if b.side == Output && (len(s.Rules) != 1 || s.Rules[0].Name != "oneof") {
				continue
			}
			c.apply(s.Rules)
			if optional != nil {
				optional = append(optional, s)
			}
		case tag.Dive:
			if err := b.elements(v, at, sh, true, steps[i+1:], s.Keys); err != nil {
				return err
			}
			inside = v.refusesZero
			sh = opaque // done
			break walk
		case tag.StructOnly, tag.NoStructLevel, tag.EndKeys:
			inside = false
			break walk
		default:
			if !c.skips(s.Kind) {
				continue
			}
			forgiven = true
			if optional == nil {
				before = c.refuses
				c.finish()
				c = &checks{place: at, shape: c.shape, schema: &Schema{}, fills: c.fills}
				optional = []tag.Step{s}
			}
		}
	}
	c.finish()
	inside = inside && !forgiven
	refuses := c.refuses
	if forgiven {
		refuses = before
		c.optional(v.schema, optional)
	}
	v.refusesZero = refuses || inside
	if sh == anything && b.side == Input && refusesNil(steps) {
		v.schema.not(&Schema{Type: Types{"null"}})
		v.refusesZero = true
	}
	if b.side == Output {
		v.schema.Rules = nil
	}
	return b.elements(v, at, sh, false, nil, nil)
}

// skips reports whether the step lets some value pass without the rules after it.
func (c *checks) skips(kind tag.Kind) bool {
	if c.pointed {
		return kind == tag.OmitZero
	}
	switch c.shape {
	case list, object, binary:
		return true // nil, and "omitzero" what is empty too
	}
	return kind != tag.OmitNil
}

// optional adds to s what the rules after an omitempty demand.
func (c *checks) optional(s *Schema, steps []tag.Step) {
	if len(c.schema.Rules) > 0 {
		s.Rules = append(s.Rules, steps[0].Kind.String())
	}
	zero := c.zero(steps[0].Kind)
	if !c.refuses || zero == nil || c.nonZero {
		again := &checks{place: c.place, shape: c.shape, schema: s}
		for _, step := range steps[1:] {
			again.apply(step.Rules)
		}
		again.finish()
		return
	}
	rest := c.schema
	s.Rules, rest.Rules = append(s.Rules, rest.Rules...), nil
	only := Schema{Enum: rest.Enum, Const: rest.Const}
	switch {
	case rest.isZero():
	case reflect.DeepEqual(*rest, only) && rest.Enum != nil && zero.Const != nil && s.Enum == nil:
		s.Enum = append(rest.Enum, zero.Const)
	case reflect.DeepEqual(*rest, only) && rest.Const != nil && zero.Const != nil && s.Enum == nil:
		s.Enum = []any{rest.Const, zero.Const}
	default:
		s.either(zero, rest)
	}
}

// zero is the value that an omitempty lets pass; nil where that is none that JSON has, such as a nil slice.
func (c *checks) zero(kind tag.Kind) *Schema {
	switch c.shape {
	case text:
		return &Schema{Const: ""}
	case whole, count, float:
		return &Schema{Const: Number("0")}
	case truth:
		return &Schema{Const: false}
	case moment:
		return &Schema{Const: zeroTime}
	}
	if kind != tag.OmitZero {
		return nil
	}
	none := 0
	switch c.shape {
	case list:
		return &Schema{MaxItems: &none}
	case object:
		return &Schema{MaxProperties: &none}
	case binary:
		return &Schema{Const: ""}
	}
	return nil
}

const zeroTime = "0001-01-01T00:00:00Z"

// apply adds a rule, or several of which one has to hold.
func (c *checks) apply(rules []tag.Rule) {
	if len(rules) == 1 {
		if !c.rule(rules[0]) {
			c.schema.Rules = append(c.schema.Rules, rules[0].Raw)
		}
		return
	}
	var either []*Schema
	refuses, said := true, true
	raw := ""
	for i, r := range rules {
		one := &checks{place: c.place, shape: c.shape, schema: &Schema{}}
		said = one.rule(r) && said
		one.finish()
		refuses = refuses && one.refuses
		either = append(either, one.schema)
		if i > 0 {
			raw += "|"
		}
		raw += r.Raw
	}
	c.refuses = c.refuses || refuses
	switch {
	case !said:
		c.schema.Rules = append(c.schema.Rules, raw)
	case !slices.ContainsFunc(either, (*Schema).isZero): // or one of them always holds
		c.schema.either(either...)
	}
}

// rule adds one rule. It returns false where the schema does not express all of it.
func (c *checks) rule(r tag.Rule) (said bool) {
	switch {
	case r.Name == "required":
		return c.required()
	case c.shape == text:
		if n, ok := length(r); ok {
			c.refuses = c.refuses || !n.holds(0)
			n.tighten(&c.schema.MinLength, &c.schema.MaxLength)
			return true
		}
		if r.Name == "isdefault" {
			r.Name, r.Param = "eq", ""
		}
		return c.text(r)
	case c.shape == whole, c.shape == count, c.shape == float:
		return c.number(r)
	case c.shape == truth:
		return c.truth(r)
	case c.shape == binary:
		if n, ok := length(r); ok && r.Name != "ne" {
			c.refuses = c.refuses || !n.holds(0)
			n.inBase64().tighten(&c.schema.MinLength, &c.schema.MaxLength)
		}
		return false
	case c.shape == list:
		if r.Name == "unique" && r.Param == "" {
			c.schema.UniqueItems = true
			return true
		}
		return c.amount(r, func(s *Schema) (least, most **int) { return &s.MinItems, &s.MaxItems })
	case c.shape == object:
		return c.amount(r, func(s *Schema) (least, most **int) { return &s.MinProperties, &s.MaxProperties })
	case c.shape == fixed:
		_, always := size(r) // the length is part of the type
		if r.Name == "unique" && r.Param == "" {
			c.schema.UniqueItems, always = true, true
			c.refuses = c.refuses || c.typ.Len() > 1
		}
		return always
	}
	return false
}

// required adds that the value is not the zero value, as far as it can be.
func (c *checks) required() (said bool) {
	if c.pointed {
		return true // that it is not nil is expressed by what points to it
	}
	c.refuses = !c.fills
	switch c.shape {
	case text:
		one := 1
		limits{min: &one}.tighten(&c.schema.MinLength, &c.schema.MaxLength)
	case whole, count, float:
		c.notZero = true
	case truth:
		c.schema.constant(true)
	case moment:
		c.schema.not(&Schema{Const: zeroTime})
	case binary, list, object, anything:
	default:
		return false
	}
	return true
}

func (c *checks) truth(r tag.Rule) (said bool) {
	want, err := strconv.ParseBool(r.Param)
	switch {
	case r.Name == "isdefault":
		want = false
	case err != nil || r.Name != "eq" && r.Name != "ne":
		return r.Name == "boolean"
	case r.Name == "ne":
		want = !want
	}
	c.refuses = c.refuses || want
	c.schema.constant(want)
	return true
}

// amount limits how many elements or members there are, in the keywords that of points to.
func (c *checks) amount(r tag.Rule, of func(*Schema) (least, most **int)) (said bool) {
	n, ok := size(r)
	if !ok {
		return false
	}
	c.refuses = c.refuses || !n.holds(0)
	s := c.schema
	if n.not {
		s = new(Schema)
	}
	n.tighten(of(s))
	if n.not {
		c.schema.not(s)
	}
	return true
}
