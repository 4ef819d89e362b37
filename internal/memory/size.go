package memory

import (
	"reflect"
	"sync"
	"unsafe"
)

// Sizer returns the function that measures what values of type T hold beside their own memory, in bytes: texts, elements, what they point
// to. It is nil for types without pointers. The measure is about right and quick: of long slices and maps a few elements are looked at,
// and what lies deeper than [maxDepth] is left out. What several values share counts for each.
func Sizer[T any]() func(*T) int {
	m := measureOf(reflect.TypeFor[T]())
	if m == nil {
		return nil
	}
	return func(v *T) int { return m.of(unsafe.Pointer(v), maxDepth) }
}

const (
	maxDepth = 16
	// samples is the number of elements of a slice or a map that are looked at.
	samples = 16
)

// measure measures the values of a type.
type measure struct {
	// of returns the bytes that the value at at holds beside its own memory.
	of func(at unsafe.Pointer, depth int) int
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

// compile makes the measure of a type. making are those that are not complete yet, since a type may contain itself.
func compile(t reflect.Type, making map[reflect.Type]*measure) *measure {
	if !pointing(t) {
		return nil
	}
	if known := making[t]; known != nil {
		return known
	}
	m := &measure{}
	making[t] = m
	switch t.Kind() {
	case reflect.String:
		m.of = func(at unsafe.Pointer, _ int) int { return len(*(*string)(at)) }
	case reflect.Slice:
		m.of = compileSlice(t.Elem(), compile(t.Elem(), making))
	case reflect.Array:
		elem, size, n := compile(t.Elem(), making), t.Elem().Size(), t.Len()
		m.of = func(at unsafe.Pointer, depth int) int { return elem.all(at, size, n, depth) }
	case reflect.Pointer:
		elem, size := compile(t.Elem(), making), int(t.Elem().Size())
		m.of = func(at unsafe.Pointer, depth int) int {
			to := *(*unsafe.Pointer)(at)
			if to == nil || depth == 0 {
				return 0
			}
			return size + elem.one(to, depth-1)
		}
	case reflect.Struct:
		m.of = compileStruct(t, making)
	case reflect.Map:
		m.of = func(at unsafe.Pointer, depth int) int { return mapSize(reflect.NewAt(t, at).Elem(), depth) }
	case reflect.Interface:
		m.of = func(at unsafe.Pointer, depth int) int { return dynamicSize(reflect.NewAt(t, at).Elem().Elem(), depth) }
	default: // channels and functions
		m.of = func(unsafe.Pointer, int) int { return 0 }
	}
	return m
}

func (m *measure) one(at unsafe.Pointer, depth int) int {
	if m == nil {
		return 0
	}
	return m.of(at, depth)
}

// all measures n elements one behind the other.
func (m *measure) all(at unsafe.Pointer, size uintptr, n, depth int) int {
	if m == nil || depth == 0 {
		return 0
	}
	every := max(n/samples, 1)
	total, looked := 0, 0
	for i := 0; i < n; i += every {
		total += m.of(unsafe.Add(at, uintptr(i)*size), depth-1)
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
		for i := range t.NumField() {
			if pointing(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

func compileSlice(t reflect.Type, elem *measure) func(unsafe.Pointer, int) int {
	size := t.Size()
	return func(at unsafe.Pointer, depth int) int {
		s := (*sliceHeader)(at)
		return s.cap*int(size) + elem.all(s.data, size, s.len, depth)
	}
}

// sliceHeader is the memory layout of a slice of any type.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func compileStruct(t reflect.Type, making map[reflect.Type]*measure) func(unsafe.Pointer, int) int {
	type field struct {
		offset uintptr
		*measure
	}
	var fields []field
	for i := range t.NumField() {
		if m := compile(t.Field(i).Type, making); m != nil {
			fields = append(fields, field{t.Field(i).Offset, m})
		}
	}
	return func(at unsafe.Pointer, depth int) (total int) {
		for i := range fields {
			total += fields[i].of(unsafe.Add(at, fields[i].offset), depth)
		}
		return total
	}
}

func mapSize(m reflect.Value, depth int) int {
	n := m.Len()
	t := m.Type()
	size := n * int(t.Key().Size()+t.Elem().Size())
	if depth == 0 || !pointing(t.Key()) && !pointing(t.Elem()) {
		return size
	}
	total, looked := 0, 0
	for entries := m.MapRange(); looked < samples && entries.Next(); looked++ {
		total += dynamicSize(entries.Key(), depth-1) + dynamicSize(entries.Value(), depth-1)
	}
	if looked > 0 {
		size += int(float64(total) / float64(looked) * float64(n))
	}
	return size
}

// dynamicSize measures a value that cannot be addressed: what is in an interface or a map.
func dynamicSize(v reflect.Value, depth int) int {
	if !v.IsValid() || depth == 0 {
		return 0
	}
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Map:
		return mapSize(v, depth-1)
	case reflect.Interface:
		return dynamicSize(v.Elem(), depth-1)
	}
	if !pointing(v.Type()) {
		return int(v.Type().Size())
	}
	at := reflect.New(v.Type())
	at.Elem().Set(v)
	return int(v.Type().Size()) + measureOf(v.Type()).one(at.UnsafePointer(), depth-1)
}
