package validate

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/tag"
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	valuerType   = reflect.TypeFor[valuer]()
)

// compiler turns one type into ops. Struct types that are reached through a pointer, slice or map are compiled once
// and referred to, so that types may contain themselves.
type compiler struct {
	*engine
	structs map[reflect.Type]*structOps
}

// compile makes the program for values of type t.
func compile(e *engine, t reflect.Type) (*program, error) {
	prog := &program{engine: e, typ: indirect(t)}
	dive, found := divesOf(t)
	if !found || isTime(t) {
		return prog, nil
	}
	prog.dive = dive
	c := compiler{engine: e, structs: map[reflect.Type]*structOps{}}
	ops, err := c.top(t, strings.Count(dive, "dive"))
	if err != nil || !needed(ops, map[*structOps]bool{}) {
		return prog, err
	}
	prog.ops = ops
	if s := c.structs[prog.typ]; dive == "" && s != nil {
		prog.fields = s.fields
	}
	return prog, nil
}

// top compiles the type that a plan is for. A nil pointer to something that has rules is refused. The value itself
// is not replaced by custom type functions and the like, which the library applies to fields only.
func (c *compiler) top(t reflect.Type, dives int) ([]op, error) {
	if t.Kind() == reflect.Pointer {
		list, err := c.top(t.Elem(), dives)
		if err != nil || !needed(list, map[*structOps]bool{}) {
			return nil, err
		}
		return []op{{code: opPointer, operand: &operand{list: list}}}, nil
	}
	if t.Kind() == reflect.Struct {
		s, err := c.structOf(t)
		if err != nil {
			return nil, err
		}
		return s.ops, nil
	}
	steps := make([]tag.Step, dives)
	for i := range steps {
		steps[i].Kind = tag.Dive
	}
	return c.value(place{typ: t}, steps)
}

// place is the position of a value, with what is known about it.
type place struct {
	typ      reflect.Type
	offset   uintptr
	nullable bool   // reached through a pointer, which changes what "required" means
	apart    bool   // not inside the memory of its field's struct, but an element or pointed to
	owner    *owner // of the field; nil for the top value
}

// owner is the field that a place belongs to, for error messages.
type owner struct {
	strukt reflect.Type
	field  reflect.StructField
	tag    string
}

func (p place) wrong(format string, args ...any) error {
	e := &TagError{Type: p.typ, Reason: fmt.Sprintf(format, args...)}
	if p.owner != nil {
		e.Type, e.Field, e.Tag = p.owner.strukt, p.owner.field.Name, p.owner.tag
	}
	return e
}

// elsewhere is the place of something that the value at p points to or has as an element.
func (p place) elsewhere(t reflect.Type, nullable bool) place {
	return place{typ: t, nullable: nullable, apart: true, owner: p.owner}
}

// structOf returns the compiled form of a struct type, possibly one that is still being compiled.
func (c *compiler) structOf(t reflect.Type) (*structOps, error) {
	if s, ok := c.structs[t]; ok {
		return s, nil
	}
	s := &structOps{}
	c.structs[t] = s
	s.fields = map[string][]op{}
	ops, err := c.fields(t, 0, s.fields)
	s.ops, s.done = ops, true
	return s, err
}

// fields compiles the fields of a struct at offset. It keeps the ops of each field in byName, if not nil,
// under the name that the library gives it.
func (c *compiler) fields(t reflect.Type, offset uintptr, byName map[string][]op) ([]op, error) {
	var ops []op
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("validate")
		if tag == "-" || (!field.IsExported() && !field.Anonymous) {
			continue
		}
		at := place{
			typ:    field.Type,
			offset: offset + field.Offset,
			owner:  &owner{t, field, tag},
		}
		steps, err := c.steps(at, tag)
		if err != nil {
			return nil, err
		}
		more, err := c.value(at, steps)
		if err != nil {
			return nil, err
		}
		ops = append(ops, more...)
		if byName != nil {
			byName[libraryName(t, field)] = more
		}
	}
	if c.words.structLevel[t] {
		ops = append(ops, op{code: opAsk})
	}
	return ops, nil
}

// steps parses a field's tag, which is checked first: by the library where it is linked.
func (c *compiler) steps(at place, text string) ([]tag.Step, error) {
	if text == "" {
		return nil, nil
	}
	if c.lib == nil {
		if err := c.readable(tag.Expand(text, c.words.aliases)); err != nil {
			return nil, at.wrong("%v", err)
		}
	} else if err := try(func() { c.lib.Parse(text) }); err != nil {
		return nil, at.wrong("%s", strings.Replace(err.Error(), " on field ''", "", 1))
	}
	steps := tag.Parse(text, c.words.aliases)
	if c.lib != nil && c.handsOver(steps) {
		if err := c.rehearse(at); err != nil {
			return nil, at.wrong("%v", err)
		}
	}
	return steps, nil
}

