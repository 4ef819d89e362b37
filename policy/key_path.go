package policy

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/sabir-go/sabir/internal/jsonmethods"
	"github.com/sabir-go/sabir/internal/layout"
)

// compileField compiles the way from a value of type t along a path to the writer of what is there. The names of the path are
// those that JSON has, found as the JSON codec finds them: a key must be drawn from the field that the input's JSON filled.
func compileField(t reflect.Type, path string) (writeValue, error) {
	if path == "" {
		of, err := writerOf(t)
		if err != nil {
			return nil, err
		}
		return of.write, nil
	}
	if t.Kind() != reflect.Interface && t.Kind() != reflect.Pointer && jsonmethods.Read(t) {
		return nil, fmt.Errorf("%v reads its JSON by a method of its own, so that nobody can tell what %q fills; end the path before it", t, path)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return compilePointer(t, path)
	case reflect.Struct:
		return compileMember(t, path)
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !jsonmethods.Read(t.Key()) {
			return compileEntry(t, path)
		}
	case reflect.Interface:
		inside := &dynamicPath{path: path}
		return func(w *keyWriter, p unsafe.Pointer) { inside.write(w, reflect.NewAt(t, p).Elem().Elem()) }, nil
	}
	return nil, fmt.Errorf("there is no %q in a %v", path, t)
}

// maxPointers bounds the pointers to pointers on a way, which ends types such as "type P *P".
const maxPointers = 16

func compilePointer(t reflect.Type, path string) (writeValue, error) {
	final := t
	for range maxPointers {
		if final.Kind() == reflect.Pointer {
			final = final.Elem()
		}
	}
	if final.Kind() == reflect.Pointer {
		return nil, fmt.Errorf("there is no %q in a %v", path, t)
	}
	inner, err := compileField(t.Elem(), path)
	return follow(inner), err
}

// follow writes the value behind a pointer.
func follow(inner writeValue) writeValue {
	return func(w *keyWriter, p unsafe.Pointer) {
		if p = *(*unsafe.Pointer)(p); p == nil {
			w.buf = append(w.buf, missing)
			return
		}
		w.buf = append(w.buf, present)
		inner(w, p)
	}
}

// compileMember goes on along the path from a struct. Names in JSON may have dots in them, so the first step can be longer
// than to the first dot.
func compileMember(t reflect.Type, path string) (writeValue, error) {
	switch found := fieldsAlong(t, path); len(found) {
	case 1:
		rest := strings.TrimPrefix(path[len(found[0].Name):], ".")
		return compileStep(t, found[0].Index, rest)
	case 0:
		if others, ok := restOf(t); ok {
			return compileStep(t, others.Index, path)
		}
		return nil, fmt.Errorf("%v has no field %q; it has %s", t, path, strings.Join(fieldNames(t), ", "))
	default:
		return nil, fmt.Errorf("%q may mean the field %q or the field %q of %v: rename one in JSON", path, found[0].Name, found[1].Name, t)
	}
}

// fieldsAlong are the fields of t whose names the path begins with.
func fieldsAlong(t reflect.Type, path string) (found []layout.Member) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	members, _ := layout.JSON.Members(t)
	for _, m := range members {
		if !isRest(m) && (path == m.Name || strings.HasPrefix(path, m.Name+".")) {
			found = append(found, m)
		}
	}
	return found
}

func fieldNames(t reflect.Type) (names []string) {
	members, _ := layout.JSON.Members(t)
	for _, m := range members {
		if !isRest(m) {
			names = append(names, m.Name)
		}
	}
	if names == nil {
		return []string{"none"}
	}
	return names
}

// isRest reports whether the field takes what is in JSON and has no field of its own.
func isRest(m layout.Member) bool { return m.Has("embed") }

func restOf(t reflect.Type) (layout.Member, bool) {
	members, _ := layout.JSON.Members(t)
	for _, m := range members {
		if isRest(m) {
			return m, true
		}
	}
	return layout.Member{}, false
}

// compileStep goes down the index of a field, which passes through embedded structs, and on along the rest of the path.
func compileStep(t reflect.Type, index []int, rest string) (writeValue, error) {
	if len(index) == 0 {
		return compileField(t, rest)
	}
	if t.Kind() == reflect.Pointer { // an embedded one
		inner, err := compileStep(t.Elem(), index, rest)
		return follow(inner), err
	}
	f := t.Field(index[0])
	inner, err := compileStep(f.Type, index[1:], rest)
	if f.Offset == 0 {
		return inner, err
	}
	return func(w *keyWriter, p unsafe.Pointer) { inner(w, unsafe.Add(p, f.Offset)) }, err
}

func compileEntry(t reflect.Type, path string) (writeValue, error) {
	name, rest, _ := strings.Cut(path, ".")
	inner, err := compileField(t.Elem(), rest)
	key := reflect.ValueOf(name).Convert(t.Key())
	return func(w *keyWriter, p unsafe.Pointer) {
		entry := reflect.NewAt(t, p).Elem().MapIndex(key)
		if !entry.IsValid() {
			w.buf = append(w.buf, missing)
			return
		}
		copied := reflect.New(t.Elem())
		copied.Elem().Set(entry)
		w.buf = append(w.buf, present)
		inner(w, copied.UnsafePointer())
	}, err
}

// dynamicPath is the rest of a path where it enters an interface, whose content's type is known only at the call. It keeps what
// was compiled for each type that came, as many as the program has.
type dynamicPath struct {
	path string
	of   sync.Map // reflect.Type to writeValue; nil for a type that the path cannot enter
}

// write writes the value at the path in v. There is none in nil, a bool, a number or a text. For a value that the path cannot
// enter there is no key: a key without it would be that of every other such value.
func (d *dynamicPath) write(w *keyWriter, v reflect.Value) {
	if !v.IsValid() || nothingInside(v.Type()) {
		w.buf = append(w.buf, missing)
		return
	}
	t := v.Type()
	known, ok := d.of.Load(t)
	if !ok {
		inner, err := compileField(t, d.path)
		if err != nil || jsonmethods.Write(t) {
			inner = nil
		}
		known, _ = d.of.LoadOrStore(t, inner)
	}
	inner := known.(writeValue)
	if inner == nil {
		w.bad = true
		return
	}
	if t != objectType { // what JSON makes needs no name
		w.buf = append(w.buf, typed)
		w.text(typeName(t))
	}
	copied := reflect.New(t)
	copied.Elem().Set(v)
	w.nested(inner, copied.UnsafePointer())
}

var objectType = reflect.TypeFor[map[string]any]()

// nothingInside reports whether JSON has no object for values of type t.
func nothingInside(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return !jsonmethods.Write(t) && !jsonmethods.Read(t)
	}
	return false
}
