package layout

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// Source returns the type of a value that is to be encoded and where it lies: v is a value or a pointer to one. ok is false
// where v is nil or a nil pointer.
func Source(v any) (t reflect.Type, at unsafe.Pointer, ok bool) {
	t = reflect.TypeOf(v)
	if t == nil {
		return nil, nil, false
	}
	if t.Kind() == reflect.Pointer {
		at = (*emptyInterface)(unsafe.Pointer(&v)).data
		return t.Elem(), at, at != nil
	}
	return t, addressIn(v, t), true
}

// Target returns the type and the place that v, a pointer, refers to. ok is false where v is no pointer or nil.
func Target(v any) (t reflect.Type, at unsafe.Pointer, ok bool) {
	t = reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil, nil, false
	}
	at = (*emptyInterface)(unsafe.Pointer(&v)).data
	return t.Elem(), at, at != nil
}

// emptyInterface is the memory layout of a value of type any.
type emptyInterface struct {
	typ, data unsafe.Pointer
}

// addressIn returns the address of the value in v. Go keeps most values behind a pointer; what is as large as a pointer
// may lie in the interface itself, so it is copied.
func addressIn(v any, t reflect.Type) unsafe.Pointer {
	switch t.Kind() {
	case reflect.Map, reflect.Struct, reflect.Array, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		if t.Size() == unsafe.Sizeof(uintptr(0)) {
			own := reflect.New(t)
			own.Elem().Set(reflect.ValueOf(v))
			return own.UnsafePointer()
		}
	}
	return (*emptyInterface)(unsafe.Pointer(&v)).data
}

// SliceHeader is the memory layout of a slice of any type.
type SliceHeader struct {
	Data     unsafe.Pointer
	Len, Cap int
}

// sliceBuffer makes the memory of new slices of one type. It is kept in a pool, because reflect.MakeSlice would
// allocate a header as well.
type sliceBuffer struct {
	value  reflect.Value // a slice that can be set
	header *SliceHeader  // the same memory
}

func slicePool(t reflect.Type) *sync.Pool {
	return &sync.Pool{New: func() any {
		v := reflect.New(t)
		return &sliceBuffer{value: v.Elem(), header: (*SliceHeader)(v.UnsafePointer())}
	}}
}

// emptyBase is the memory to which empty slices point that are not nil. Its type has the strictest alignment.
var emptyBase complex128

// MakeSlice returns zeroed memory for n elements of the Slice t.
func (t *Type) MakeSlice(n int) SliceHeader {
	if n == 0 {
		return SliceHeader{Data: unsafe.Pointer(&emptyBase)}
	}
	buffer := t.slices.Get().(*sliceBuffer)
	buffer.value.Grow(n)
	made := SliceHeader{Data: buffer.header.Data, Len: n, Cap: n}
	*buffer.header = SliceHeader{}
	t.slices.Put(buffer)
	return made
}

// GrowSlice adds one zeroed element to the Slice t at at, as the built-in append does, and returns where it is.
func (t *Type) GrowSlice(at unsafe.Pointer) unsafe.Pointer {
	h := (*SliceHeader)(at)
	if h.Len == h.Cap {
		buffer := t.slices.Get().(*sliceBuffer)
		*buffer.header = *h
		buffer.value.Grow(max(1, h.Len))
		*h = *buffer.header
		*buffer.header = SliceHeader{}
		t.slices.Put(buffer)
	}
	h.Len++
	return unsafe.Add(h.Data, uintptr(h.Len-1)*t.Elem.Size)
}

// New returns a new zero value of the Elem of t, a Pointer.
func (t *Type) New() unsafe.Pointer { return reflect.New(t.Go.Elem()).UnsafePointer() }

// Zero sets the value of type t at at to zero.
func (t *Type) Zero(at unsafe.Pointer) { reflect.NewAt(t.Go, at).Elem().SetZero() }

// Entries is memory for one entry of a map at a time, for reading all entries or for making a map. It comes from a pool: Release
// puts it back.
type Entries struct {
	Key, Elem unsafe.Pointer // where the entry lies

	key, elem reflect.Value
	source    reflect.Value // the map that is iterated
	sourceAt  *unsafe.Pointer
	iter      *reflect.MapIter
	made      reflect.Value
	typ       *Type
}

