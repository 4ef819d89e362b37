package hessian

import (
	"fmt"
	"reflect"
	"unsafe"
)

// mapping reads a map, or the fields of an object, into a Go map.
func (d *Decoder) mapping(p *plan, at unsafe.Pointer, tag byte) bool {
	start := d.pos
	class := -1
	switch {
	case isObject(tag):
		var ok bool
		if class, ok = d.instance(); !ok {
			return false
		}
	case !isMap(tag):
		return d.mismatch("map")
	}
	made := reflect.MakeMap(p.typ)
	*(*unsafe.Pointer)(at) = made.UnsafePointer()
	number := d.begin(start, p, at)
	var ok bool
	switch {
	case class < 0:
		var typ string
		if typ, ok = d.mapHead(); ok && p.op == opAnyMap {
			if p == anyMapPlan && typ == "" {
				d.setAny(number, *(*map[string]any)(at))
			}
			ok = d.anyEntries(*(*map[string]any)(at))
		} else if ok {
			ok = d.entriesInto(p, made)
		}
	case p.key.op != opString:
		d.pos = start
		return d.mismatch("map")
	default:
		ok = d.fieldsInto(p, made, class)
	}
	d.end(number)
	return ok
}

// mapValue is memory for one value that goes into a map. Values that may be referred to get new memory each time.
type mapValue struct {
	plan  *plan
	value reflect.Value
	at    unsafe.Pointer
}

func newMapValue(p *plan) mapValue {
	v := reflect.New(p.typ)
	return mapValue{p, v.Elem(), v.UnsafePointer()}
}

func (r *mapValue) next() unsafe.Pointer {
	if r.plan.own() {
		*r = newMapValue(r.plan)
	} else {
		r.value.SetZero()
	}
	return r.at
}

func (d *Decoder) entriesInto(p *plan, made reflect.Value) bool {
	key, elem := newMapValue(p.key), newMapValue(p.elem)
	for i := 0; !d.atEnd(); i++ {
		start := d.pos
		if !d.value(p.key, key.next()) {
			under(d.fault, fmt.Sprintf("key %d", i))
			return false
		}
		if !key.value.Comparable() {
			d.pos = start
			return d.fail("a key that Go cannot compare: read the map into a Map")
		}
		if !d.value(p.elem, elem.next()) {
			under(d.fault, keyText(key.value))
			return false
		}
		made.SetMapIndex(key.value, elem.value)
	}
	return d.fault == nil
}

// keyText is a key as a step of a pointer.
func keyText(key reflect.Value) string {
	if key.Kind() == reflect.String {
		return key.String()
	}
	return fmt.Sprint(key)
}

func (d *Decoder) fieldsInto(p *plan, made reflect.Value, class int) bool {
	_, names := d.expose(class)
	elem := newMapValue(p.elem)
	for _, name := range names {
		if !d.value(p.elem, elem.next()) {
			under(d.fault, name)
			return false
		}
		made.SetMapIndex(reflect.ValueOf(name).Convert(p.key.typ), elem.value)
	}
	return true
}

// anyEntries reads entries whose keys are strings.
func (d *Decoder) anyEntries(m map[string]any) bool {
	for !d.atEnd() {
		tag := d.byte()
		if d.fault == nil && !isString(tag) {
			d.pos--
			return d.mismatch("a string as a key")
		}
		key := d.string(tag)
		v := d.any()
		if d.fault != nil {
			under(d.fault, key)
			return false
		}
		m[key] = v
	}
	return d.fault == nil
}
