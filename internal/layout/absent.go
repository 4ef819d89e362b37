package layout

import (
	"reflect"
	"strings"
	"unsafe"
)

// Absence returns the function that reports whether a field is left out by the options of its tag, each between commas, or nil where it never is.
func Absence(options string) func(t *Type, at unsafe.Pointer) bool {
	empty, zero := strings.Contains(options, ",omitempty,"), strings.Contains(options, ",omitzero,")
	switch {
	case empty && zero:
		return func(t *Type, at unsafe.Pointer) bool { return isEmpty(t, at) || isZero(t, at) }
	case empty:
		return isEmpty
	case zero:
		return isZero
	}
	return nil
}

// isEmpty reports whether omitempty leaves the value out, by the rules of encoding/json.
func isEmpty(t *Type, at unsafe.Pointer) bool {
	switch t.Kind {
	case String:
		return *(*string)(at) == ""
	case Slice, Bytes:
		return (*SliceHeader)(at).Len == 0
	}
	v := reflect.NewAt(t.Go, at).Elem()
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// isZero reports whether omitzero leaves the value out, by the rules of encoding/json.
func isZero(t *Type, at unsafe.Pointer) bool {
	v := reflect.NewAt(t.Go, at)
	if own, ok := reflect.TypeAssert[interface{ IsZero() bool }](v); ok && (t.Go.Kind() != reflect.Pointer || !v.Elem().IsNil()) {
		return own.IsZero()
	}
	return v.Elem().IsZero()
}
