package json

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/jsonmethods"
	"github.com/sabir-go/sabir/internal/layout"
)

// endless returns an error where the library would not come to an end with v, or only behind its own limit of 10000 levels. The
// library counts brackets, and pointers have none: a variable of type any that holds its own address would overflow the
// stack, from which no process recovers.
func (c *jsonCodec) endless(v reflect.Value) *codec.Error {
	if !v.IsValid() {
		return nil
	}
	return c.beyond(v, maxMaxDepth)
}

// beyond ends at the first part that is more than left levels deep, so it ends for values that contain themselves.
func (c *jsonCodec) beyond(v reflect.Value, left int) *codec.Error {
	if !traitsOf(v.Type()).loose {
		return nil
	}
	v, ok := behindPointers(v)
	if !ok {
		return c.tooDeep(-1)
	}
	if !v.IsValid() || traitsOf(v.Type()).writes {
		return nil
	}
	if left--; left < 0 {
		return c.tooDeep(-1)
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := c.beyond(v.Index(i), left); err != nil {
				return inside(err, strconv.Itoa(i), left)
			}
		}
	case reflect.Map:
		for each := v.MapRange(); each.Next(); {
			if err := c.beyond(each.Value(), left); err != nil {
				return inside(err, each.Key().String(), left)
			}
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if !written(field) {
				continue
			}
			if err := c.beyond(value, left); err != nil {
				return inside(err, memberName(field), left)
			}
		}
	}
	return nil
}

// inside puts a step before the place of err. The steps that are deeper than any text may be are left out.
func inside(err *codec.Error, step string, left int) *codec.Error {
	if left < maxMaxDepth-defaultMaxDepth {
		return err
	}
	return layout.Under(err, "/"+layout.Escape(step))
}

// readable returns an error for a target that the library would read into without an end.
func readable(v any) error {
	target := reflect.ValueOf(v)
	if !target.IsValid() {
		return nil // an error of the library
	}
	if _, ok := behindPointers(target); !ok || traitsOf(target.Type()).ring {
		return &codec.Error{Codec: Name, Offset: -1, Message: fmt.Sprintf("the target, a %T, is or has a pointer that leads to itself", v)}
	}
	return nil
}

// behindPointers follows pointers, and interfaces that hold them, to a value, which is not valid where one is nil. ok is false
// where they never end in a value.
func behindPointers(v reflect.Value) (_ reflect.Value, ok bool) {
	for range maxMaxDepth {
		if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
			return v, true
		}
		v = v.Elem()
	}
	return v, false
}

// written reports whether the field is part of the text. What an embedded struct has is, whether its type is exported or not.
func written(f reflect.StructField) bool {
	return (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-"
}

func memberName(f reflect.StructField) string {
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
		return name
	}
	return f.Name
}

// traits holds the properties of a type that must be known before the library gets a value of it.
type traits struct {
	writes bool // a method writes it
	loose  bool // a value may lead to itself without a bracket, or be as deep as memory allows
	ring   bool // it holds nothing but pointers somewhere (type P *P): the library would make new ones without end
}

// known holds traits by reflect.Type. It grows with the types of the program, never with input.
var known sync.Map

func traitsOf(t reflect.Type) traits {
	if found, ok := known.Load(t); ok {
		return found.(traits)
	}
	found := traits{writes: jsonmethods.Write(t)}
	found.look(t, make(map[reflect.Type]bool))
	known.Store(t, found)
	return found
}

// look looks into each type once. What reads and writes itself is not looked into: the library leaves it to its methods.
func (found *traits) look(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] || t.Kind() != reflect.Pointer && jsonmethods.Write(t) && jsonmethods.Read(t) {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		found.loose = true
	case reflect.Pointer:
		if nothingButPointers(t) {
			found.loose, found.ring = true, true
			return
		}
		found.look(t.Elem(), seen)
	case reflect.Slice, reflect.Array, reflect.Map:
		found.look(t.Elem(), seen)
	case reflect.Struct:
		for field := range t.Fields() {
			if written(field) {
				found.look(field.Type, seen)
			}
		}
	}
}

func nothingButPointers(t reflect.Type) bool {
	seen := make(map[reflect.Type]bool)
	for ; t.Kind() == reflect.Pointer; t = t.Elem() {
		if seen[t] {
			return true
		}
		seen[t] = true
	}
	return false
}
