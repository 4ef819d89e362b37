package hessian

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sabir-go/sabir/internal/layout"
)

// opcode selects how a value at an address is written and read.
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
	opString
	opBytes
	opByteArray
	opTime
	opText // by MarshalText and UnmarshalText
	opDecimal
	opBigInt
	opAny       // any
	opInterface // an interface with methods
	opPointer
	opSlice
	opArray
	opMap
	opAnySlice // []any
	opAnyMap   // map[string]any
	opStruct
	opObject // Object
	opList   // List
	opMapped // Map
	opThrown // Exception
)

// plan is a compiled type. It does not change once its compilation has ended, but for class, which Register may set once.
type plan struct {
	typ  reflect.Type
	op   opcode
	size uintptr

	key, elem *plan // of maps; of pointers, slices, arrays and maps
	length    int   // of arrays
	slices    *sync.Pool

	fields []field        // of structs
	byName map[string]int // the indexes of fields
	names  layout.Names

	pointer *plan // to this type: set for structs only
	class   atomic.Pointer[class]
}

// own reports whether a copy of a value of p may be referred to, so that it needs memory that is not used again.
func (p *plan) own() bool {
	switch p.op {
	case opSlice, opArray, opMap, opAnySlice, opAnyMap, opStruct, opObject, opList, opMapped, opThrown, opString, opTime, opBigInt, opDecimal:
		return true
	}
	return false
}

// class is the Java name of a type.
type class struct {
	name       string
	definition []byte // of structs and enums: the whole class definition
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
		plans.Store(typ, fresh)
	}
	return p, nil
}

// mustPlan returns the plan of a type of this package, for which planOf cannot fail.
func mustPlan[T any]() *plan {
	p, err := planOf(reflect.TypeFor[T]())
	if err != nil {
		panic(err.Error())
	}
	return p
}

// value returns the value at an address of type p.
func (p *plan) value(at unsafe.Pointer) reflect.Value { return reflect.NewAt(p.typ, at).Elem() }

// new returns zeroed memory for one value.
func (p *plan) new() unsafe.Pointer { return reflect.New(p.typ).UnsafePointer() }

// sliceHeader is the memory layout of a slice of any type.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// sliceBuffer makes the memory of new slices of one type. It is kept in a pool, because reflect.MakeSlice would allocate a
// header as well.
type sliceBuffer struct {
	value  reflect.Value // a slice that can be set
	header *sliceHeader  // the same memory
}

func newSliceRoom(t reflect.Type) *sliceBuffer {
	v := reflect.New(t)
	return &sliceBuffer{value: v.Elem(), header: (*sliceHeader)(v.UnsafePointer())}
}

// emptyBase is the memory to which empty slices point that are not nil. Its type has the strictest alignment.
var emptyBase complex128

// grow returns h with capacity for at least n more elements.
func (p *plan) grow(h sliceHeader, n int) sliceHeader {
	if n == 0 && h.data == nil {
		return sliceHeader{data: unsafe.Pointer(&emptyBase)}
	}
	if h.cap == 0 {
		h = sliceHeader{}
	}
	buffer := p.slices.Get().(*sliceBuffer)
	*buffer.header = h
	buffer.value.Grow(n)
	h = *buffer.header
	*buffer.header = sliceHeader{}
	p.slices.Put(buffer)
	return h
}
