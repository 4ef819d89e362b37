package api

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/layout"
	"github.com/sabir-go/sabir/internal/schema"
)

// comparison compares two schemas of one input, output or data.
type comparison struct {
	*differ
	input bool
	seen  map[[2]*schema.Schema]bool // pairs that are compared already: types may contain themselves
}

// narrower reports that fewer values are allowed, which is breaking for inputs, and wider that more are, which is for outputs.
func (c *comparison) narrower(where, format string, args ...any) {
	c.change(c.input, where, format, args...)
}

func (c *comparison) wider(where, format string, args ...any) {
	c.change(!c.input, where, format, args...)
}

// word picks the text for inputs, or for outputs.
func (c *comparison) word(input, output string) string {
	if c.input {
		return input
	}
	return output
}

// anything stands for a missing schema. There is one of it, so that pairs with it are recognized.
var anything = &schema.Schema{}

// takesNothing reports whether {} will do.
func (c *comparison) takesNothing(s *schema.Schema) bool {
	s = s.Resolve(c.after.Types)
	return len(s.Required) == 0 && (len(s.Type) == 0 || slices.Contains(s.Type, "object"))
}

func (c *comparison) compare(where string, before, after *schema.Schema) {
	if before == nil {
		before = anything
	}
	if after == nil {
		after = anything
	}
	was, wasNull := before.Nullable()
	is, isNull := after.Nullable()
	switch {
	case wasNull && !isNull && !isAnything(is):
		c.narrower(where, "cannot be null any more")
	case !wasNull && isNull && !isAnything(was):
		c.wider(where, "may be null")
	}
	was, is = was.Resolve(c.before.Types), is.Resolve(c.after.Types)
	pair := [2]*schema.Schema{was, is}
	if c.seen[pair] {
		return
	}
	c.seen[pair] = true
	if !c.types(where, was, is) {
		return // the rest would only repeat it
	}
	c.enum(where, was, is)
	c.bounds(where, was, is)
	c.conditions(where, was, is)
	c.members(where, was, is)
	if was.Items != nil || is.Items != nil {
		c.compare(where+"/*", was.Items, is.Items)
	}
	if (was.AdditionalProperties != nil || is.AdditionalProperties != nil) && len(was.Properties)+len(is.Properties) == 0 {
		c.compare(where+"/*", was.AdditionalProperties, is.AdditionalProperties)
	}
}

func isAnything(s *schema.Schema) bool {
	return s.Ref == "" && len(s.Type) == 0 && len(s.AnyOf) == 0 && s.Const == nil && s.Enum == nil
}

// types compares the types of JSON values, and how numbers are kept. It returns false where there is
// nothing else to compare: where they have nothing in common, or one is anything.
func (c *comparison) types(where string, was, is *schema.Schema) bool {
	before, after := describeTypes(was), describeTypes(is)
	allows := func(s *schema.Schema, t string) bool {
		return len(s.Type) == 0 || slices.Contains(s.Type, t) || t == "integer" && slices.Contains(s.Type, "number")
	}
	all := func(list schema.Types, s *schema.Schema) bool {
		return len(list) == 0 && len(s.Type) == 0 || len(list) > 0 && !slices.ContainsFunc(list, func(t string) bool { return !allows(s, t) })
	}
	fits, contains := all(was.Type, is), all(is.Type, was)
	switch {
	case fits && contains:
		return c.widths(where, was, is)
	case fits:
		c.wider(where, "may be %s, not only %s", after, before)
	case contains:
		c.narrower(where, "must be %s; it could be %s", after, before)
	default:
		c.breaking(where, "is %s instead of %s", after, before)
	}
	return (fits || contains) && len(was.Type) > 0 && len(is.Type) > 0
}

func describeTypes(s *schema.Schema) string {
	if len(s.Type) == 0 {
		return "anything"
	}
	return strings.Join(s.Type, " or ")
}

// widths has the number of bits of each numeric format. Go's int counts as 53 bits, which clients in JavaScript read exactly.
var widths = map[string]int{"int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int": 53, "uint": 53, "int64": 64, "uint64": 64,
	"float": 24, "double": 53}

