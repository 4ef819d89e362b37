package validate

import (
	"reflect"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/sabir-go/sabir/internal/library"
)

// opcode is the operation of an op. The ops of a list all have to pass.
type opcode uint8

const (
	opFail      opcode = iota // never passes
	opAsk                     // never passes: only the walk for errors can decide
	opRunes                   // string with lo to hi characters
	opText                    // string that satisfies text
	opTime                    // time that satisfies moment
	opUnique                  // slice, array or map with no value twice
	opInt                     // signed integer from lo to hi
	opIntIs                   // signed integer that satisfies number
	opUint                    // unsigned integer from lo to hi, both kept as uint64 bits
	opUintIs                  // unsigned integer, as int64 bits, that satisfies number
	opFloat                   // float that satisfies float
	opBool                    // bool equal to lo
	opLen                     // slice of lo to hi elements
	opMapLen                  // map of lo to hi entries
	opNotNil                  // slice, map, channel or function that is not nil
	opNil                     // and one that is
	opNotZero                 // value of any type that is not its zero value
	opZero                    // and one that is
	opVar                     // value that satisfies the library's rules tag
	opIf                      // where list does not pass, the next skip ops are jumped over
	opOr                      // one of the lists in either passes
	opPointer                 // nil passes if nilPasses, else list has to pass on the value pointed to
	opInterface               // nil passes if nilPasses, a harmless value if untagged, else only the walk can decide
	opStruct                  // the struct passes its own ops
	opSlice                   // every element passes list
	opArray                   // every element passes list; hi elements
	opMap                     // every key passes keys and every value passes list
)

// op is one compiled check. It is kept small because every check reads it; what only some need is in operand.
type op struct {
	code      opcode
	width     uint8 // bytes of a number
	nilPasses bool
	skip      uint16
	offset    uintptr // of the value, from where the list runs
	lo, hi    int64
	*operand
}

// operand holds the fields that only some ops need.
type operand struct {
	text     func(string) bool
	number   func(int64) bool
	float    func(float64) bool
	moment   func(time.Time) bool
	typ      reflect.Type // of the value, or of a map
	tag      string
	lib      library.Library
	list     []op
	keys     []op
	either   [][]op
	size     uintptr // of a slice's or array's element
	strukt   *structOps
	untagged bool
	scratch  *sync.Pool // of *entry
}

// structOps is the compiled form of a struct type. Types that contain themselves refer to it while it is compiled.
type structOps struct {
	ops    []op
	fields map[string][]op // the same by field
	done   bool
}

// entry is the buffer that a map's keys and values are copied to while they are checked.
type entry struct {
	key, value reflect.Value
	iter       reflect.MapIter
}

// pass reports whether the value at base certainly satisfies all ops. It must not keep base or a pointer made from
// it, which may point into a stack.
func pass(ops []op, base unsafe.Pointer, depth int) bool {
	for i := 0; i < len(ops); i++ {
		o := &ops[i]
		p := unsafe.Add(base, o.offset)
		switch o.code {
		case opRunes:
			if !runesWithin(*(*string)(p), o.lo, o.hi) {
				return false
			}
		case opText:
			if !o.text(*(*string)(p)) {
				return false
			}
		case opTime:
			if !o.moment(reflect.NewAt(o.typ, p).Elem().Convert(timeType).Interface().(time.Time)) {
				return false
			}
		case opUnique:
			if !unique(reflect.NewAt(o.typ, p).Elem()) {
				return false
			}
		case opInt:
			if n := signed(p, o.width); n < o.lo || n > o.hi {
				return false
			}
		case opIntIs:
			if !o.number(signed(p, o.width)) {
				return false
			}
		case opUint:
			if n := unsigned(p, o.width); n < uint64(o.lo) || n > uint64(o.hi) {
				return false
			}
		case opUintIs:
			if !o.number(int64(unsigned(p, o.width))) {
				return false
			}
		case opFloat:
			if !o.float(floating(p, o.width)) {
				return false
			}
		case opBool:
			if *(*bool)(p) != (o.lo == 1) {
				return false
			}
		case opLen:
			if n := int64(len(*(*[]struct{})(p))); n < o.lo || n > o.hi {
				return false
			}
		case opMapLen:
			if n := int64(reflect.NewAt(o.typ, p).Elem().Len()); n < o.lo || n > o.hi {
				return false
			}
		case opNotNil:
			if *(*unsafe.Pointer)(p) == nil {
				return false
			}
		case opNil:
			if *(*unsafe.Pointer)(p) != nil {
				return false
			}
		case opNotZero:
			if reflect.NewAt(o.typ, p).Elem().IsZero() {
				return false
			}
		case opZero:
			if !reflect.NewAt(o.typ, p).Elem().IsZero() {
				return false
			}
		case opVar:
			if !o.var_(p) {
				return false
			}
		case opIf:
			if !pass(o.list, p, depth) {
				i += int(o.skip)
			}
		case opOr:
			if !passOne(o.either, p, depth) {
				return false
			}
		case opPointer:
			target := *(*unsafe.Pointer)(p)
			if target == nil {
				if !o.nilPasses {
					return false
				}
			} else if !pass(o.list, target, depth) {
				return false
			}
		case opInterface:
			if !o.harmless(p) {
				return false
			}
		case opStruct:
			if depth == maxDepth || !pass(o.strukt.ops, p, depth+1) {
				return false
			}
		case opSlice:
			elements := *(*[]struct{})(p)
			if !passAll(o.list, unsafe.Pointer(unsafe.SliceData(elements)), len(elements), o.size, depth) {
				return false
			}
		case opArray:
			if !passAll(o.list, p, int(o.hi), o.size, depth) {
				return false
			}
		case opMap:
			if !o.entries(p, func(key, value unsafe.Pointer) bool {
				return pass(o.keys, key, depth) && pass(o.list, value, depth)
			}) {
				return false
			}
		default: // opFail, opAsk
			return false
		}
	}
	return true
}