func roomPool(t reflect.Type) *sync.Pool {
	return &sync.Pool{New: func() any {
		key, elem, source := reflect.New(t.Key()), reflect.New(t.Elem()), reflect.New(t)
		return &Entries{
			Key: key.UnsafePointer(), Elem: elem.UnsafePointer(), key: key.Elem(), elem: elem.Elem(),
			source: source.Elem(), sourceAt: (*unsafe.Pointer)(source.UnsafePointer()), iter: source.Elem().MapRange(),
		}
	}}
}

// Entries returns the entries of the Map t at at, which is not nil, before the first one, and how many there are. Their order
// differs from run to run.
func (t *Type) Entries(at unsafe.Pointer) (*Entries, int) {
	e := t.rooms.Get().(*Entries)
	e.typ, *e.sourceAt = t, *(*unsafe.Pointer)(at)
	e.iter.Reset(e.source)
	return e, e.source.Len()
}

// Next puts the next entry where Key and Elem point to, until there is none left.
func (e *Entries) Next() bool {
	if !e.iter.Next() {
		return false
	}
	e.key.SetIterKey(e.iter)
	e.elem.SetIterValue(e.iter)
	return true
}

// MakeMap starts a map of type t with capacity for n entries.
func (t *Type) MakeMap(n int) *Entries {
	e := t.rooms.Get().(*Entries)
	e.typ, e.made = t, reflect.MakeMapWithSize(t.Go, n)
	return e
}

// ContinueMap adds to the map at at, or starts one where it is nil.
func (t *Type) ContinueMap(at unsafe.Pointer) *Entries {
	if *(*unsafe.Pointer)(at) == nil {
		return t.MakeMap(0)
	}
	e := t.rooms.Get().(*Entries)
	e.typ, e.made = t, reflect.NewAt(t.Go, at).Elem()
	return e
}

// Clear empties the entry.
func (e *Entries) Clear() {
	e.key.SetZero()
	e.elem.SetZero()
}

// Put adds the entry to the map that is made. It is false where the map has the key already, whose value is then replaced.
func (e *Entries) Put() bool {
	before := e.made.Len()
	e.made.SetMapIndex(e.key, e.elem)
	return e.made.Len() > before
}

// Store puts the map that was made at at.
func (e *Entries) Store(at unsafe.Pointer) { *(*unsafe.Pointer)(at) = e.made.UnsafePointer() }

// Step names the entry in the place of an error: by its key if that is a string, else by i.
func (e *Entries) Step(i int) string {
	if e.key.Kind() == reflect.String {
		return "/" + Escape(e.key.String())
	}
	return index(i)
}

// Release puts e back; it must not be used any more.
func (e *Entries) Release() {
	e.Clear()
	*e.sourceAt, e.made = nil, reflect.Value{}
	e.iter.Reset(e.source)
	e.typ.rooms.Put(e)
}

// Under puts step before the place of err.
func Under(err *codec.Error, step string) *codec.Error {
	err.Pointer = step + err.Pointer
	return err
}

// UnderIndex puts the place of an element before the place of err.
func UnderIndex(err *codec.Error, i int) *codec.Error { return Under(err, index(i)) }

// SetInteger sets the integer of a kind at an address, and reports whether n is in its range. Of one that is not, the low bits are set.
func SetInteger(kind Kind, at unsafe.Pointer, n int64) (inRange bool) {
	switch kind {
	case Int8:
		*(*int8)(at) = int8(n)
		return n == int64(int8(n))
	case Int16:
		*(*int16)(at) = int16(n)
		return n == int64(int16(n))
	case Int32:
		*(*int32)(at) = int32(n)
		return n == int64(int32(n))
	case Int64:
		*(*int64)(at) = n
	case Uint8:
		*(*uint8)(at) = uint8(n)
		return n == int64(uint8(n))
	case Uint16:
		*(*uint16)(at) = uint16(n)
		return n == int64(uint16(n))
	case Uint32:
		*(*uint32)(at) = uint32(n)
		return n == int64(uint32(n))
	case Uint64:
		*(*uint64)(at) = uint64(n)
		return n >= 0
	}
	return true
}