// rehearse lets the library check the field in a zero value of its struct, to find rules and parameters that make it
// panic. The user's functions are not called.
func (c *compiler) rehearse(at place) error {
	t := at.owner.strukt
	if final := indirect(at.owner.field.Type); final.Implements(valuerType) || c.words.typeFuncs[final] {
		return nil
	}
	name := libraryName(t, at.owner.field)
	return try(func() {
		c.lib.Rehearse(reflect.New(t).Interface(), name)
	})
}

// libraryName is the library's name of a field of a struct that is checked.
func libraryName(t reflect.Type, field reflect.StructField) string {
	if t.Name() == "" {
		return field.Name
	}
	return t.Name() + "." + field.Name
}

// try turns a panic into an error.
func try(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	f()
	return nil
}

// value compiles the steps of a tag for the value at a place, in the order in which the library takes them.
func (c *compiler) value(at place, steps []tag.Step) ([]op, error) {
	if at.typ.Kind() == reflect.Interface {
		return c.iface(at, steps)
	}
	if at.typ.Implements(valuerType) {
		return []op{{code: opAsk}}, nil
	}
	if at.typ.Kind() == reflect.Pointer {
		return c.pointer(at, steps)
	}
	if c.words.typeFuncs[at.typ] {
		return []op{{code: opAsk}}, nil
	}
	var ops []op
	for i, s := range steps {
		switch s.Kind {
		case tag.Check:
			more, err := c.rules(at, s.Rules)
			if err != nil {
				return nil, err
			}
			ops = join(ops, more)
		case tag.Dive:
			more, err := c.dive(at, s, steps[i+1:])
			return join(ops, more), err
		case tag.StructOnly:
			if isNested(at.typ) && c.words.structLevel[at.typ] {
				ops = append(ops, op{code: opAsk})
			}
			return ops, nil
		case tag.NoStructLevel, tag.EndKeys:
			return ops, nil
		default:
			here := at
			here.offset = 0
			rest, err := c.value(at, steps[i+1:])
			return join(ops, unless(c.present(here, s.Kind), at.offset, rest)), err
		}
	}
	if isNested(at.typ) {
		more, err := c.nested(at)
		return join(ops, more), err
	}
	return ops, nil
}

// nested compiles the fields of a struct. One that lies inside its parent is compiled as part of it.
func (c *compiler) nested(at place) ([]op, error) {
	if !at.apart {
		return c.fields(at.typ, at.offset, nil)
	}
	s, err := c.structOf(at.typ)
	if err != nil || (s.done && !needed(s.ops, map[*structOps]bool{})) {
		return nil, err
	}
	return []op{{code: opStruct, offset: at.offset, operand: &operand{strukt: s}}}, nil
}

// pointer compiles a pointer: what nil means depends on the first step, the rest is for the value pointed to.
func (c *compiler) pointer(at place, steps []tag.Step) ([]op, error) {
	if indirect(at.typ).Kind() == reflect.Pointer {
		return one(op{code: opAsk, offset: at.offset, operand: &operand{typ: at.typ}}), nil // type P *P
	}
	list, err := c.value(at.elsewhere(at.typ.Elem(), true), steps)
	if err != nil {
		return nil, err
	}
	nilPasses := c.nilPasses(steps)
	if nilPasses && len(list) == 0 {
		return nil, nil
	}
	return []op{{code: opPointer, offset: at.offset, nilPasses: nilPasses, operand: &operand{list: list}}}, nil
}

// iface compiles an interface, whose content only the library can check.
func (c *compiler) iface(at place, steps []tag.Step) ([]op, error) {
	dives := int64(0)
	for _, s := range steps {
		if s.Kind == tag.Dive {
			dives++
		}
	}
	return []op{{code: opInterface, offset: at.offset, hi: dives, nilPasses: c.nilPasses(steps), operand: &operand{
		typ:      at.typ,
		untagged: len(steps) == 0 && len(c.words.typeFuncs) == 0,
	}}}, nil
}

