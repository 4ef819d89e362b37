package json

import (
	"encoding"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/internal/jsonmethods"
	"github.com/sabir-go/sabir/internal/layout"
)

// plan is a compiled type. The types that occur most are written and read here; the library does the rest, such as types
// with methods of their own and maps whose keys are not strings, and it reports what is wrong where something is: whatever this
// package cannot do is done once more, from the start, by the library.
type plan struct {
	*layout.Type
	elem   *plan
	fields []field
	index  map[string]int // of fields, by name
	names  layout.Names
	loose  bool // a []any or a map[string]any, or what lies in memory as they do
}

type field struct {
	name   string
	key    string // the name in quotes and the colon, with a comma before them
	off    uintptr
	plan   *plan
	absent func(t *layout.Type, at unsafe.Pointer) bool // nil: the field is always written
}

// plans holds every compiled type: reflect.Type to *plan, nil for types that are the library's business altogether. It
// grows with the types of the program, never with input.
var plans sync.Map

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	var p *plan
	if described, err := layout.Of(t, layout.Rules{Tag: "json", Custom: foreign}); err == nil {
		p = compile(described, make(map[*layout.Type]*plan))
	}
	plans.Store(t, p)
	return p
}

func compile(t *layout.Type, seen map[*layout.Type]*plan) *plan {
	if known, ok := seen[t]; ok {
		return known
	}
	p := &plan{Type: t, index: make(map[string]int, len(t.Fields)), names: make(layout.Names, len(t.Fields))}
	seen[t] = p
	if t.Elem != nil {
		p.elem = compile(t.Elem, seen)
		p.loose = t.Elem.Go == anyType && (t.Kind == layout.Slice || t.Kind == layout.Map && t.Key.Go == keyType)
	}
	for i, f := range t.Fields {
		name, _ := appendString([]byte{','}, f.Name)
		p.fields = append(p.fields, field{name: f.Name, key: string(name) + ":", off: f.Offset, plan: compile(f.Type, seen), absent: layout.Absence(f.Tag.Get("json") + ",")})
		p.index[f.Name] = i
		p.names.Add(f.Name)
	}
	return p
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	bytesType = reflect.TypeFor[byte]()
	anyType   = reflect.TypeFor[any]()
	keyType   = reflect.TypeFor[string]()
)

// foreign reports which types are left to the library.
func foreign(t reflect.Type) bool {
	if t == timeType {
		return false
	}
	if t.Kind() != reflect.Pointer && (jsonmethods.Write(t) || jsonmethods.Read(t) || writesBinary(t)) {
		return true
	}
	switch t.Kind() {
	case reflect.Interface:
		return t.NumMethod() > 0
	case reflect.Map:
		return t.Key().Kind() != reflect.String || foreign(t.Key())
	case reflect.Slice, reflect.Array:
		return t.Elem().Kind() == reflect.Uint8 && t.Elem() != bytesType
	case reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Struct:
		return foreignStruct(t)
	}
	return false
}

// foreignStruct reports whether the struct uses tags, or embeds types, that only the library knows how to treat.
func foreignStruct(t reflect.Type) bool {
	names := make(map[string]bool, t.NumField())
	for f := range t.Fields() {
		tag, tagged := f.Tag.Lookup("json")
		if tag == "-" {
			continue
		}
		if f.Anonymous && (f.Type.Kind() != reflect.Struct || tagged || f.Type == timeType || foreign(f.Type)) {
			return true
		}
		if f.Anonymous {
			continue
		}
		if !f.IsExported() {
			if tagged {
				return true
			}
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = f.Name
		}
		if names[name] || strings.ContainsFunc(name, unusual) || strings.HasPrefix(name, "-") {
			return true
		}
		names[name] = true
		for option := range strings.SplitSeq(options, ",") {
			if option != "" && option != "omitempty" && option != "omitzero" {
				return true
			}
		}
	}
	return false
}

// unusual reports whether a tag may have to quote a name with this character.
func unusual(r rune) bool {
	return r >= 0x80 || r <= ' ' || strings.ContainsRune(`"'\`+"`", r)
}

// load returns the value at at.
func load[T any](at unsafe.Pointer) T { return *(*T)(at) }

func store[T any](at unsafe.Pointer, v T) { *(*T)(at) = v }

// writesBinary reports whether package layout would take t for a type with a form of its own, which JSON does not.
func writesBinary(t reflect.Type) bool {
	return t.Implements(binaryMarshaler) || t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(binaryMarshaler)
}

var binaryMarshaler = reflect.TypeFor[encoding.BinaryMarshaler]()
