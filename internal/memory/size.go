package memory

import (
	"reflect"
	"sync"
	"unsafe"
)

// Sizer returns the function that measures what values of type T hold beside their own memory, in bytes: texts, elements, what they point
// to. It is nil for types without pointers. The measure is about right and quick: of long slices and maps a few elements are looked at,
// and what lies deeper than [maxDepth] is left out. What several values share counts for each. It looks at [maxLooks] values at most, since each may lead to many others.
func Sizer[T any]() func(*T) int {
	m := measureOf(reflect.TypeFor[T]())
	if m == nil {
		return nil
	}
	return func(v *T) int { return m.size(unsafe.Pointer(v)) }
}

// SizerOf is [Sizer] for a type that is known only while the program runs. The function takes pointers to values of that type.
func SizerOf(t reflect.Type) func(any) int {
	m := measureOf(t)
	if m == nil {
		return nil
	}
	return func(v any) int { return m.size(reflect.ValueOf(v).UnsafePointer()) }
}

func (m *measure) size(at unsafe.Pointer) int {
	w := walks.Get().(*walk)
	defer walks.Put(w)
	w.left = maxLooks
	return m.of(at, w, maxDepth)
}

// walk counts what is looked at for one value.
type walk struct{ left int }

var walks = sync.Pool{New: func() any { return new(walk) }}

// more reports whether more may be looked at.
func (w *walk) more() bool {
	w.left--
	return w.left >= 0
}

const (
	maxDepth = 16
	// samples is the number of elements of a slice or a map that are looked at.
	samples = 16
	// maxLooks is the number of values behind pointers and in interfaces that are looked at.
	maxLooks = 4096
)

// measure measures the values of a type.
type measure struct {
	// of returns the bytes that the value at at holds beside its own memory.
	of func(at unsafe.Pointer, w *walk, depth int) int
}

var measures sync.Map // reflect.Type to *measure

// measureOf returns the measure of a type; nil where its values hold nothing.
func measureOf(t reflect.Type) *measure {
	if known, ok := measures.Load(t); ok {
		return known.(*measure)
	}
	made := compile(t, make(map[reflect.Type]*measure))
	measures.Store(t, made)
	return made
}

// isMessageState reports whether a type is what generated messages of Protocol Buffers have beside their fields: it leads to the descriptions of
// all messages, which belong to none of them.
func isMessageState(t reflect.Type) bool {
	return t.Name() == "MessageState" && t.PkgPath() == "google.golang.org/protobuf/internal/impl"
}

// compile makes the measure of a type. making are those that are not complete yet, since a type may contain itself.
func compile(t reflect.Type, making map[reflect.Type]*measure) *measure {
	if !pointing(t) || isMessageState(t) {
		return nil
	}
	if known := making[t]; known != nil {
		return known
	}
	m := &measure{}
	making[t] = m
	switch t.Kind() {
	case reflect.String:
		m.of = func(at unsafe.Pointer, _ *walk, _ int) int { return len(*(*string)(at)) }
	case reflect.Slice:
		m.of = compileSlice(t.Elem(), compile(t.Elem(), making))
	case reflect.Array:
		elem, size, n := compile(t.Elem(), making), t.Elem().Size(), t.Len()
		m.of = func(at unsafe.Pointer, w *walk, depth int) int { return elem.all(at, size, n, w, depth) }
	case reflect.Pointer:
		elem, size := compile(t.Elem(), making), int(t.Elem().Size())
		m.of = func(at unsafe.Pointer, w *walk, depth int) int {
			to := *(*unsafe.Pointer)(at)
			if to == nil || depth == 0 || !w.more() {
				return 0
			}
			return size + elem.one(to, w, depth-1)
		}
	case reflect.Struct:
		m.of = compileStruct(t, making)
	case reflect.Map:
		m.of = func(at unsafe.Pointer, w *walk, depth int) int { return mapSize(reflect.NewAt(t, at).Elem(), w, depth) }
	case reflect.Interface:
		m.of = func(at unsafe.Pointer, w *walk, depth int) int {
			return dynamicSize(reflect.NewAt(t, at).Elem().Elem(), w, depth)
		}
	default: // channels and functions
		m.of = func(unsafe.Pointer, *walk, int) int { return 0 }
	}
	return m
}

func (m *measure) one(at unsafe.Pointer, w *walk, depth int) int {
	if m == nil {
		return 0
	}
	return m.of(at, w, depth)
}

// all measures n elements one behind the other.
func (m *measure) all(at unsafe.Pointer, size uintptr, n int, w *walk, depth int) int {
	if m == nil || depth == 0 {
		return 0
	}
	every := max(n/samples, 1)
	total, looked := 0, 0
	for i := 0; i < n; i += every {
		total += m.of(unsafe.Add(at, uintptr(i)*size), w, depth-1)
		looked++
	}
	if looked == n {
		return total
	}
	return int(float64(total) / float64(looked) * float64(n))
}

// pointing reports whether values of the type can hold more than their own memory.
func pointing(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Slice, reflect.Pointer, reflect.Map, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Array:
		return t.Len() > 0 && pointing(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			if pointing(field.Type) {
				return true
			}
		}
	}
	return false
}

func compileSlice(t reflect.Type, elem *measure) func(unsafe.Pointer, *walk, int) int {
	size := t.Size()
	return func(at unsafe.Pointer, w *walk, depth int) int {
		s := (*sliceHeader)(at)
		return s.cap*int(size) + elem.all(s.data, size, s.len, w, depth)
	}
}

// sliceHeader is the memory layout of a slice of any type.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func compileStruct(t reflect.Type, making map[reflect.Type]*measure) func(unsafe.Pointer, *walk, int) int {
	type field struct {
		offset uintptr
		*measure
	}
	var fields []field
	for f := range t.Fields() {
		if m := compile(f.Type, making); m != nil {
			fields = append(fields, field{f.Offset, m})
		}
	}
	return func(at unsafe.Pointer, w *walk, depth int) (total int) {
		for i := range fields {
			total += fields[i].of(unsafe.Add(at, fields[i].offset), w, depth)
		}
		return total
	}
}

func mapSize(m reflect.Value, w *walk, depth int) int {
	n := m.Len()
	t := m.Type()
	size := n * int(t.Key().Size()+t.Elem().Size())
	if depth == 0 || !pointing(t.Key()) && !pointing(t.Elem()) {
		return size
	}
	total, looked := 0, 0
	for entries := m.MapRange(); looked < samples && entries.Next(); looked++ {
		total += dynamicSize(entries.Key(), w, depth-1) + dynamicSize(entries.Value(), w, depth-1)
	}
	if looked > 0 {
		size += int(float64(total) / float64(looked) * float64(n))
	}
	return size
}

// dynamicSize measures a value that cannot be addressed: what is in an interface or a map.
func dynamicSize(v reflect.Value, w *walk, depth int) int {
	if !v.IsValid() || depth == 0 || !w.more() {
		return 0
	}
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Map:
		return mapSize(v, w, depth-1)
	case reflect.Interface:
		return dynamicSize(v.Elem(), w, depth-1)
	}
	if !pointing(v.Type()) {
		return int(v.Type().Size())
	}
	at := reflect.New(v.Type())
	at.Elem().Set(v)
	return int(v.Type().Size()) + measureOf(v.Type()).one(at.UnsafePointer(), w, depth-1)
}