// nilPasses reports whether a nil pointer certainly passes: the library looks at the first step only. It also
// refuses nil where the first rule runs on nil values, so that the library is asked.
func (c *compiler) nilPasses(steps []tag.Step) bool {
	if len(steps) == 0 {
		return true
	}
	switch first := steps[0]; first.Kind {
	case tag.OmitEmpty, tag.OmitNil, tag.OmitZero:
		return true
	case tag.Check:
		return len(first.Rules) == 1 && first.Rules[0].Raw == "isdefault"
	default:
		return false
	}
}

// dive compiles the steps after a dive for the elements of a slice, array or map.
func (c *compiler) dive(at place, s tag.Step, steps []tag.Step) ([]op, error) {
	t := at.typ
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
	default:
		return nil, at.wrong("dive needs a slice, array or map, not %v", t)
	}
	if s.Keyed && t.Kind() != reflect.Map {
		return nil, at.wrong("keys needs a map, not %v", t)
	}
	var list []op
	var err error
	if !s.Keyed || len(steps) > 0 || isStructOrPointerToOne(t.Elem()) {
		if list, err = c.element(at, t.Elem(), steps); err != nil {
			return nil, err
		}
	}
	switch t.Kind() {
	case reflect.Slice:
		if len(list) == 0 {
			return nil, nil
		}
		return []op{{code: opSlice, offset: at.offset, operand: &operand{list: list, size: t.Elem().Size()}}}, nil
	case reflect.Array:
		if len(list) == 0 || t.Len() == 0 {
			return nil, nil
		}
		return []op{{code: opArray, offset: at.offset, hi: int64(t.Len()), operand: &operand{list: list, size: t.Elem().Size()}}}, nil
	default:
		var keys []op
		if s.Keyed {
			if keys, err = c.element(at, t.Key(), s.Keys); err != nil {
				return nil, err
			}
		}
		if len(list) == 0 && len(keys) == 0 {
			return nil, nil
		}
		return []op{{code: opMap, offset: at.offset, operand: &operand{list: list, keys: keys, typ: t, scratch: newScratch(t)}}}, nil
	}
}

// element compiles the rules for every element.
func (c *compiler) element(at place, t reflect.Type, steps []tag.Step) ([]op, error) {
	element := at.elsewhere(t, false)
	if element.owner == nil {
		element.owner = &owner{strukt: at.typ}
	}
	return c.value(element, steps)
}

// unless makes the steps after an omitempty and the like: rest counts only where the conditions pass.
func unless(conditions []op, offset uintptr, rest []op) []op {
	if len(rest) == 0 || len(conditions) == 0 {
		return rest
	}
	if len(rest) > math.MaxUint16 {
		return []op{{code: opAsk}}
	}
	jump := op{code: opIf, offset: offset, skip: uint16(len(rest)), operand: &operand{list: conditions}}
	return append([]op{jump}, rest...)
}

// join appends more to ops. A range right after one of the same value is merged into it.
func join(ops, more []op) []op {
	for _, o := range more {
		if n := len(ops); n > 0 && mergeable(&ops[n-1], &o) {
			narrow(&ops[n-1], &o)
			continue
		}
		ops = append(ops, o)
	}
	return ops
}

func mergeable(a, b *op) bool {
	return a.code == b.code && a.offset == b.offset && (a.code == opRunes || a.code == opInt || a.code == opUint || a.code == opLen)
}

func narrow(a, b *op) {
	if a.code == opUint {
		a.lo, a.hi = int64(max(uint64(a.lo), uint64(b.lo))), int64(min(uint64(a.hi), uint64(b.hi)))
		return
	}
	a.lo, a.hi = max(a.lo, b.lo), min(a.hi, b.hi)
}

// needed reports whether ops lead to anything that can fail.
func needed(ops []op, seen map[*structOps]bool) bool {
	for i := range ops {
		o := &ops[i]
		switch o.code {
		case opPointer:
			if !o.nilPasses || needed(o.list, seen) {
				return true
			}
		case opSlice, opArray:
			if needed(o.list, seen) {
				return true
			}
		case opMap:
			if needed(o.list, seen) || needed(o.keys, seen) {
				return true
			}
		case opStruct:
			if !seen[o.strukt] {
				seen[o.strukt] = true
				if !o.strukt.done || needed(o.strukt.ops, seen) {
					return true
				}
			}
		case opIf:
		default:
			return true
		}
	}
	return false
}

func isTime(t reflect.Type) bool { return t.ConvertibleTo(timeType) }

// isNested reports whether t is a struct whose own fields are checked.
func isNested(t reflect.Type) bool { return t.Kind() == reflect.Struct && !isTime(t) }

func isStructOrPointerToOne(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || (t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct)
}
