package gob

import (
	"encoding"
	stdgob "encoding/gob"
	"fmt"
	"reflect"
	"sync"

	"github.com/sabir-go/sabir/internal/layout"
)

// traits are the properties of a type that decide whether and how this package sends it.
type traits struct {
	refused string // why the type cannot be sent, or ""
	deep    bool   // values may nest without end: the type is recursive, or there are interfaces in it
}

// known holds traits by reflect.Type. It grows with the types of the program, never with input.
var known sync.Map

func traitsOf(t reflect.Type) traits {
	if found, ok := known.Load(t); ok {
		return found.(traits)
	}
	var found traits
	found.look(t, make(map[reflect.Type]bool))
	known.Store(t, found)
	return found
}

// look looks at t. inside holds the types that t is a part of.
func (f *traits) look(t reflect.Type, inside map[reflect.Type]bool) {
	if inside[t] {
		f.deep = true
		return
	}
	if marshals(t) {
		return
	}
	if err := layout.JSONOnly(t); err != nil {
		f.refused = err.Error()
		return
	}
	inside[t] = true
	defer delete(inside, t)
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		f.refused = fmt.Sprintf("%s cannot be encoded: a %s has no meaning elsewhere", t, t.Kind())
	case reflect.Interface:
		f.deep = true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		f.look(t.Elem(), inside)
	case reflect.Map:
		f.look(t.Key(), inside)
		f.look(t.Elem(), inside)
	case reflect.Struct:
		f.lookAtFields(t, inside)
	}
}

func (f *traits) lookAtFields(t reflect.Type, inside map[reflect.Type]bool) {
	for field := range t.Fields() {
		// The library leaves out what it cannot send; to lose it without a word is worse than an error.
		if field.Anonymous && !field.IsExported() {
			f.refused = fmt.Sprintf("%s cannot be encoded: gob does not send the embedded %s, which is not exported", t, field.Type)
		}
		if field.IsExported() {
			f.look(field.Type, inside)
		}
	}
}

// marshals reports whether the library leaves the type to its own methods.
func marshals(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false
	}
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[stdgob.GobEncoder]()) || p.Implements(reflect.TypeFor[encoding.BinaryMarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// deeper reports whether v nests deeper than left levels. It does not look into more than that, so it ends for a value that
// contains itself.
func deeper(v reflect.Value, left int) bool {
	if left < 0 {
		return true
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && deeper(v.Elem(), left-1)
	case reflect.Slice, reflect.Array:
		if !traitsOf(v.Type().Elem()).deep {
			return false
		}
		for _, element := range v.Seq2() {
			if deeper(element, left-1) {
				return true
			}
		}
	case reflect.Map:
		for _, element := range v.Seq2() {
			if deeper(element, left-1) {
				return true
			}
		}
	case reflect.Struct:
		if marshals(v.Type()) {
			return false
		}
		for field, value := range v.Fields() {
			if field.IsExported() && deeper(value, left-1) {
				return true
			}
		}
	}
	return false
}
