package native

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// An interface value is the registered name of its dynamic type, the hash of that type's schema, and the value with its
// length before it, so that a reader that does not know the type can skip it. A nil interface is an empty name.

func appendInterface(dst []byte, t reflect.Type, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	var v any
	if t.NumMethod() == 0 {
		v = *(*any)(at)
	} else {
		v = reflect.NewAt(t, at).Elem().Interface()
	}
	if v == nil {
		return append(dst, 0), nil
	}
	dynamic := reflect.TypeOf(v)
	r, ok := registeredTypes().byType[dynamic]
	if !ok {
		return dst, encodeFault(fmt.Sprintf("a %s in an interface: register it with native.Register", dynamic))
	}
	dst = appendHash(appendName(dst, r.name), r.hash)
	dst = append(dst, 0)
	start := len(dst)
	dst, err := appendOps(dst, r.plan.ops, addressIn(v, dynamic), left)
	if err != nil {
		return dst, err
	}
	return closeLength(dst, start), nil
}

// emptyInterface is the memory layout of a value of type any.
type emptyInterface struct {
	typ, data unsafe.Pointer
}

// addressIn returns the address of the value in v. Go keeps most values behind a pointer; a pointer or a map it keeps in
// the interface itself. Of a struct or array as large as a pointer either may be true, so it is copied.
func addressIn(v any, t reflect.Type) unsafe.Pointer {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map:
		return pointerTo(v, t)
	case reflect.Struct, reflect.Array:
		if t.Size() == unsafe.Sizeof(uintptr(0)) {
			return pointerTo(v, t)
		}
	}
	return (*emptyInterface)(unsafe.Pointer(&v)).data
}

// pointerTo returns the address of a copy of the value in v.
func pointerTo(v any, t reflect.Type) unsafe.Pointer {
	own := reflect.New(t)
	own.Elem().Set(reflect.ValueOf(v))
	return own.UnsafePointer()
}

func (d *decoder) anyValue(t reflect.Type, at unsafe.Pointer, left int) bool {
	target := reflect.NewAt(t, at).Elem()
	start := d.pos
	name := d.take(d.uvarint())
	if d.fault != nil {
		return false
	}
	if len(name) == 0 {
		target.SetZero()
		return true
	}
	r, ok := registeredTypes().byName[string(name)]
	if !ok {
		d.pos = start
		return d.fail("an interface with a type that is not registered here: register it with native.Register under the writer's name")
	}
	if !r.typ.AssignableTo(t) {
		d.pos = start
		return d.fail(fmt.Sprintf("an interface with a %s, which is no %s", r.typ, t))
	}
	hash := d.take(uint64(headerBytes))
	size := d.uvarint()
	if d.fault == nil && size > uint64(max(0, len(d.data)-d.pos-d.promised)) {
		d.fail(endsEarly)
	}
	if d.fault != nil {
		return false
	}
	p, err := translationFor(Hash(hash), r.plan)
	if err != nil {
		d.fault = err
		return false
	}
	return d.body(p, target, int(size), left)
}

// body decodes a value of size bytes into target.
func (d *decoder) body(p *plan, target reflect.Value, size, left int) bool {
	whole, promised := d.data, d.promised
	d.data, d.promised = d.data[:d.pos+size], 0
	own := reflect.New(p.typ)
	ok := d.run(p.ops, own.UnsafePointer(), left)
	if ok && d.pos != len(d.data) {
		ok = d.fail(fmt.Sprintf("%d bytes after the end of an interface's value", len(d.data)-d.pos))
	}
	d.data, d.promised = whole, promised
	if ok {
		target.Set(own.Elem())
	}
	return ok
}