// passOne reports whether one of the lists passes.
func passOne(either [][]op, p unsafe.Pointer, depth int) bool {
	for _, list := range either {
		if pass(list, p, depth) {
			return true
		}
	}
	return false
}

// passAll reports whether n elements from first on pass.
func passAll(list []op, first unsafe.Pointer, n int, size uintptr, depth int) bool {
	for i := range n {
		if !pass(list, unsafe.Add(first, uintptr(i)*size), depth) {
			return false
		}
	}
	return true
}

// runesWithin reports whether s has lo to hi characters, counted as the library does. A string of n bytes has n/4 to
// n characters, which decides most cases, and every very long string, without counting.
func runesWithin(s string, lo, hi int64) bool {
	most := int64(len(s))
	least := (most + utf8.UTFMax - 1) / utf8.UTFMax
	if least >= lo && most <= hi {
		return true
	}
	if most < lo || least > hi {
		return false
	}
	n := int64(utf8.RuneCountInString(s))
	return n >= lo && n <= hi
}

func signed(p unsafe.Pointer, width uint8) int64 {
	switch width {
	case 1:
		return int64(*(*int8)(p))
	case 2:
		return int64(*(*int16)(p))
	case 4:
		return int64(*(*int32)(p))
	default:
		return *(*int64)(p)
	}
}

func unsigned(p unsafe.Pointer, width uint8) uint64 {
	switch width {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	default:
		return *(*uint64)(p)
	}
}

func floating(p unsafe.Pointer, width uint8) float64 {
	if width == 4 {
		return float64(*(*float32)(p))
	}
	return *(*float64)(p)
}

// var_ asks the library about one value, which it gets a copy of. Where the rule panics the value does not pass; the library is
// asked about it once more then, by [Plan.explain], whose error the panic becomes.
func (o *op) var_(p unsafe.Pointer) (passed bool) {
	defer func() {
		if recover() != nil {
			passed = false
		}
	}()
	return o.lib.Passes(reflect.NewAt(o.typ, p).Elem().Interface(), o.tag)
}

// harmless reports whether an interface holds something that certainly passes: nil where that is allowed, and where
// no rule is set, one of the types that JSON decodes into, which have no rules of their own.
func (o *op) harmless(p unsafe.Pointer) bool {
	if *(*unsafe.Pointer)(p) == nil {
		return o.nilPasses
	}
	if !o.untagged || o.typ.NumMethod() > 0 {
		return false
	}
	switch (*(*any)(p)).(type) {
	case string, float64, bool, int, int64, map[string]any, []any:
		return true
	}
	return false
}

// entries calls check with the address of a copy of every key and value of the map at p, until it returns false.
func (o *op) entries(p unsafe.Pointer, check func(key, value unsafe.Pointer) bool) bool {
	if *(*unsafe.Pointer)(p) == nil {
		return true
	}
	// Going through an interface leaves a Value that holds the map itself and not the address p.
	m := reflect.ValueOf(reflect.NewAt(o.typ, p).Elem().Interface())
	e := o.scratch.Get().(*entry)
	e.iter.Reset(m)
	passed := true
	for passed && e.iter.Next() {
		e.key.SetIterKey(&e.iter)
		e.value.SetIterValue(&e.iter)
		passed = check(e.key.Addr().UnsafePointer(), e.value.Addr().UnsafePointer())
	}
	e.iter.Reset(reflect.Value{})
	e.key.SetZero()
	e.value.SetZero()
	o.scratch.Put(e)
	return passed
}

func newScratch(m reflect.Type) *sync.Pool {
	return &sync.Pool{New: func() any {
		return &entry{key: reflect.New(m.Key()).Elem(), value: reflect.New(m.Elem()).Elem()}
	}}
}
