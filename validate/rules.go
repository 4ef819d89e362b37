package validate

import (
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/sabir-go/sabir/internal/library"
	"github.com/sabir-go/sabir/internal/tag"
)

// shape groups the kinds that a rule treats alike.
type shape uint8

const (
	shapeOther shape = iota
	shapeString
	shapeInt
	shapeUint
	shapeFloat
	shapeBool
	shapeSlice
	shapeMap
	shapeArray
	shapeReference // channel or function
)

func shapeOf(t reflect.Type) shape {
	switch k := t.Kind(); {
	case k == reflect.String:
		return shapeString
	case k >= reflect.Int && k <= reflect.Int64:
		return shapeInt
	case k >= reflect.Uint && k <= reflect.Uintptr:
		return shapeUint
	case k == reflect.Float32 || k == reflect.Float64:
		return shapeFloat
	case k == reflect.Bool:
		return shapeBool
	case k == reflect.Slice:
		return shapeSlice
	case k == reflect.Map:
		return shapeMap
	case k == reflect.Array:
		return shapeArray
	case k == reflect.Chan || k == reflect.Func:
		return shapeReference
	default:
		return shapeOther
	}
}

// rules compiles one step: a rule, or several of which one has to hold.
func (c *compiler) rules(at place, alternatives []tag.Rule) ([]op, error) {
	if len(alternatives) == 1 {
		return c.rule(at, alternatives[0])
	}
	inside := at
	inside.offset = 0
	var either [][]op
	for _, r := range alternatives {
		if c.lib != nil && tag.Alias(r.Name) {
			return one(op{code: opAsk}), nil
		}
		list, err := c.rule(inside, r)
		if err != nil {
			return nil, err
		}
		either = append(either, list)
	}
	if slices.ContainsFunc(either, func(list []op) bool { return len(list) == 0 }) {
		return nil, nil // one of them always holds
	}
	return one(op{code: opOr, offset: at.offset, operand: &operand{either: either}}), nil
}

// rule compiles one rule. The result is empty for a rule that always holds there.
func (c *compiler) rule(at place, r tag.Rule) ([]op, error) {
	if c.isForeign(r) {
		return one(op{code: opAsk}), nil
	}
	kind := shapeOf(at.typ)
	switch r.Name {
	case "required":
		return c.present(at, tag.OmitEmpty), nil
	case "isdefault":
		return c.absent(at), nil
	case "min", "gte", "max", "lte", "gt", "lt", "len":
		return c.compare(at, r)
	case "eq", "ne":
		if kind != shapeString {
			return c.compare(at, r)
		}
	case "oneof":
		return c.oneOf(at, r)
	case "noneof":
		return c.noneOf(at, r)
	case "port":
		if o, ok := port(at); ok {
			return one(o), nil
		}
	case "unique":
		if r.Param == "" && hashed(at.typ) {
			return one(op{code: opUnique, offset: at.offset, operand: &operand{typ: at.typ}}), nil
		}
	case "number", "numeric":
		if kind == shapeInt || kind == shapeUint || kind == shapeFloat {
			return nil, nil
		}
	case "boolean":
		if kind == shapeBool {
			return nil, nil
		}
	}
	if kind == shapeString {
		if text, ok := textRules[r.Name]; ok {
			return one(op{code: opText, offset: at.offset, operand: &operand{text: text}}), nil
		}
		if text, ok := textParamRules[r.Name]; ok {
			accept := func(s string) bool { return text(s, r.Param) }
			return one(op{code: opText, offset: at.offset, operand: &operand{text: accept}}), nil
		}
	}
	return c.library(at, r)
}

func one(o op) []op { return []op{o} }

// isForeign reports whether only the library can run a rule, and only on the whole value: because the user wrote it,
// or because it may look at other fields.
func (c *compiler) isForeign(r tag.Rule) bool {
	return c.words.rules[r.Name] || !tag.Single(r.Name)
}

