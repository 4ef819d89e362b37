package hessian

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// value reads the next value into the type p at an address. On false there is a fault.
func (d *Decoder) value(p *plan, at unsafe.Pointer) bool {
	if d.pos >= len(d.data) {
		return d.fail(endsEarly)
	}
	tag := d.data[d.pos]
	switch p.op {
	case opString:
		if isString(tag) {
			d.pos++
			*(*string)(at) = d.string(tag)
			return d.fault == nil
		}
	case opBool:
		if tag == tagTrue || tag == tagFalse {
			d.pos++
			*(*bool)(at) = tag == tagTrue
			return true
		}
	case opInt8, opInt16, opInt32, opInt64, opUint8, opUint16, opUint32, opUint64, opFloat32, opFloat64:
		start := d.pos
		d.pos++
		if n := d.number(tag); n.kind != noNumber {
			return d.fault == nil && (p.setNumber(at, n) || d.outOfRange(start, p))
		}
		d.pos = start
	case opTime:
		if isDate(tag) {
			d.pos++
			*(*time.Time)(at) = d.time(tag)
			return d.fault == nil
		}
	case opBytes:
		if isBinary(tag) {
			d.pos++
			*(*[]byte)(at) = d.binary(tag)
			return d.fault == nil
		}
	case opAny:
		*(*any)(at) = d.any()
		return d.fault == nil
	case opPointer:
		return d.pointer(p.elem, at)
	}
	if tag == tagNull {
		d.pos++
		p.value(at).SetZero()
		return true
	}
	if p.op < opInterface {
		return d.scalar(p, at)
	}
	return d.nested(p, at)
}

// setNumber stores n as a p and reports whether p can hold it.
func (p *plan) setNumber(at unsafe.Pointer, n number) bool {
	if p.op == opFloat64 || p.op == opFloat32 {
		f := n.float
		if n.kind != doubleNumber {
			f = float64(n.whole)
		}
		if p.op == opFloat64 {
			*(*float64)(at) = f
			return true
		}
		*(*float32)(at) = float32(f)
		return !math.IsInf(float64(float32(f)), 0) || math.IsInf(f, 0)
	}
	v := n.whole
	if n.kind == doubleNumber {
		if !(n.float >= math.MinInt64 && n.float < -math.MinInt64) || math.Trunc(n.float) != n.float {
			return false
		}
		v = int64(n.float)
	}
	switch p.op {
	case opInt64:
		*(*int64)(at) = v
		return true
	case opInt32:
		*(*int32)(at) = int32(v)
		return v == int64(int32(v))
	case opInt16:
		*(*int16)(at) = int16(v)
		return v == int64(int16(v))
	case opInt8:
		*(*int8)(at) = int8(v)
		return v == int64(int8(v))
	case opUint64:
		*(*uint64)(at) = uint64(v)
		return v >= 0
	case opUint32:
		*(*uint32)(at) = uint32(v)
		return v == int64(uint32(v))
	case opUint16:
		*(*uint16)(at) = uint16(v)
		return v == int64(uint16(v))
	}
	*(*uint8)(at) = uint8(v)
	return v == int64(uint8(v))
}

func (d *Decoder) outOfRange(start int, p *plan) bool {
	if d.fault == nil {
		d.fault = &codec.Error{Codec: codecName, Offset: int64(start), Want: p.typ.String(), Got: "a number that it cannot hold"}
	}
	return false
}

// pointer reads a value into new memory, or takes the memory of the value that a reference means.
func (d *Decoder) pointer(p *plan, at unsafe.Pointer) bool {
	switch tag := d.peek(); {
	case tag == tagNull:
		d.pos++
		*(*unsafe.Pointer)(at) = nil
		return true
	case tag == tagRef && (p.op == opStruct || p.op >= opObject || p.op == opSlice || p.op == opArray || p.op == opMap || p.op == opAnyMap || p.op == opAnySlice):
		number, ok := d.refNumber()
		if !ok {
			return false
		}
		*(*unsafe.Pointer)(at) = d.referred(number, p)
		return d.fault == nil
	}
	if p.op == opBigInt {
		return d.bigInt(at)
	}
	if !d.enterPointer(p) {
		return false
	}
	target := p.new()
	*(*unsafe.Pointer)(at) = target
	ok := d.value(p, target)
	d.leavePointer(p)
	return ok
}

// A pointer to a pointer has no bytes of its own, so a type that is only such pointers would never end.
func (d *Decoder) enterPointer(p *plan) bool { return p.op != opPointer || d.enter() }

func (d *Decoder) leavePointer(p *plan) {
	if p.op == opPointer {
		d.depth--
	}
}

// nested reads a value that counts as a level.
func (d *Decoder) nested(p *plan, at unsafe.Pointer) bool {
	tag, ok := d.valueTag()
	if !ok {
		return false
	}
	switch {
	case p.op == opInterface:
		return d.abstract(p, at)
	case tag == tagRef:
		return d.reference(p, at)
	case tag == tagNull:
		d.pos++
		p.value(at).SetZero()
		return true
	}
	if !d.enter() {
		return false
	}
	switch p.op {
	case opStruct:
		ok = d.structure(p, at, tag)
	case opSlice, opAnySlice:
		ok = d.slice(p, at, tag)
	case opArray:
		ok = d.array(p, at, tag)
	case opMap, opAnyMap:
		ok = d.mapping(p, at, tag)
	case opObject:
		ok = d.object(p, at, tag)
	case opList:
		ok = d.list(p, at, tag)
	case opMapped:
		ok = d.mapped(p, at, tag)
	case opThrown:
		ok = d.exception(p, at, tag)
	default:
		panic(fmt.Sprintf("hessian: no operation %d", p.op))
	}
	d.depth--
	return ok
}

// abstract reads into an interface that has methods. Only a registered type can satisfy it.
func (d *Decoder) abstract(p *plan, at unsafe.Pointer) bool {
	start := d.pos
	v := d.any()
	if d.fault != nil {
		return false
	}
	if v == nil {
		p.value(at).SetZero()
		return true
	}
	if !reflect.TypeOf(v).AssignableTo(p.typ) {
		d.pos = start
		return d.fail(fmt.Sprintf("a value that is no %s: register the Go type for its class with hessian.Register", p.typ))
	}
	p.value(at).Set(reflect.ValueOf(v))
	return true
}

// text calls the method on a copy, since a method may keep its receiver.
func (d *Decoder) text(p *plan, at unsafe.Pointer, s string) bool {
	own := reflect.New(p.typ)
	if err := own.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
		d.fail(p.typ.String() + " cannot be decoded: " + err.Error()) // fmt would repeat a panic of Error
		d.fault.Err = err
		return false
	}
	p.value(at).Set(own.Elem())
	return true
}
