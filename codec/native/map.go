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
	typ   reflect.Type
	rooms sync.Pool // *mapRoom
	plain bool      // map[string]string, which needs no reflect
}

// mapRoom is memory for one entry on the heap, used again and again.
type mapRoom struct {
	key, elem     reflect.Value
	keyAt, elemAt unsafe.Pointer
	source        reflect.Value // the map that is iterated
	sourceAt      *unsafe.Pointer
	iter          *reflect.MapIter
}

var plainMap = reflect.TypeFor[map[string]string]()

func newMapAccess(t reflect.Type) *mapAccess {
	m := &mapAccess{typ: t, plain: t.Key() == plainMap.Key() && t.Elem() == plainMap.Elem()}
	m.rooms.New = func() any {
		key, elem, source := reflect.New(t.Key()), reflect.New(t.Elem()), reflect.New(t)
		return &mapRoom{
			key: key.Elem(), keyAt: key.UnsafePointer(), elem: elem.Elem(), elemAt: elem.UnsafePointer(),
			source: source.Elem(), sourceAt: (*unsafe.Pointer)(source.UnsafePointer()), iter: source.Elem().MapRange(),
		}
	}
	return m
}

// release empties the entry, so that its memory keeps nothing of the caller's, and puts it back.
func (m *mapAccess) release(room *mapRoom) {
	room.key.SetZero()
	room.elem.SetZero()
	m.rooms.Put(room)
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
	room := p.maps.rooms.Get().(*mapRoom)
	// A panic in a method of the caller's leaves the buffer to the garbage collector.
	*room.sourceAt = source
	room.iter.Reset(room.source)
	n := room.source.Len()
	dst = appendUvarint(dst, uint64(n)+1)
	pad := p.key.min+p.elem.min == 0
	var err *codec.Error
	for i := 0; err == nil && room.iter.Next(); i++ {
		room.key.SetIterKey(room.iter)
		room.elem.SetIterValue(room.iter)
		if pad {
			dst = append(dst, 0)
		}
		if dst, err = appendOps(dst, p.key.ops, room.keyAt, left); err == nil {
			dst, err = appendOps(dst, p.elem.ops, room.elemAt, left)
		}
		if err != nil {
			under(err, room.step(i))
		}
	}
	*room.sourceAt = nil
	room.iter.Reset(room.source)
	p.maps.release(room)
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
func (r *mapRoom) step(i int) string {
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
	room := p.maps.rooms.Get().(*mapRoom)
	for i := range n {
		d.promised -= int(least)
		// The entry before needs no clearing: decoding replaces every field that it does not skip.
		if !d.run(p.key.ops, room.keyAt, left) || !d.run(p.elem.ops, room.elemAt, left) {
			under(d.fault, room.step(i))
			p.maps.release(room)
			return false
		}
		made.SetMapIndex(room.key, room.elem)
	}
	p.maps.release(room)
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
