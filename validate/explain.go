package validate

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/sabir-go/sabir/internal/library"
	"github.com/sabir-go/sabir/internal/tag"
)

// explanation walks a value for the fields that fail. It goes the way of the library's own walk, in the same order, and takes
// each verdict from the compiled rule; the type of an interface's content is only known here.
type explanation struct {
	*engine
	failed []library.Failure
	err    error // a type found in an interface that does not compile: the walk ends
}

// failure is a library.Failure of this package.
type failure struct {
	tag, actualTag, namespace, field, param string

	value any
	typ   reflect.Type // nil where there is no value
	kind  reflect.Kind
}

func (f *failure) Tag() string        { return f.tag }
func (f *failure) ActualTag() string  { return f.actualTag }
func (f *failure) Namespace() string  { return f.namespace }
func (f *failure) Field() string      { return f.field }
func (f *failure) Param() string      { return f.param }
func (f *failure) Value() any         { return f.value }
func (f *failure) Kind() reflect.Kind { return f.kind }
func (f *failure) Type() reflect.Type { return f.typ }

// valuer is the library's interface of types that give the value to be checked in their stead.
type valuer interface{ ValidatorValue() any }

// field is a field that is checked, or that leads to some.
type field struct {
	index int
	name  string // with marks
	steps []tag.Step
	owner *owner
}

// ruleOn is a rule for values of a type.
type ruleOn struct {
	typ      reflect.Type
	nullable bool
	kind     tag.Kind // of the steps before a condition
	raw      string   // of a Check
}

// explain lists the failures of an addressable value: of a struct, or of those that the tag dives to.
func (e *engine) explain(value reflect.Value, dive string) ([]library.Failure, error) {
	x := explanation{engine: e}
	if dive == "" {
		namespace := ""
		if name := value.Type().Name(); name != "" {
			namespace = name + "."
		}
		x.fieldsOf(value, namespace)
	} else {
		x.elements(value, tag.Parse(dive, nil), "", "", &owner{strukt: value.Type()})
	}
	return x.failed, x.err
}

func (x *explanation) fieldsOf(v reflect.Value, namespace string) {
	fields, err := x.checkedFields(v.Type())
	if err != nil {
		x.err = err
	}
	for _, f := range fields {
		if x.err != nil {
			return
		}
		x.value(v.Field(f.index), f.steps, namespace, f.name, f.owner)
	}
}

func (e *engine) checkedFields(t reflect.Type) ([]field, error) {
	if known, ok := e.fields.Load(t); ok {
		return known.([]field), nil
	}
	c := compiler{engine: e}
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		text := f.Tag.Get("validate")
		if text == "-" || (!f.IsExported() && !f.Anonymous) {
			continue
		}
		own := &owner{t, f, text}
		steps, err := c.steps(place{typ: f.Type, owner: own}, text)
		if err != nil {
			return nil, err
		}
		list = append(list, field{i, library.FieldName(f), steps, own})
	}
	e.fields.Store(t, list)
	return list, nil
}

// value walks the steps of a tag for a value that can be addressed.
func (x *explanation) value(v reflect.Value, steps []tag.Step, namespace, name string, own *owner) {
	v, nullable := content(v)
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Invalid:
		x.missing(v, steps, namespace, name)
		return
	}
	for i, s := range steps {
		switch s.Kind {
		case tag.StructOnly, tag.NoStructLevel, tag.EndKeys:
			return
		case tag.OmitEmpty, tag.OmitNil, tag.OmitZero:
			if !pass(x.condition(v.Type(), nullable, s.Kind), address(v), 0) {
				return
			}
		case tag.Dive:
			x.elements(v, steps[i:], namespace, name, own)
			return
		default:
			if !x.step(v, nullable, s, namespace, name, own) {
				return
			}
		}
		if x.err != nil {
			return
		}
	}
	if isNested(v.Type()) {
		x.fieldsOf(v, namespace+name+".")
	}
}

// missing reports a nil pointer or interface, or what a method gave in place of a value, by the first step.
func (x *explanation) missing(v reflect.Value, steps []tag.Step, namespace, name string) {
	if len(steps) == 0 {
		return
	}
	s := steps[0]
	f := &failure{namespace: namespace + name, field: name, kind: v.Kind()}
	switch s.Kind {
	case tag.OmitEmpty, tag.OmitZero:
		return
	case tag.OmitNil:
		if v.IsValid() {
			return
		}
		f.tag = s.Kind.String()
	case tag.Check:
		first := s.Rules[0]
		if len(s.Rules) == 1 && first.Raw == "isdefault" {
			return
		}
		f.tag, f.actualTag, f.param = first.Name, first.Name, first.Param
		if len(s.Rules) > 1 {
			f.tag = s.Rules[1].Name // as the library has it
		}
	default:
		f.tag = s.Kind.String()
	}
	if s.Alias != "" {
		f.tag = s.Alias
	}
	if v.IsValid() {
		f.typ, f.value = v.Type(), given(v)
	}
	x.failed = append(x.failed, f)
}

