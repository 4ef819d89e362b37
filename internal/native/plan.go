package native

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sabir-go/sabir/internal/layout"
)

// opcode selects the kind of value that one operation reads or writes at an address.
type opcode uint8

const (
	opBool opcode = iota
	opInt8
	opInt16
	opInt32
	opInt64
	opUint8
	opUint16
	opUint32
	opUint64
	opFloat32
	opFloat64
	opComplex64
	opComplex128
	opString
	opBytes
	opTime
	opMarshaler
	opInterface
	opPointer
	opSlice
	opArray
	opByteArray
	opMap

	// The rest occurs only in translations, so only in decoding.
	opInt8To16
	opInt8To32
	opInt8To64
	opUint8To16
	opUint8To32
	opUint8To64
	opFloat32To64
	opComplex64To128
	opBox  // a T of the writer into a *T of the reader
	opSkip // a field that the reader does not have
	opZero // a field that the writer does not have
)

// op is one step of a plan: code at the address of the value plus off.
type op struct {
	code opcode
	off  uintptr
	sub  *plan  // what a code with parts needs to know
	path string // the field as a JSON Pointer below the value, "" where the value is no struct
}

// plan is a compiled type. It does not change once its compilation has ended.
type plan struct {
	typ  reflect.Type
	kind valueKind
	size uintptr
	ops  []op

	// flat: nothing but numbers, strings, bytes and times, in which no method of the program's runs. Only the others pay
	// for being able to recover from a panic, which takes as long as it takes to write a small struct.
	flat bool

	// min is the fewest bytes a value takes. Where it is 0 a value always takes none.
	min uint64

	key, elem *plan // of maps; of pointers, slices, arrays and maps
	length    int   // of arrays
	fields    []field
	marshaler *layout.Marshaler
	maps      *mapAccess
	slices    *sync.Pool // of slices: *sliceBuffer
	described atomic.Pointer[Schema]

	skip  *Schema // of opSkip: the writer's schema and the place in it
	place ref
}

// plans holds every compiled type: reflect.Type to *plan. It grows with the types of the program, never with input.
var plans sync.Map

// compiling is held while a type is compiled, so that each type has one plan.
var compiling sync.Mutex

// planOf returns the plan of t, compiling it on first use.
func planOf(t reflect.Type) (*plan, error) {
	if p, ok := plans.Load(t); ok {
		return p.(*plan), nil
	}
	compiling.Lock()
	defer compiling.Unlock()
	c := compiler{fresh: make(map[reflect.Type]*plan)}
	p, err := c.compile(t)
	if err != nil {
		return nil, err
	}
	// Only a whole compilation is published: a plan may refer to any other of the same run.
	for typ, fresh := range c.fresh {
		fresh.flat = !slices.ContainsFunc(fresh.ops, op.nests)
		plans.Store(typ, fresh)
	}
	return p, nil
}

// nests reports whether the operation leads to other values or to a method.
func (o op) nests() bool {
	switch o.code {
	case opMarshaler, opInterface, opPointer, opSlice, opArray, opMap:
		return true
	}
	return false
}

// inline appends the operations of a value at off inside a larger one. Nested structs so become one flat list.
func inline(ops []op, inner []op, off uintptr, path string) []op {
	for _, o := range inner {
		o.off += off
		o.path = path + o.path
		ops = append(ops, o)
	}
	return ops
}

// noescape hides p from escape analysis, so that a caller's value may stay on its stack. It is right only because
// nothing in this package keeps p: user methods and maps are given copies on the heap.
//
//go:nosplit
//go:nocheckptr
func noescape(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(nil, uintptr(p)) }