// widths compares the formats of numbers. The bounds that come with them are compared elsewhere.
func (c *comparison) widths(where string, was, is *schema.Schema) bool {
	before, after := widths[was.Format], widths[is.Format]
	switch {
	case before == 0 || after == 0:
	case before < after:
		c.wider(where, "is a number of format %s instead of %s", is.Format, was.Format)
	case before > after:
		c.narrower(where, "is a number of format %s instead of %s", is.Format, was.Format)
	}
	return true
}

// enum compares the values that are listed.
func (c *comparison) enum(where string, was, is *schema.Schema) {
	before, after := listed(was), listed(is)
	switch {
	case before == nil && after == nil:
	case before == nil:
		c.narrower(where, "must be one of %s", strings.Join(after, ", "))
	case after == nil:
		c.wider(where, "may be other values than %s", strings.Join(before, ", "))
	default:
		if gone := missing(before, after); gone != nil {
			c.narrower(where, "cannot be %s any more", strings.Join(gone, " or "))
		}
		if added := missing(after, before); added != nil {
			c.wider(where, "may be %s too", strings.Join(added, " or "))
		}
	}
}

// listed is the values that a schema lists, as JSON; nil for all.
func listed(s *schema.Schema) (values []string) {
	list := s.Enum
	if s.Const != nil {
		list = []any{s.Const}
	}
	for _, v := range list {
		if v == nil {
			continue // whether it may be null is compared elsewhere
		}
		text, err := json.Marshal(v)
		if err != nil {
			text = fmt.Append(nil, v)
		}
		values = append(values, string(text))
	}
	return values
}

// bounds compares limits. Those of outputs are notes either way.
func (c *comparison) bounds(where string, was, is *schema.Schema) {
	for _, b := range []struct {
		what          string
		before, after *int
		lower         bool
	}{
		{"the least length", was.MinLength, is.MinLength, true},
		{"the greatest length", was.MaxLength, is.MaxLength, false},
		{"the least number of items", was.MinItems, is.MinItems, true},
		{"the greatest number of items", was.MaxItems, is.MaxItems, false},
		{"the least number of entries", was.MinProperties, is.MinProperties, true},
		{"the greatest number of entries", was.MaxProperties, is.MaxProperties, false},
	} {
		c.bound(where, b.what, text(b.before), text(b.after), b.lower)
	}
	c.bound(where, "the least value", digits(was.Minimum), digits(is.Minimum), true)
	c.bound(where, "the greatest value", digits(was.Maximum), digits(is.Maximum), false)
	c.bound(where, "the value that it must be above", digits(was.ExclusiveMinimum), digits(is.ExclusiveMinimum), true)
	c.bound(where, "the value that it must be below", digits(was.ExclusiveMaximum), digits(is.ExclusiveMaximum), false)
	if is.UniqueItems && !was.UniqueItems {
		c.tightened(where, "must not have an item twice")
	} else if was.UniqueItems && !is.UniqueItems {
		c.note(where, "may have an item twice")
	}
}

// tightened reports a schema that became narrower: a breaking change for inputs, and none for outputs.
func (c *comparison) tightened(where, format string, args ...any) {
	c.change(c.input, where, format, args...)
}

