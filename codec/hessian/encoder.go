package hessian

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// Encoder writes several values into one stream, as the body of a Dubbo message is: they share one numbering of values,
// of classes and of types, so that the second argument may refer to the first.
//
// One goroutine at a time may use an Encoder. It keeps every value that it was given reachable until [Encoder.Reset],
// and a value must not change between the calls, since what was written before may be referred to.
type Encoder struct {
	out   []byte
	fault *codec.Error
	depth int

	count int        // of values numbered so far
	seen  []identity // those of them that may be referred to
	table []int32    // where seen is long: hash to index in seen plus 1

	classes  []*class
	shapes   map[string]*class // of Objects and Exceptions, by class name: the last that was written
	types    []string
	typeAt   map[string]int // where types is long
	classAt  map[*class]int // where classes is long
	sortable []anyKey       // scratch, a stack
}

type identity struct {
	ptr    unsafe.Pointer
	plan   *plan // since a struct and its first field have one address
	length int   // of slices
	number int
}

// NewEncoder returns an Encoder that appends to dst.
func NewEncoder(dst []byte) *Encoder { return &Encoder{out: dst} }

// Encode appends one value. After an error the Encoder writes nothing more and returns that error again, until it is
// reset; what it wrote before stays in [Encoder.Bytes]. It never panics: where a method of the value does, the error wraps
// a [codec.PanicError].
func (e *Encoder) Encode(v any) (err error) {
	defer remember(&err, &e.fault)
	defer codec.Contain(codecName, &err)
	return e.root(v)
}

// Bytes returns dst with all values that were encoded.
func (e *Encoder) Bytes() []byte { return e.out }

// Reset starts a new stream at the end of dst. It forgets all values and the error.
func (e *Encoder) Reset(dst []byte) {
	e.clear()
	e.out = dst
}

// The most capacity that an Encoder in the pool keeps.
const (
	keptSeen  = 4096
	keptNames = 64
)

// listed is the number of names, classes or identities that are looked through before there is an index of them.
const listed = 16

func (e *Encoder) release() {
	e.clear()
	encoders.Put(e)
}

func (e *Encoder) clear() {
	e.out, e.fault, e.depth, e.count = nil, nil, 0, 0
	if len(e.seen) > listed {
		clear(e.table)
	}
	if cap(e.seen) > keptSeen {
		e.seen, e.table = nil, nil
	}
	clear(e.seen)
	e.seen = e.seen[:0]
	clear(e.classes)
	clear(e.types)
	e.classes, e.types = e.classes[:0], e.types[:0]
	if cap(e.classes) > keptNames || cap(e.types) > keptNames {
		e.classes, e.types = nil, nil
	}
	e.shapes, e.typeAt, e.classAt = nil, nil, nil
	clear(e.sortable)
	e.sortable = e.sortable[:0]
	if cap(e.sortable) > keptNames {
		e.sortable = nil
	}
}

func (e *Encoder) root(v any) error {
	if e.fault != nil {
		return e.fault
	}
	out := e.any(e.out, v)
	if e.fault != nil {
		return e.fault
	}
	e.out = out
	return nil
}

// fail records a fault and returns dst.
func (e *Encoder) fail(dst []byte, message string) []byte {
	if e.fault == nil {
		e.fault = fault(-1, message)
	}
	return dst
}

// enter counts one more level and reports whether it is allowed. leave must follow where it is.
func (e *Encoder) enter() bool {
	if e.depth == maxDepth {
		e.fail(nil, tooDeep)
		return false
	}
	e.depth++
	return true
}

// flat checks that a value without parts in Go that has some on the wire may follow: so many levels.
func (e *Encoder) flat(levels int) {
	if e.depth+levels > maxDepth {
		e.fail(nil, tooDeep)
	}
}

// begin numbers a value that is written now, or returns the number it had when it was written before.
func (e *Encoder) begin(ptr unsafe.Pointer, p *plan, length int) (number int, before bool) {
	if len(e.seen) <= listed {
		for i := range e.seen {
			if s := &e.seen[i]; s.ptr == ptr && s.plan == p && s.length == length {
				return s.number, true
			}
		}
	} else if i := e.find(ptr, p, length); e.table[i] != 0 {
		return e.seen[e.table[i]-1].number, true
	}
	e.seen = append(e.seen, identity{ptr, p, length, e.count})
	if n := len(e.seen); n > listed {
		e.index(n)
	}
	e.count++
	return 0, false
}

