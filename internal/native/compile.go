package native

import (
	"fmt"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/internal/layout"
)

// compiler is one compilation: a type and all types below it that have no plan yet.
type compiler struct {
	fresh map[reflect.Type]*plan
}

var timeType = reflect.TypeFor[time.Time]()

// scalars are the kinds of Go that need no further look.
var scalars = map[reflect.Kind]struct {
	kind valueKind
	code opcode
}{
	reflect.Bool: {boolKind, opBool}, reflect.String: {stringKind, opString},
	reflect.Int8: {int8Kind, opInt8}, reflect.Int16: {int16Kind, opInt16}, reflect.Int32: {int32Kind, opInt32}, reflect.Int64: {int64Kind, opInt64},
	reflect.Uint8: {uint8Kind, opUint8}, reflect.Uint16: {uint16Kind, opUint16}, reflect.Uint32: {uint32Kind, opUint32}, reflect.Uint64: {uint64Kind, opUint64},
	reflect.Float32: {float32Kind, opFloat32}, reflect.Float64: {float64Kind, opFloat64},
	reflect.Complex64: {complex64Kind, opComplex64}, reflect.Complex128: {complex128Kind, opComplex128},
	reflect.Int: {int64Kind, wordCode(opInt32, opInt64)}, reflect.Uint: {uint64Kind, wordCode(opUint32, opUint64)},
	reflect.Uintptr: {uint64Kind, wordCode(opUint32, opUint64)},
}

// wordCode picks the code for Go's int and uint. The wire has 64 bits on every machine.
func wordCode(narrow, wide opcode) opcode {
	if unsafe.Sizeof(int(0)) == 4 {
		return narrow
	}
	return wide
}

// compile returns the plan of t. While t is being compiled it returns the unfinished plan, whose ops are set already
// unless t is a struct, and a struct cannot hold itself by value.
func (c *compiler) compile(t reflect.Type) (*plan, error) {
	if p, ok := plans.Load(t); ok {
		return p.(*plan), nil
	}
	if p, ok := c.fresh[t]; ok {
		return p, nil
	}
	p := &plan{typ: t, size: t.Size()}
	c.fresh[t] = p
	if t == timeType {
		return p.single(timeKind, opTime), nil
	}
	if m, as := layout.MarshalerOf(t); m != nil {
		p.marshaler = m
		if as == layout.Binary {
			return p.single(binaryKind, opMarshaler), nil
		}
		return p.single(textKind, opMarshaler), nil
	}
	if err := layout.JSONOnly(t); err != nil {
		return nil, fmt.Errorf("native: %w", err)
	}
	if s, ok := scalars[t.Kind()]; ok {
		return p.single(s.kind, s.code), nil
	}
	switch t.Kind() {
	case reflect.Interface:
		return p.single(interfaceKind, opInterface), nil
	case reflect.Pointer:
		return p, c.pointer(p, t)
	case reflect.Slice:
		return p, c.slice(p, t)
	case reflect.Array:
		return p, c.array(p, t)
	case reflect.Map:
		return p, c.mapping(p, t)
	case reflect.Struct:
		return p, c.structure(p, t)
	}
	return nil, fmt.Errorf("native: %s cannot be encoded: a %s has no meaning elsewhere; skip the field with `sabir:\"-\"`", t, t.Kind())
}

// single makes p a plan of one operation.
func (p *plan) single(kind valueKind, code opcode) *plan {
	p.kind, p.min = kind, kind.minBytes()
	p.ops = []op{{code: code, sub: p}}
	return p
}

func (c *compiler) pointer(p *plan, t reflect.Type) (err error) {
	p.single(pointerKind, opPointer)
	p.elem, err = c.compile(t.Elem())
	return err
}

func (c *compiler) slice(p *plan, t reflect.Type) (err error) {
	p.single(sliceKind, opSlice)
	if p.elem, err = c.compile(t.Elem()); err != nil {
		return err
	}
	if p.elem.kind == uint8Kind {
		p.single(bytesKind, opBytes)
		return nil
	}
	p.slices = &sync.Pool{New: func() any { return newSliceRoom(t) }}
	return nil
}

func (c *compiler) array(p *plan, t reflect.Type) (err error) {
	p.single(arrayKind, opArray)
	p.length = t.Len()
	if p.elem, err = c.compile(t.Elem()); err != nil {
		return err
	}
	p.min = mulMin(uint64(p.length), p.elem.min)
	if p.elem.kind == uint8Kind {
		p.ops[0].code = opByteArray
	}
	return nil
}

func (c *compiler) mapping(p *plan, t reflect.Type) (err error) {
	p.single(mapKind, opMap)
	if !alwaysComparable(t.Key()) {
		return fmt.Errorf("native: %s cannot be encoded: a key with a pointer or an interface in it has no fixed identity", t)
	}
	if p.key, err = c.compile(t.Key()); err != nil {
		return err
	}
	if p.elem, err = c.compile(t.Elem()); err != nil {
		return err
	}
	p.maps = newMapAccess(t)
	return nil
}

// alwaysComparable reports whether no value of t makes a map panic or is a key only by its address. A type with
// marshal methods of its own, such as netip.Addr, answers for its pointers itself.
func alwaysComparable(t reflect.Type) bool {
	if t == timeType {
		return true
	}
	own, _ := layout.MarshalerOf(t)
	switch t.Kind() {
	case reflect.Interface:
		return false
	case reflect.Pointer:
		return false
	case reflect.Array:
		return alwaysComparable(t.Elem())
	case reflect.Struct:
		if own != nil {
			return t.Comparable()
		}
		for i := range t.NumField() {
			if !alwaysComparable(t.Field(i).Type) {
				return false
			}
		}
	}
	return t.Comparable()
}

func (c *compiler) structure(p *plan, t reflect.Type) error {
	p.kind = structKind
	fields, err := fieldsOf(t)
	if err != nil {
		return err
	}
	for i := range fields {
		f := &fields[i]
		if f.plan, err = c.compile(f.typ); err != nil {
			return fmt.Errorf("%w (field %s of %s)", err, f.goName, t)
		}
		p.ops = inline(p.ops, f.plan.ops, f.off, "/"+escapePointer(f.name))
		p.min = addMin(p.min, f.plan.min)
	}
	p.fields = fields
	return nil
}
