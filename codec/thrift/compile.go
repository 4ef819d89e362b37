package thrift

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/sabir-go/sabir/internal/layout"
)

// object is the compiled form of a struct, or of a box around what is no struct by itself.
type object struct {
	typ    *layout.Type
	fields []field
	byID   map[int16]int
}

// field is one field of an object.
type field struct {
	id       int16
	optional bool // a pointer to value, or a slice, map or interface that may be nil
	pointer  *layout.Type
	value    *value
	name     string
	step     string
	off      uintptr
}

// value describes how one value is written.
type value struct {
	kind layout.Kind // Pointer for a pointer to a struct
	wire apache.TType
	typ  *layout.Type
	obj  *object // of Struct and Pointer
	key  *value  // of Map
	elem *value  // of Slice, Array and Map
}

// objects holds every compiled type: reflect.Type to *object. It grows with the types of the program, never with input.
var objects sync.Map

var rules = layout.Rules{Tag: codecName}

// objectOf returns the compiled form of t, compiling it on first use.
func objectOf(t reflect.Type) (*object, error) {
	if known, ok := objects.Load(t); ok {
		return known.(*object), nil
	}
	described, err := layout.Of(t, rules)
	if err != nil {
		return nil, err
	}
	c := compiler{objects: make(map[*layout.Type]*object), values: make(map[*layout.Type]*value), boxes: make(map[*layout.Type]*layout.Type)}
	if described.Kind != layout.Struct {
		described = c.box(described)
	}
	compiled, err := c.object(described)
	if err != nil {
		return nil, err
	}
	kept, _ := objects.LoadOrStore(t, compiled)
	return kept.(*object), nil
}

// compiler is one compilation: a type and all below it.
type compiler struct {
	objects map[*layout.Type]*object
	values  map[*layout.Type]*value
	boxes   map[*layout.Type]*layout.Type
}

// box is the one box around t: a pointer to itself (type P *P) would have no end of them otherwise.
func (c *compiler) box(t *layout.Type) *layout.Type {
	if c.boxes[t] == nil {
		c.boxes[t] = layout.Box(t)
	}
	return c.boxes[t]
}

// object returns the unfinished object while t is being compiled.
func (c *compiler) object(t *layout.Type) (*object, error) {
	if known, ok := c.objects[t]; ok {
		return known, nil
	}
	o := &object{typ: t, byID: make(map[int16]int)}
	c.objects[t] = o
	next := 1
	for _, described := range t.Fields {
		id, err := idOf(described, next)
		if err != nil {
			return nil, fmt.Errorf("%w (field %s of %s)", err, described.GoName, t.Go)
		}
		f := field{id: int16(id), name: described.Name, step: described.Step, off: described.Offset}
		inner := described.Type
		switch inner.Kind {
		case layout.Pointer:
			f.optional, f.pointer, inner = true, inner, inner.Elem
			if inner.Kind == layout.Pointer || inner.Kind == layout.Any { // which may be nil as well
				inner = c.box(inner)
			}
		case layout.Slice, layout.Bytes, layout.Map, layout.Any:
			f.optional = true
		}
		if f.value, err = c.value(inner); err != nil {
			return nil, err
		}
		if other, taken := o.byID[f.id]; taken {
			return nil, fmt.Errorf("fields %s and %s of %s both have number %d", o.fields[other].name, f.name, t.Go, id)
		}
		o.byID[f.id] = len(o.fields)
		o.fields = append(o.fields, f)
		next = id + 1
	}
	return o, nil
}

// idOf returns the id in the tag, or the number after that of the field before.
func idOf(f layout.Field, next int) (int, error) {
	tag, ok := f.Tag.Lookup(codecName)
	if !ok {
		tag = strconv.Itoa(next)
	}
	if id, err := strconv.ParseInt(tag, 10, 16); err == nil && id > 0 {
		return int(id), nil
	}
	return 0, fmt.Errorf("%q is no number of a field: want 1 to 32767", tag)
}

var wires = map[layout.Kind]apache.TType{
	layout.Bool: apache.BOOL, layout.Int8: apache.I08, layout.Int16: apache.I16, layout.Int32: apache.I32, layout.Int64: apache.I64,
	layout.Uint8: apache.I16, layout.Uint16: apache.I32, layout.Uint32: apache.I64, layout.Uint64: apache.I64,
	layout.Float32: apache.DOUBLE, layout.Float64: apache.DOUBLE, layout.String: apache.STRING, layout.Bytes: apache.STRING,
	layout.ByteArray: apache.STRING, layout.Binary: apache.STRING, layout.Text: apache.STRING,
	layout.Time: apache.STRUCT, layout.Any: apache.STRUCT, layout.Struct: apache.STRUCT, layout.Pointer: apache.STRUCT,
	layout.Slice: apache.LIST, layout.Array: apache.LIST, layout.Map: apache.MAP,
}

// value returns the unfinished value while t is being compiled.
func (c *compiler) value(t *layout.Type) (v *value, err error) {
	if known, ok := c.values[t]; ok {
		return known, nil
	}
	v = &value{kind: t.Kind, typ: t, wire: wires[t.Kind]}
	c.values[t] = v
	switch t.Kind {
	case layout.Struct:
		v.obj, err = c.object(t)
	case layout.Pointer:
		if t.Elem.Kind == layout.Struct {
			v.obj, err = c.object(t.Elem)
			break
		}
		v.kind = layout.Struct
		v.obj, err = c.object(c.box(t))
	case layout.Map:
		if v.key, err = c.value(t.Key); err != nil {
			return nil, err
		}
		v.elem, err = c.value(t.Elem)
	case layout.Slice, layout.Array:
		v.elem, err = c.value(t.Elem)
	}
	return v, err
}
