package hessian

import (
	"encoding"
	"fmt"
	"math/big"
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

// special are the types that need more than their kind.
var special = map[reflect.Type]opcode{
	reflect.TypeFor[time.Time](): opTime, reflect.TypeFor[big.Int](): opBigInt, reflect.TypeFor[Decimal](): opDecimal,
	reflect.TypeFor[Object](): opObject, reflect.TypeFor[List](): opList, reflect.TypeFor[Map](): opMapped,
	reflect.TypeFor[Exception](): opThrown, reflect.TypeFor[any](): opAny,
}

var scalars = map[reflect.Kind]opcode{
	reflect.Bool: opBool, reflect.String: opString,
	reflect.Int8: opInt8, reflect.Int16: opInt16, reflect.Int32: opInt32, reflect.Int64: opInt64,
	reflect.Uint8: opUint8, reflect.Uint16: opUint16, reflect.Uint32: opUint32, reflect.Uint64: opUint64,
	reflect.Float32: opFloat32, reflect.Float64: opFloat64,
	reflect.Int: wordCode(opInt32, opInt64), reflect.Uint: wordCode(opUint32, opUint64), reflect.Uintptr: wordCode(opUint32, opUint64),
}

// wordCode picks the code for Go's int and uint.
func wordCode(narrow, wide opcode) opcode {
	if unsafe.Sizeof(int(0)) == 4 {
		return narrow
	}
	return wide
}

var (
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// isText reports whether t is written by its own methods. Both directions must be there.
func isText(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false
	}
	pt := reflect.PointerTo(t)
	return pt.Implements(textMarshaler) && pt.Implements(textUnmarshaler)
}

// compile returns the plan of t. While t is being compiled it returns the unfinished plan.
func (c *compiler) compile(t reflect.Type) (*plan, error) {
	if p, ok := plans.Load(t); ok {
		return p.(*plan), nil
	}
	if p, ok := c.fresh[t]; ok {
		return p, nil
	}
	p := &plan{typ: t, size: t.Size()}
	c.fresh[t] = p
	if op, ok := special[t]; ok {
		p.op = op
		return p, nil
	}
	if isText(t) {
		p.op = opText
		return p, nil
	}
	if err := layout.JSONOnly(t); err != nil {
		return nil, fmt.Errorf("hessian: %w", err)
	}
	if op, ok := scalars[t.Kind()]; ok {
		p.op = op
		return p, nil
	}
	switch t.Kind() {
	case reflect.Interface:
		p.op = opInterface
		return p, nil
	case reflect.Pointer:
		p.op = opPointer
		return p, c.elem(p)
	case reflect.Slice:
		return p, c.slice(p)
	case reflect.Array:
		p.op, p.length = opArray, t.Len()
		if t.Elem().Kind() == reflect.Uint8 && !isText(t.Elem()) {
			p.op = opByteArray
		}
		return p, c.elem(p)
	case reflect.Map:
		return p, c.mapping(p)
	case reflect.Struct:
		return p, c.structure(p)
	}
	return nil, fmt.Errorf("hessian: %s cannot be encoded: a %s has no meaning elsewhere; skip the field with `hessian:\"-\"`", t, t.Kind())
}

func (c *compiler) elem(p *plan) (err error) {
	p.elem, err = c.compile(p.typ.Elem())
	return err
}

func (c *compiler) slice(p *plan) error {
	p.op = opSlice
	switch elem := p.typ.Elem(); {
	case elem.Kind() == reflect.Uint8 && !isText(elem):
		p.op = opBytes
	case elem == anyType:
		p.op = opAnySlice
	}
	p.slices = &sync.Pool{New: func() any { return newSliceRoom(p.typ) }}
	return c.elem(p)
}

// anyType is the element of []any and of map[string]any.
var anyType = reflect.TypeFor[any]()

func (c *compiler) mapping(p *plan) (err error) {
	p.op = opMap
	switch key := p.typ.Key(); {
	case key.Kind() == reflect.Pointer, key.Kind() == reflect.Array, key.Kind() == reflect.Struct && !isText(key) && key != reflect.TypeFor[time.Time]():
		return fmt.Errorf("hessian: %s cannot be encoded: a key must be a string, a number, a bool, an any or a type with MarshalText", p.typ)
	case key == reflect.TypeFor[string]() && p.typ.Elem() == anyType:
		p.op = opAnyMap
	}
	if p.key, err = c.compile(p.typ.Key()); err != nil {
		return err
	}
	return c.elem(p)
}

func (c *compiler) structure(p *plan) (err error) {
	p.op = opStruct
	if p.fields, err = fieldsOf(p.typ); err != nil {
		return err
	}
	p.byName, p.names = make(map[string]int, 2*len(p.fields)), make(layout.Names, len(p.fields))
	for i := range p.fields {
		f := &p.fields[i]
		if f.plan, err = c.compile(f.typ); err != nil {
			return fmt.Errorf("%w (field %s of %s)", err, f.goName, p.typ)
		}
		p.byName[f.name] = i
		p.names.Add(f.name)
	}
	for i := range p.fields {
		if other := otherCase(p.fields[i].name); other != "" {
			if _, taken := p.byName[other]; !taken {
				p.byName[other] = i
			}
		}
	}
	p.pointer, err = c.compile(reflect.PointerTo(p.typ))
	return err
}