func text(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func digits(n *schema.Number) string {
	if n == nil {
		return ""
	}
	return string(*n)
}

func (c *comparison) bound(where, what, before, after string, lower bool) {
	if before == after {
		return
	}
	sign := 0 // above zero where the new bound is the tighter one
	switch {
	case before == "":
		sign = 1
	case after == "":
		sign = -1
	case lower:
		sign = compareDigits(after, before)
	default:
		sign = compareDigits(before, after)
	}
	was, is := cmpOr(before, "none"), cmpOr(after, "none")
	switch {
	case sign > 0:
		c.tightened(where, "has a tighter limit: %s was %s and is %s", what, was, is)
	case sign < 0:
		c.note(where, "has a wider limit: %s was %s and is %s", what, was, is)
	}
}

func cmpOr(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// compareDigits compares numbers exactly up to 77 digits, and without taking memory for huge exponents.
func compareDigits(a, b string) int {
	x, _, errX := big.ParseFloat(a, 10, 256, big.ToNearestEven)
	y, _, errY := big.ParseFloat(b, 10, 256, big.ToNearestEven)
	if errX != nil || errY != nil {
		return strings.Compare(a, b)
	}
	return x.Cmp(y)
}

// conditions compares what is neither narrower nor wider, only to be there or not.
func (c *comparison) conditions(where string, was, is *schema.Schema) {
	one := func(what string, before, after any, none any) {
		switch {
		case reflect.DeepEqual(before, after):
		case reflect.DeepEqual(after, none):
			c.note(where, "is not held to %s any more", what)
		case reflect.DeepEqual(before, none):
			c.tightened(where, "is held to %s", what)
		default:
			c.tightened(where, "is held to another %s", strings.TrimPrefix(strings.TrimPrefix(what, "a "), "the "))
		}
	}
	format := func(s *schema.Schema) string {
		if widths[s.Format] != 0 {
			return ""
		}
		return s.Format
	}
	one("the format "+cmpOr(format(is), format(was)), format(was), format(is), "")
	one("a pattern", was.Pattern, is.Pattern, "")
	one("the encoding "+cmpOr(is.ContentEncoding, was.ContentEncoding), was.ContentEncoding, is.ContentEncoding, "")
	one("an exception", asText(was.Not), asText(is.Not), "")
	one("a condition", asText(choices(was)), asText(choices(is)), "")
	one("a rule for names", asText(was.PropertyNames), asText(is.PropertyNames), "")
	for _, rule := range missing(is.Rules, was.Rules) {
		c.tightened(where, "is held to the rule %s", rule)
	}
	for _, rule := range missing(was.Rules, is.Rules) {
		c.note(where, "is not held to the rule %s any more", rule)
	}
}

// choices is anyOf and allOf, by which omitempty and several rules of one kind are expressed.
func choices(s *schema.Schema) *schema.Schema {
	if s.AnyOf == nil && s.AllOf == nil {
		return nil
	}
	return &schema.Schema{AnyOf: s.AnyOf, AllOf: s.AllOf}
}

func asText(s *schema.Schema) string {
	if s == nil {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// members compares the members of objects.
func (c *comparison) members(where string, was, is *schema.Schema) {
	c.numbers(where, was.Fields(), is.Fields())
	for _, p := range was.Properties {
		at := where + "/" + layout.Escape(p.Name)
		now := is.Properties.Get(p.Name)
		if now == nil {
			if is.AdditionalProperties != nil || is.Properties == nil && len(is.Type) == 0 {
				continue // it is among the others
			}
			c.breaking(at, "%s", c.word("is not read any more", "is gone"))
			continue
		}
		before, after := slices.Contains(was.Required, p.Name), slices.Contains(is.Required, p.Name)
		if !before && after {
			c.narrower(at, "%s", c.word("is required", "is always there"))
		} else if before && !after {
			c.wider(at, "%s", c.word("may be left out", "may be missing"))
		}
		c.compare(at, p.Schema, now)
	}
	for _, p := range is.Properties {
		if was.Properties.Get(p.Name) != nil {
			continue
		}
		at := where + "/" + layout.Escape(p.Name)
		if c.input && slices.Contains(is.Required, p.Name) {
			c.breaking(at, "is new and required")
		} else {
			c.note(at, "is new")
		}
	}
}

// numbers compares those of the fields of Protocol Buffers where tags give some: without any, callers over JSON alone would be told of each field
// that moves. A lock of numbers guards those that go by order.
func (c *comparison) numbers(where string, was, is schema.Properties) {
	tagged := func(p schema.Property) bool { return p.Schema.FieldNumber != 0 }
	if !slices.ContainsFunc(was, tagged) && !slices.ContainsFunc(is, tagged) {
		return
	}
	after := make(map[string]int32)
	for i, n := range is.Numbers() {
		after[is[i].Name] = n
	}
	for i, before := range was.Numbers() {
		if now := after[was[i].Name]; now != 0 && now != before {
			c.breaking(where+"/"+layout.Escape(was[i].Name), "has number %d in Protocol Buffers instead of %d: give it the tag `protobuf:\"%d\"`", now, before, before)
		}
	}
}