// handsOver reports whether one of the steps has a foreign rule.
func (c *compiler) handsOver(steps []tag.Step) bool {
	return slices.ContainsFunc(steps, func(s tag.Step) bool {
		return slices.ContainsFunc(s.Rules, c.isForeign) || c.handsOver(s.Keys)
	})
}

// library compiles a rule that the library runs on this value alone.
func (c *compiler) library(at place, r tag.Rule) ([]op, error) {
	kind := shapeOf(at.typ)
	switch {
	case c.lib == nil:
		return nil, at.wrong("rule %q on %v needs the library of all rules: add %s", r.Raw, at.typ, library.Import)
	case isNested(at.typ):
		return one(op{code: opAsk}), nil // alone, a struct would be checked by its fields
	case r.Name == "unique" && kind != shapeSlice && kind != shapeArray && kind != shapeMap:
		return one(op{code: opAsk}), nil // compares with another field
	case at.owner != nil && at.owner.field.Anonymous && !at.owner.field.IsExported():
		return one(op{code: opAsk}), nil // the library sees the value of such a field in another way
	}
	zero := reflect.Zero(at.typ).Interface()
	if err := try(func() { c.lib.Passes(zero, r.Raw) }); err != nil {
		return nil, at.wrong("rule %q: %v", r.Raw, err)
	}
	return one(op{code: opVar, offset: at.offset, operand: &operand{typ: at.typ, tag: r.Raw, lib: c.lib}}), nil
}

// present compiles the condition of required and omitempty, and that of omitnil and omitzero. It is empty where the
// condition always holds: for required and omitempty that is nearly every value reached through a pointer.
func (c *compiler) present(at place, kind tag.Kind) []op {
	o := op{offset: at.offset, width: uint8(at.typ.Size())}
	sh := shapeOf(at.typ)
	switch {
	case sh == shapeReference, (sh == shapeSlice || sh == shapeMap) && kind != tag.OmitZero:
		o.code = opNotNil
	case kind == tag.OmitNil, kind == tag.OmitEmpty && at.nullable:
		return nil
	case sh == shapeString:
		o.code, o.lo, o.hi = opRunes, 1, math.MaxInt64
	case sh == shapeSlice:
		o.code, o.lo, o.hi = opLen, 1, math.MaxInt64
	case sh == shapeMap:
		o.code, o.lo, o.hi, o.operand = opMapLen, 1, math.MaxInt64, &operand{typ: at.typ}
	case sh == shapeInt:
		o.code, o.operand = opIntIs, &operand{number: func(n int64) bool { return n != 0 }}
	case sh == shapeUint:
		o.code, o.lo, o.hi = opUint, 1, -1
	case sh == shapeBool:
		o.code, o.lo = opBool, 1
	default:
		o.code, o.operand = opNotZero, &operand{typ: at.typ}
	}
	return one(o)
}

// absent compiles isdefault, the opposite of required.
func (c *compiler) absent(at place) []op {
	switch shapeOf(at.typ) {
	case shapeSlice, shapeMap, shapeReference:
		return one(op{code: opNil, offset: at.offset})
	}
	if at.nullable {
		return one(op{code: opFail})
	}
	return one(op{code: opZero, offset: at.offset, operand: &operand{typ: at.typ}})
}

// compare compiles a rule that compares a number, or the length of something, with its parameter.
func (c *compiler) compare(at place, r tag.Rule) ([]op, error) {
	var ops []op
	var err error
	switch shapeOf(at.typ) {
	case shapeString:
		ops, err = lengths(at, r, op{code: opRunes})
	case shapeSlice:
		ops, err = lengths(at, r, op{code: opLen})
	case shapeMap:
		ops, err = lengths(at, r, op{code: opMapLen, operand: &operand{typ: at.typ}})
	case shapeArray:
		ops, err = arrayLength(at, r)
	case shapeInt:
		ops, err = integers(at, r)
	case shapeUint:
		ops, err = unsignedIntegers(at, r)
	case shapeFloat:
		ops, err = floats(at, r)
	case shapeBool:
		if r.Name != "eq" && r.Name != "ne" {
			return nil, at.wrong("rule %q does not work on a bool", r.Raw)
		}
		ops, err = booleans(at, r)
	default:
		if moment := moments[r.Name]; moment != nil && isTime(at.typ) {
			return one(op{code: opTime, offset: at.offset, operand: &operand{typ: at.typ, moment: moment}}), nil
		}
		return nil, at.wrong("rule %q does not work on %v", r.Raw, at.typ)
	}
	if err != nil {
		return nil, at.wrong("rule %q: the parameter is not one for %v: %v", r.Raw, at.typ, err)
	}
	return ops, nil
}

