package hessian

import (
	"encoding"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"
	"unsafe"
)

// value appends the value of type p at an address. Where it returns with a fault, dst is worth nothing.
func (e *Encoder) value(dst []byte, p *plan, at unsafe.Pointer) []byte {
	switch p.op {
	case opString:
		if c := p.class.Load(); c != nil {
			if *(*string)(at) == "" {
				return append(dst, tagNull) // no enum has a constant without a name
			}
			e.flat(1)
			e.count++
			dst = e.instance(dst, c)
		}
		return e.string(dst, *(*string)(at))
	case opBool:
		return appendBool(dst, *(*bool)(at))
	case opInt8:
		return appendInt(dst, int32(*(*int8)(at)))
	case opInt16:
		return appendInt(dst, int32(*(*int16)(at)))
	case opInt32:
		return appendInt(dst, *(*int32)(at))
	case opInt64:
		return appendLong(dst, *(*int64)(at))
	case opUint8:
		return appendInt(dst, int32(*(*uint8)(at)))
	case opUint16:
		return appendInt(dst, int32(*(*uint16)(at)))
	case opUint32:
		return appendLong(dst, int64(*(*uint32)(at)))
	case opUint64:
		return e.uint64(dst, *(*uint64)(at))
	case opFloat32:
		return appendDouble(dst, float64(*(*float32)(at)))
	case opFloat64:
		return appendDouble(dst, *(*float64)(at))
	case opBytes:
		b := *(*[]byte)(at)
		if b == nil {
			return append(dst, tagNull)
		}
		return appendBinary(dst, b)
	case opByteArray:
		return appendBinary(dst, unsafe.Slice((*byte)(at), p.length))
	case opTime:
		return e.time(dst, *(*time.Time)(at))
	case opText:
		return e.text(dst, p, at)
	case opDecimal:
		return e.decimal(dst, *(*Decimal)(at))
	case opBigInt:
		return e.bigInt(dst, (*big.Int)(at))
	case opAny:
		return e.any(dst, *(*any)(at))
	case opInterface:
		return e.any(dst, p.value(at).Interface())
	case opPointer:
		return e.pointer(dst, p.elem, *(*unsafe.Pointer)(at))
	}
	return e.nested(dst, p, at)
}

// nested appends a value that counts as a level of nesting.
func (e *Encoder) nested(dst []byte, p *plan, at unsafe.Pointer) []byte {
	if !e.enter() {
		return dst
	}
	switch p.op {
	case opSlice:
		h := (*sliceHeader)(at)
		if h.data == nil {
			dst = append(dst, tagNull)
			break
		}
		if h.len == 0 || p.elem.size == 0 { // these may have an address that others have
			e.count++
		} else if number, before := e.begin(h.data, p, h.len); before {
			dst = appendRef(dst, number)
			break
		}
		dst = e.elements(e.listHead(dst, p.name(), h.len), p.elem, h.data, h.len)
	case opArray:
		e.count++
		dst = e.elements(e.listHead(dst, "", p.length), p.elem, at, p.length)
	case opMap:
		dst = e.mapping(dst, p, at)
	case opAnySlice:
		dst = e.anySlice(dst, p, *(*[]any)(at))
	case opAnyMap:
		dst = e.anyMap(dst, p, *(*map[string]any)(at))
	case opStruct:
		e.count++
		dst = e.structure(dst, p, at)
	case opObject:
		e.count++
		dst = e.object(dst, (*Object)(at))
	case opList:
		e.count++
		dst = e.list(dst, (*List)(at))
	case opMapped:
		e.count++
		dst = e.mapped(dst, (*Map)(at))
	case opThrown:
		e.count++
		dst = e.exception(dst, (*Exception)(at))
	default:
		panic(fmt.Sprintf("hessian: no operation %d", p.op))
	}
	e.depth--
	return dst
}

// pointer appends the value to which a pointer to a p points. A value that can be referred to in Java is written once.
func (e *Encoder) pointer(dst []byte, p *plan, target unsafe.Pointer) []byte {
	if target == nil {
		return append(dst, tagNull)
	}
	switch p.op {
	case opStruct, opObject, opList, opMapped, opThrown, opBigInt:
		if p.size == 0 {
			break // all empty structs may have one address
		}
		number, before := e.begin(target, p, 0)
		if before {
			return appendRef(dst, number)
		}
		e.count-- // counted again below
		return e.value(dst, p, target)
	}
	if !e.enter() {
		return dst
	}
	dst = e.value(dst, p, target)
	e.depth--
	return dst
}

func (e *Encoder) structure(dst []byte, p *plan, at unsafe.Pointer) []byte {
	c := p.class.Load()
	if c != nil {
		dst = e.instance(dst, c)
	} else {
		dst = append(dst, tagMap)
	}
	for i := range p.fields {
		f := &p.fields[i]
		from := unsafe.Add(at, f.off)
		if c == nil {
			if f.omitEmpty && f.empty(from) {
				continue
			}
			dst = append(dst, f.key...)
		}
		dst = e.value(dst, f.plan, from)
		if e.fault != nil {
			under(e.fault, f.name)
			return dst
		}
	}
	if c == nil {
		dst = append(dst, tagEnd)
	}
	return dst
}

func (e *Encoder) elements(dst []byte, p *plan, at unsafe.Pointer, n int) []byte {
	if n > math.MaxInt32 {
		return e.fail(dst, "more than 2147483647 elements")
	}
	for i := range n {
		dst = e.value(dst, p, unsafe.Add(at, uintptr(i)*p.size))
		if e.fault != nil {
			underIndex(e.fault, i)
			return dst
		}
	}
	return dst
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, tagTrue)
	}
	return append(dst, tagFalse)
}

func (e *Encoder) uint64(dst []byte, v uint64) []byte {
	if v > math.MaxInt64 {
		return e.bigInt(dst, new(big.Int).SetUint64(v))
	}
	return appendLong(dst, int64(v))
}

func (e *Encoder) time(dst []byte, t time.Time) []byte {
	dst, ok := appendTime(dst, t)
	if !ok {
		return e.fail(dst, "a time that is further from 1970 than 2^63 milliseconds")
	}
	return dst
}

// text calls the method on a copy, since a method may keep its receiver.
func (e *Encoder) text(dst []byte, p *plan, at unsafe.Pointer) []byte {
	own := reflect.New(p.typ)
	own.Elem().Set(p.value(at))
	text, err := own.Interface().(encoding.TextMarshaler).MarshalText()
	if err != nil {
		e.fail(dst, p.typ.String()+" cannot be encoded: "+err.Error()) // fmt would repeat a panic of Error
		e.fault.Err = err
		return dst
	}
	return e.string(dst, string(text))
}
