package native

import (
	"reflect"
	"unsafe"
)

// sliceBuffer makes the memory of new slices of one type. It is kept in a pool, because reflect.MakeSlice would
// allocate a header as well.
type sliceBuffer struct {
	value  reflect.Value // a slice that can be set
	header *sliceHeader  // the same memory
}

func newSliceRoom(t reflect.Type) *sliceBuffer {
	v := reflect.New(t)
	return &sliceBuffer{value: v.Elem(), header: (*sliceHeader)(v.UnsafePointer())}
}

// emptyBase is the memory to which empty slices point that are not nil. Its type has the strictest alignment.
var emptyBase complex128

// makeSlice returns zeroed memory for n elements of the slice type of p.
func (p *plan) makeSlice(n int) sliceHeader {
	if n == 0 {
		return sliceHeader{data: unsafe.Pointer(&emptyBase)}
	}
	buffer := p.slices.Get().(*sliceBuffer)
	buffer.value.Grow(n)
	made := sliceHeader{data: buffer.header.data, len: n, cap: n}
	*buffer.header = sliceHeader{}
	p.slices.Put(buffer)
	return made
}

// slice decodes a slice into at. Its count is at most what is left of the data, and the bytes its elements need are
// promised to them, so that slices inside it cannot claim the same bytes once more.
func (d *decoder) slice(p *plan, at unsafe.Pointer, left int) bool {
	n, ok := d.count(p.elem.min)
	if !ok {
		return false
	}
	if n < 0 {
		*(*sliceHeader)(at) = sliceHeader{}
		return true
	}
	made := p.makeSlice(n)
	*(*sliceHeader)(at) = made
	if p.elem.min == 0 {
		return d.padding(n) && d.elements(p.elem, made.data, n, left)
	}
	d.promised += n * int(p.elem.min)
	return d.elements(p.elem, made.data, n, left)
}

// elements decodes n values in a row. Their bytes are promised already.
func (d *decoder) elements(elem *plan, at unsafe.Pointer, n, left int) bool {
	if len(elem.ops) == 0 {
		return true
	}
	for i := range n {
		d.promised -= int(elem.min)
		if !d.run(elem.ops, unsafe.Add(at, uintptr(i)*elem.size), left) {
			d.underIndex(i)
			return false
		}
	}
	return true
}

func (d *decoder) array(p *plan, at unsafe.Pointer, left int) bool {
	if mulMin(uint64(p.length), p.elem.min) > uint64(len(d.data)-d.pos) {
		return d.fail(endsEarly)
	}
	d.promised += p.length * int(p.elem.min)
	return d.elements(p.elem, at, p.length, left)
}
