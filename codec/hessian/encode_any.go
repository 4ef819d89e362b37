package hessian

import (
	"fmt"
	"math"
	"reflect"
	"time"
	"unsafe"
)

var (
	anyPlan      = mustPlan[any]()
	anySlicePlan = mustPlan[[]any]()
	anyMapPlan   = mustPlan[map[string]any]()
)

// any appends a value of any type. The types in the switch are those that values without a Go type of their own have.
func (e *Encoder) any(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, tagNull)
	case string:
		if out := appendShort(dst, v); out != nil {
			return out
		}
		return e.string(dst, v)
	case bool:
		return appendBool(dst, v)
	case int:
		if math.MaxInt == math.MaxInt32 { // as in a struct
			return appendInt(dst, int32(v))
		}
		return appendLong(dst, int64(v))
	case int32:
		return appendInt(dst, v)
	case int64:
		return appendLong(dst, v)
	case float64:
		return appendDouble(dst, v)
	case []byte:
		if v == nil {
			return append(dst, tagNull)
		}
		return appendBinary(dst, v)
	case time.Time:
		return e.time(dst, v)
	case map[string]any:
		if !e.enter() {
			return dst
		}
		dst = e.anyMap(dst, anyMapPlan, v)
		e.depth--
		return dst
	case []any:
		if !e.enter() {
			return dst
		}
		dst = e.anySlice(dst, anySlicePlan, v)
		e.depth--
		return dst
	}
	t := reflect.TypeOf(v)
	p, err := planOf(t)
	if err != nil {
		return e.fail(dst, err.Error()[len(codecName)+2:])
	}
	if p.op == opPointer {
		return e.pointer(dst, p.elem, (*emptyInterface)(unsafe.Pointer(&v)).data)
	}
	return e.value(dst, p, addressIn(v, t))
}

func (e *Encoder) anySlice(dst []byte, p *plan, v []any) []byte {
	if v == nil {
		return append(dst, tagNull)
	}
	if len(v) > 0 {
		if number, before := e.begin(unsafe.Pointer(&v[0]), p, len(v)); before {
			return appendRef(dst, number)
		}
	} else {
		e.count++
	}
	return e.anys(e.listHead(dst, p.name(), len(v)), v)
}

// anys appends the elements of a list.
func (e *Encoder) anys(dst []byte, v []any) []byte {
	if len(v) > math.MaxInt32 {
		return e.fail(dst, "more than 2147483647 elements")
	}
	for i := range v {
		dst = e.any(dst, v[i])
		if e.fault != nil {
			underIndex(e.fault, i)
			return dst
		}
	}
	return dst
}

func (e *Encoder) list(dst []byte, l *List) []byte {
	return e.anys(e.listHead(dst, l.Type, len(l.Items)), l.Items)
}

func (e *Encoder) mapped(dst []byte, m *Map) []byte {
	dst = e.mapHead(dst, m.Type)
	for i := range m.Entries {
		dst = e.any(e.any(dst, m.Entries[i].Key), m.Entries[i].Value)
		if e.fault != nil {
			under(e.fault, fmt.Sprint(i))
			return dst
		}
	}
	return append(dst, tagEnd)
}

func (e *Encoder) object(dst []byte, o *Object) []byte {
	if o.Class == "" {
		return e.fail(dst, "an Object without a Class: for a map without a type use Map or map[string]any")
	}
	dst = e.instance(dst, e.shape(o.Class, o.Fields))
	for i := range o.Fields {
		dst = e.any(dst, o.Fields[i].Value)
		if e.fault != nil {
			under(e.fault, o.Fields[i].Name)
			return dst
		}
	}
	return dst
}

// shape returns the class with the name and fields, the same one while they do not change. The names in before come first.
func (e *Encoder) shape(name string, fields []Field, before ...string) *class {
	definition := e.string(append(make([]byte, 0, 256), tagClass), name)
	definition = appendInt(definition, int32(len(before)+len(fields)))
	for _, n := range before {
		definition = e.string(definition, n)
	}
	for i := range fields {
		definition = e.string(definition, fields[i].Name)
	}
	c := e.shapes[name]
	if c == nil || string(c.definition) != string(definition) {
		if e.shapes == nil {
			e.shapes = make(map[string]*class)
		}
		c = &class{name: name, definition: append([]byte(nil), definition...)}
		e.shapes[name] = c
	}
	return c
}