// index enters the last of n values seen into the table, which is at most half full.
func (e *Encoder) index(n int) {
	from := n - 1
	switch {
	case 2*n > len(e.table):
		e.table, from = make([]int32, max(4*listed, 4*n)), 0
		e.table = e.table[:1<<(bitLen(len(e.table))-1)]
	case n == listed+1:
		from = 0
	}
	for i := from; i < n; i++ {
		s := &e.seen[i]
		e.table[e.find(s.ptr, s.plan, s.length)] = int32(i + 1)
	}
}

func bitLen(n int) (bits int) {
	for ; n > 0; n >>= 1 {
		bits++
	}
	return bits
}

// find returns the place of a value in the table, or the free place where it belongs.
func (e *Encoder) find(ptr unsafe.Pointer, p *plan, length int) int {
	mask := len(e.table) - 1
	i := int(uint64(uintptr(ptr))*0x9e3779b97f4a7c15>>20) & mask
	for ; e.table[i] != 0; i = (i + 1) & mask {
		if s := &e.seen[e.table[i]-1]; s.ptr == ptr && s.plan == p && s.length == length {
			break
		}
	}
	return i
}

func appendRef(dst []byte, number int) []byte { return appendInt(append(dst, tagRef), int32(number)) }

// typeName writes the name of a list's or map's type, or its number where it was written before.
func (e *Encoder) typeName(dst []byte, name string) []byte {
	at := -1
	if e.typeAt != nil {
		if i, ok := e.typeAt[name]; ok {
			at = i
		}
	} else {
		at = slices.Index(e.types, name)
	}
	if at >= 0 {
		return appendInt(dst, int32(at))
	}
	e.types = append(e.types, name)
	if e.typeAt != nil {
		e.typeAt[name] = len(e.types) - 1
	} else if len(e.types) > listed {
		e.typeAt = make(map[string]int)
		for i, t := range e.types {
			e.typeAt[t] = i
		}
	}
	return e.string(dst, name)
}

// instance writes the start of an object: the definition of its class, where this is the first, and its number.
func (e *Encoder) instance(dst []byte, c *class) []byte {
	at := -1
	if e.classAt != nil {
		if i, ok := e.classAt[c]; ok {
			at = i
		}
	} else {
		at = slices.Index(e.classes, c)
	}
	if at < 0 {
		at = len(e.classes)
		e.classes = append(e.classes, c)
		if e.classAt != nil {
			e.classAt[c] = at
		} else if len(e.classes) > listed {
			e.classAt = make(map[*class]int)
			for i, c := range e.classes {
				e.classAt[c] = i
			}
		}
		dst = append(dst, c.definition...)
	}
	if at < 16 {
		return append(dst, byte(tagShortObject+at))
	}
	return appendInt(append(dst, tagObject), int32(at))
}

// listHead writes the start of a list of n elements.
func (e *Encoder) listHead(dst []byte, typ string, n int) []byte {
	switch {
	case typ == "" && n <= 7:
		return append(dst, byte(tagShortList+n))
	case typ == "":
		return appendInt(append(dst, tagList), int32(n))
	case n <= 7:
		return e.typeName(append(dst, byte(tagTypedShort+n)), typ)
	}
	return appendInt(e.typeName(append(dst, tagTypedList), typ), int32(n))
}

func (e *Encoder) mapHead(dst []byte, typ string) []byte {
	if typ == "" {
		return append(dst, tagMap)
	}
	return e.typeName(append(dst, tagTypedMap), typ)
}

// name returns the Java name of the type of p, or "".
func (p *plan) name() string {
	if c := p.class.Load(); c != nil {
		return c.name
	}
	return ""
}

func (e *Encoder) string(dst []byte, s string) []byte {
	if out := appendShort(dst, s); out != nil { // most strings
		return out
	}
	dst, ok := appendString(dst, s)
	if !ok {
		return e.fail(dst, "a string that is not valid UTF-8: send it as []byte")
	}
	return dst
}

// addressIn returns the address of the value in v. Go keeps most values behind a pointer; a pointer or a map it keeps in
// the interface itself. Of a struct or array as large as a pointer either may be true, so it is copied.
func addressIn(v any, t reflect.Type) unsafe.Pointer {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map:
		return copyOf(v, t)
	case reflect.Struct, reflect.Array:
		if t.Size() == unsafe.Sizeof(uintptr(0)) {
			return copyOf(v, t)
		}
	}
	return (*emptyInterface)(unsafe.Pointer(&v)).data
}

// copyOf returns the address of a copy of the value in v.
func copyOf(v any, t reflect.Type) unsafe.Pointer {
	own := reflect.New(t)
	own.Elem().Set(reflect.ValueOf(v))
	return own.UnsafePointer()
}