func lengths(at place, r tag.Rule, o op) ([]op, error) {
	p, err := strconv.ParseInt(r.Param, 0, 64)
	if err != nil {
		return nil, err
	}
	if r.Name == "ne" {
		less, more := o, o
		less.lo, less.hi = bounds("lt", p, math.MinInt64, math.MaxInt64)
		more.lo, more.hi = bounds("gt", p, math.MinInt64, math.MaxInt64)
		return one(op{code: opOr, offset: at.offset, operand: &operand{either: [][]op{{less}, {more}}}}), nil
	}
	o.offset = at.offset
	o.lo, o.hi = bounds(r.Name, p, math.MinInt64, math.MaxInt64)
	return one(o), nil
}

// arrayLength is decided once, because an array's length is part of its type.
func arrayLength(at place, r tag.Rule) ([]op, error) {
	p, err := strconv.ParseInt(r.Param, 0, 64)
	if err != nil {
		return nil, err
	}
	n := int64(at.typ.Len())
	lo, hi := bounds(r.Name, p, math.MinInt64, math.MaxInt64)
	holds := lo <= n && n <= hi
	if r.Name == "ne" {
		holds = n != p
	}
	if holds {
		return nil, nil
	}
	return one(op{code: opFail}), nil
}

func integers(at place, r tag.Rule) ([]op, error) {
	p, err := strconv.ParseInt(r.Param, 0, 64)
	if at.typ == durationType {
		if d, failed := time.ParseDuration(r.Param); failed == nil {
			p, err = int64(d), nil
		}
	}
	if err != nil {
		return nil, err
	}
	o := op{code: opInt, offset: at.offset, width: uint8(at.typ.Size())}
	if r.Name == "ne" {
		o.code, o.operand = opIntIs, &operand{number: func(n int64) bool { return n != p }}
		return one(o), nil
	}
	o.lo, o.hi = bounds(r.Name, p, math.MinInt64, math.MaxInt64)
	return one(o), nil
}

func unsignedIntegers(at place, r tag.Rule) ([]op, error) {
	p, err := strconv.ParseUint(r.Param, 0, 64)
	if err != nil {
		return nil, err
	}
	o := op{code: opUint, offset: at.offset, width: uint8(at.typ.Size())}
	if r.Name == "ne" {
		o.code, o.operand = opUintIs, &operand{number: func(n int64) bool { return uint64(n) != p }}
		return one(o), nil
	}
	lo, hi := bounds(r.Name, p, 0, math.MaxUint64)
	o.lo, o.hi = int64(lo), int64(hi)
	return one(o), nil
}

// bounds are the least and the greatest number that satisfy a rule. No number does where the first is the greater.
func bounds[T int64 | uint64](name string, p, least, most T) (lo, hi T) {
	switch name {
	case "min", "gte":
		return p, most
	case "max", "lte":
		return least, p
	case "gt":
		if p == most {
			return most, least
		}
		return p + 1, most
	case "lt":
		if p == least {
			return most, least
		}
		return least, p - 1
	default: // len, eq
		return p, p
	}
}

func floats(at place, r tag.Rule) ([]op, error) {
	p, err := strconv.ParseFloat(r.Param, at.typ.Bits())
	if err != nil {
		return nil, err
	}
	accept := map[string]func(float64) bool{
		"min": func(f float64) bool { return f >= p },
		"gte": func(f float64) bool { return f >= p },
		"max": func(f float64) bool { return f <= p },
		"lte": func(f float64) bool { return f <= p },
		"gt":  func(f float64) bool { return f > p },
		"lt":  func(f float64) bool { return f < p },
		"len": func(f float64) bool { return f == p },
		"eq":  func(f float64) bool { return f == p },
		"ne":  func(f float64) bool { return f != p },
	}[r.Name]
	return one(op{code: opFloat, offset: at.offset, width: uint8(at.typ.Size()), operand: &operand{float: accept}}), nil
}

