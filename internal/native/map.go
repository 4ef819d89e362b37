package native

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// mapAccess reads and builds maps of one type through reflect.
type mapAccess struct {
	typ     reflect.Type
	buffers sync.Pool // *mapBuffer
	plain   bool      // map[string]string, which needs no reflect
}

// mapBuffer is memory for one entry on the heap, used again and again.
type mapBuffer struct {
	key, elem     reflect.Value
	keyAt, elemAt unsafe.Pointer
	source        reflect.Value // the map that is iterated
	sourceAt      *unsafe.Pointer
	iter          *reflect.MapIter
}

var plainMap = reflect.TypeFor[map[string]string]()

func newMapAccess(t reflect.Type) *mapAccess {
	m := &mapAccess{typ: t, plain: t.Key() == plainMap.Key() && t.Elem() == plainMap.Elem()}
	m.buffers.New = func() any {
		key, elem, source := reflect.New(t.Key()), reflect.New(t.Elem()), reflect.New(t)
		return &mapBuffer{
			key: key.Elem(), keyAt: key.UnsafePointer(), elem: elem.Elem(), elemAt: elem.UnsafePointer(),
			source: source.Elem(), sourceAt: (*unsafe.Pointer)(source.UnsafePointer()), iter: source.Elem().MapRange(),
		}
	}
	return m
}

// release empties the entry, so that its memory keeps nothing of the caller's, and puts it back.
func (m *mapAccess) release(buffer *mapBuffer) {
	buffer.key.SetZero()
	buffer.elem.SetZero()
	m.buffers.Put(buffer)
}

// appendMap writes the entries in the order in which Go gives them, which differs from run to run.
func (p *plan) appendMap(dst []byte, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	source := *(*unsafe.Pointer)(at)
	if source == nil {
		return append(dst, 0), nil
	}
	if p.maps.plain {
		return appendPlainMap(dst, *(*map[string]string)(at)), nil
	}
	buffer := p.maps.buffers.Get().(*mapBuffer)
	// A panic in a method of the caller's leaves the buffer to the garbage collector.
	*buffer.sourceAt = source
	buffer.iter.Reset(buffer.source)
	n := buffer.source.Len()
	dst = appendUvarint(dst, uint64(n)+1)
	pad := p.key.min+p.elem.min == 0
	var err *codec.Error
	for i := 0; err == nil && buffer.iter.Next(); i++ {
		buffer.key.SetIterKey(buffer.iter)
		buffer.elem.SetIterValue(buffer.iter)
		if pad {
			dst = append(dst, 0)
		}
		if dst, err = appendOps(dst, p.key.ops, buffer.keyAt, left); err == nil {
			dst, err = appendOps(dst, p.elem.ops, buffer.elemAt, left)
		}
		if err != nil {
			under(err, buffer.step(i))
		}
	}
	*buffer.sourceAt = nil
	buffer.iter.Reset(buffer.source)
	p.maps.release(buffer)
	return dst, err
}

func appendPlainMap(dst []byte, m map[string]string) []byte {
	dst = appendUvarint(dst, uint64(len(m))+1)
	for key, elem := range m {
		dst = appendUvarint(dst, uint64(len(key)))
		dst = append(dst, key...)
		dst = appendUvarint(dst, uint64(len(elem)))
		dst = append(dst, elem...)
	}
	return dst
}

// step names an entry in a path: by its key if that is a string, else by its place.
func (r *mapBuffer) step(i int) string {
	if r.key.Kind() == reflect.String {
		return "/" + escapePointer(r.key.String())
	}
	return fmt.Sprintf("/%d", i)
}

const duplicateKey = "a map with the same key twice"

func (d *decoder) mapping(p *plan, at unsafe.Pointer, left int) bool {
	least := addMin(p.key.min, p.elem.min)
	n, ok := d.count(least)
	if !ok {
		return false
	}
	if n < 0 {
		*(*unsafe.Pointer)(at) = nil
		return true
	}
	if least == 0 && !d.padding(n) {
		return false
	}
	d.promised += n * int(least)
	if p.maps.plain && p.key.ops[0].code == opString && p.elem.ops[0].code == opString {
		return d.plainMap(at, n)
	}
	made := reflect.MakeMapWithSize(p.maps.typ, n)
	buffer := p.maps.buffers.Get().(*mapBuffer)
	for i := range n {
		d.promised -= int(least)
		// The entry before needs no clearing: decoding replaces every field that it does not skip.
		if !d.run(p.key.ops, buffer.keyAt, left) || !d.run(p.elem.ops, buffer.elemAt, left) {
			under(d.fault, buffer.step(i))
			p.maps.release(buffer)
			return false
		}
		made.SetMapIndex(buffer.key, buffer.elem)
	}
	p.maps.release(buffer)
	if made.Len() != n {
		return d.fail(duplicateKey)
	}
	*(*unsafe.Pointer)(at) = made.UnsafePointer()
	return true
}

func (d *decoder) plainMap(at unsafe.Pointer, n int) bool {
	made := make(map[string]string, n)
	for range n {
		d.promised -= 2
		key := d.string()
		made[key] = d.string()
		if d.fault != nil {
			under(d.fault, "/"+escapePointer(key))
			return false
		}
	}
	if len(made) != n {
		return d.fail(duplicateKey)
	}
	*(*map[string]string)(at) = made
	return true
}
