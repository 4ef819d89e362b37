// Package jsonmethods knows which types define by methods of their own what their values look like in JSON.
package jsonmethods

import (
	"encoding"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"
)

// writeMethods and readMethods are those by which a type defines its own form.
var (
	writeMethods = []reflect.Type{
		reflect.TypeFor[jsonv2.Marshaler](), reflect.TypeFor[jsonv2.MarshalerTo](), reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextAppender](),
	}
	readMethods = []reflect.Type{
		reflect.TypeFor[jsonv2.Unmarshaler](), reflect.TypeFor[jsonv2.UnmarshalerFrom](), reflect.TypeFor[encoding.TextUnmarshaler](),
	}
)

// Write reports whether a method of t, or of a pointer to it, such as MarshalJSON or MarshalText, defines what its values
// look like in JSON, and not its fields or elements. A time.Time does.
func Write(t reflect.Type) bool { return implements(t, writeMethods) }

// Read is [Write] for the methods that read, such as UnmarshalJSON and UnmarshalText.
func Read(t reflect.Type) bool { return implements(t, readMethods) }

func implements(t reflect.Type, methods []reflect.Type) bool {
	for _, m := range methods {
		if t.Implements(m) || t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(m) {
			return true
		}
	}
	return false
}