// step checks a value by one rule, or several of which one has to hold.
func (x *explanation) step(v reflect.Value, nullable bool, s tag.Step, namespace, name string, own *owner) bool {
	last := s.Rules[len(s.Rules)-1]
	f := &failure{tag: last.Name, actualTag: last.Name, param: last.Param}
	var either strings.Builder
	var raw strings.Builder
	for i, r := range s.Rules {
		ops := x.rule(v.Type(), nullable, r, own)
		if x.err != nil || pass(ops, address(v), 0) {
			return x.err == nil
		}
		if i > 0 {
			either.WriteByte('|')
			raw.WriteByte('|')
		}
		raw.WriteString(r.Raw)
		either.WriteString(r.Name)
		if strings.Contains(r.Raw, "=") {
			either.WriteString("=" + r.Param)
		}
	}
	switch {
	case len(s.Rules) > 1 && s.Alias != "":
		f.tag, f.actualTag = s.Alias, raw.String()
	case len(s.Rules) > 1:
		f.tag, f.actualTag = either.String(), either.String()
	case s.Alias != "":
		f.tag = s.Alias
	}
	f.namespace, f.field = namespace+name, name
	f.value, f.typ, f.kind = given(v), v.Type(), v.Kind()
	x.failed = append(x.failed, f)
	return false
}

// elements walks what a slice, array or map holds; the first of the steps is the dive.
func (x *explanation) elements(v reflect.Value, steps []tag.Step, namespace, name string, own *owner) {
	dive, rest := steps[0], steps[1:]
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if x.value(v.Index(i), rest, namespace, name+"["+strconv.Itoa(i)+"]", own); x.err != nil {
				return
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next() && x.err == nil; {
			at := fmt.Sprintf("%s[%v]", name, entries.Key())
			value := copied(entries.Value())
			if !dive.Keyed {
				x.value(value, rest, namespace, at, own)
				continue
			}
			x.value(copied(entries.Key()), dive.Keys, namespace, at, own)
			if len(rest) > 0 || isStructOrPointerToOne(value.Type()) && (value.Kind() == reflect.Struct || !value.IsNil()) {
				x.value(value, rest, namespace, at, own)
			}
		}
	default:
		panic(fmt.Sprintf("dive needs a slice, array or map, not %v", v.Type()))
	}
}

// rule compiles a rule for a type, once per engine.
func (x *explanation) rule(t reflect.Type, nullable bool, r tag.Rule, own *owner) []op {
	key := ruleOn{t, nullable, tag.Check, r.Raw}
	if known, ok := x.rules.Load(key); ok {
		return known.([]op)
	}
	c := compiler{engine: x.engine}
	ops, err := c.rule(place{typ: t, nullable: nullable, apart: true, owner: own}, r)
	if err != nil {
		x.err = err
		return nil
	}
	x.rules.Store(key, ops)
	return ops
}

// condition returns the compiled condition of omitempty and the like.
func (x *explanation) condition(t reflect.Type, nullable bool, kind tag.Kind) []op {
	key := ruleOn{typ: t, nullable: nullable, kind: kind}
	if known, ok := x.rules.Load(key); ok {
		return known.([]op)
	}
	c := compiler{engine: x.engine}
	ops := c.present(place{typ: t, nullable: nullable, apart: true}, kind)
	x.rules.Store(key, ops)
	return ops
}

// content follows pointers, interfaces and methods to the value that is checked, or to the nil where they end. It also reports
// whether there were any.
func content(v reflect.Value) (_ reflect.Value, nullable bool) {
	for {
		switch v.Kind() {
		case reflect.Invalid:
			return v, nullable
		case reflect.Pointer, reflect.Interface:
			nullable = true
			if v.IsNil() {
				return v, nullable
			}
		}
		if v.CanInterface() {
			if own, ok := reflect.TypeAssert[valuer](v); ok {
				v = copied(reflect.ValueOf(own.ValidatorValue()))
				continue
			}
		}
		switch v.Kind() {
		case reflect.Pointer:
			v = v.Elem()
		case reflect.Interface:
			v = copied(reflect.NewAt(v.Type(), address(v)).Elem().Elem())
		default:
			return v, nullable
		}
	}
}

// copied is a copy that can be addressed.
func copied(v reflect.Value) reflect.Value {
	if !v.IsValid() {
		return v
	}
	box := reflect.New(v.Type()).Elem()
	box.Set(v)
	return box
}

func address(v reflect.Value) unsafe.Pointer { return unsafe.Pointer(v.UnsafeAddr()) }

// given is the value as it is reported, also that of an embedded field without an exported name.
func given(v reflect.Value) any { return reflect.NewAt(v.Type(), address(v)).Elem().Interface() }