func booleans(at place, r tag.Rule) ([]op, error) {
	p, err := strconv.ParseBool(r.Param)
	if err != nil {
		return nil, err
	}
	o := op{code: opBool, offset: at.offset}
	if p == (r.Name == "eq") {
		o.lo = 1
	}
	return one(o), nil
}

// moments are the rules that compare a time with that of the check.
var moments = map[string]func(time.Time) bool{
	"gt":  func(t time.Time) bool { return t.After(time.Now()) },
	"lt":  func(t time.Time) bool { return t.Before(time.Now()) },
	"gte": func(t time.Time) bool { return !t.Before(time.Now()) },
	"min": func(t time.Time) bool { return !t.Before(time.Now()) },
	"lte": func(t time.Time) bool { return !t.After(time.Now()) },
	"max": func(t time.Time) bool { return !t.After(time.Now()) },
}

// port compiles the rule of that name on whole numbers.
func port(at place) (o op, ok bool) {
	o = op{offset: at.offset, width: uint8(at.typ.Size()), lo: 1, hi: math.MaxUint16}
	switch shapeOf(at.typ) {
	case shapeInt:
		o.code = opInt
	case shapeUint:
		o.code = opUint
	default:
		return o, false
	}
	return o, true
}

// hashed reports whether t is a slice, array or map whose values, or what they point to, can be the keys of a map.
func hashed(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
	default:
		return false
	}
	if t = t.Elem(); t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Interface, reflect.Struct, reflect.Array: // which may hold what cannot be a key
		return false
	}
	return t.Comparable()
}

// elements yields what is in a slice, array or map, as v.Seq2 does, which links reflect.MakeFunc into each program and more, 50 KB.
func elements(v reflect.Value) iter.Seq[reflect.Value] {
	return func(yield func(reflect.Value) bool) {
		if v.Kind() == reflect.Map {
			for each := v.MapRange(); each.Next() && yield(each.Value()); {
			}
			return
		}
		for i := 0; i < v.Len() && yield(v.Index(i)); i++ {
		}
	}
}

// unique reports whether all values of a slice, array or map are different, those that pointers lead to by what they are.
func unique(v reflect.Value) bool {
	seen := make(map[any]bool, v.Len())
	for element := range elements(v) {
		var key any // nil for a nil pointer
		switch {
		case element.Kind() != reflect.Pointer:
			key = element.Interface()
		case !element.IsNil():
			key = element.Elem().Interface()
		}
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}

// noneOf compiles the opposite of oneof.
func (c *compiler) noneOf(at place, r tag.Rule) ([]op, error) {
	list, err := c.oneOf(at, r)
	if err != nil {
		return nil, err
	}
	switch o := list[0].operand; {
	case o.text != nil:
		among := o.text
		o.text = func(s string) bool { return !among(s) }
	default:
		among := o.number
		o.number = func(n int64) bool { return !among(n) }
	}
	return list, nil
}

func (c *compiler) oneOf(at place, r tag.Rule) ([]op, error) {
	o := op{offset: at.offset, width: uint8(at.typ.Size())}
	switch kind := shapeOf(at.typ); {
	case kind == shapeString:
		o.code, o.operand = opText, &operand{text: oneOf(tag.Words(r.Param))}
	case kind == shapeInt:
		o.code, o.operand = opIntIs, &operand{number: oneOf(oneOfInts(r.Param))}
	case kind == shapeUint && at.typ.Kind() != reflect.Uintptr:
		o.code, o.operand = opUintIs, &operand{number: oneOf(oneOfUints(r.Param))}
	default:
		return nil, at.wrong("rule %q works on strings and whole numbers, not on %v", r.Raw, at.typ)
	}
	return one(o), nil
}
