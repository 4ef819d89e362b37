package json

import (
	"bytes"
	"reflect"
	"unsafe"

	"github.com/sabir-go/sabir/internal/layout"
)

// A list of elements of up to smallElement bytes that are not counted first begins with capacity for firstRoom of them.
const (
	smallElement = 32
	firstRoom    = 4
)

// Capacity is allocated ahead where longList bytes of text or more are left, and roomPerByte bytes at most for each byte of
// text.
const (
	longList    = 2048
	roomPerByte = 16
)

func (r *reader) slice(p *plan, at unsafe.Pointer, left int) bool {
	if p.loose {
		list, ok := r.dynamicList(left)
		if ok {
			store(at, list)
		}
		return ok
	}
	more, ok := r.first('[', ']')
	if left < 0 {
		return false
	}
	made := p.MakeSlice(0)
	flat := p.elem.Kind <= layout.String
	switch {
	case more && flat:
		made = p.makeFlat(r.countFlat(p.elem))
	case more && p.elem.Size <= smallElement:
		made = p.MakeSlice(firstRoom)
		made.Len = 0
	}
	start := r.pos
	r.inside++
	for more && ok {
		if made.Len == made.Cap {
			p.GrowSlice(unsafe.Pointer(&made))
		} else {
			made.Len++
		}
		if !r.value(p.elem, unsafe.Add(made.Data, uintptr(made.Len-1)*p.elem.Size), left) {
			return false
		}
		if more, ok = r.another(']'); more && made.Len == 1 && !flat {
			r.foresee(p, &made, r.pos-start)
		}
	}
	r.inside--
	if ok {
		store(at, made)
	}
	return ok
}

// countFlat guesses how many elements without lists in them follow. It is exact but for strings with escapes, brackets or
// commas in them, and finds no more than the text has space for.
func (r *reader) countFlat(elem *plan) int {
	rest := r.data[r.pos:]
	if end := bytes.IndexByte(rest, ']'); end >= 0 {
		rest = rest[:end]
	}
	if elem.Kind == layout.String {
		return max(bytes.Count(rest, []byte{'"'})/2, 1)
	}
	return min(bytes.Count(rest, []byte{','}), len(rest)/2) + 1
}

// makeFlat returns a slice with capacity for n elements, which is made most quickly for the most frequent ones.
func (p *plan) makeFlat(n int) layout.SliceHeader {
	var data unsafe.Pointer
	switch p.elem.Kind {
	case layout.String:
		data = unsafe.Pointer(unsafe.SliceData(make([]string, n)))
	case layout.Int64, layout.Uint64, layout.Float64:
		data = unsafe.Pointer(unsafe.SliceData(make([]uint64, n)))
	default:
		data = p.MakeSlice(n).Data
	}
	return layout.SliceHeader{Data: data, Cap: n}
}

// foresee allocates memory for the elements that may follow the first one, which took length bytes: as many as would fill the
// rest of the text. Only lists that are in no other list or map get it, since there are not many of those.
func (r *reader) foresee(p *plan, made *layout.SliceHeader, length int) {
	left := len(r.data) - r.pos
	if r.inside > 1 || left < longList {
		return
	}
	n := min(left/length+1, (roomPerByte*len(r.data)-r.foreseen)/max(int(p.elem.Size), 1))
	if n <= 0 {
		return
	}
	r.foreseen += n * int(p.elem.Size)
	reflect.NewAt(p.Go, unsafe.Pointer(made)).Elem().Grow(n)
}

func (r *reader) array(p *plan, at unsafe.Pointer, left int) bool {
	more, ok := r.first('[', ']')
	if left < 0 {
		return false
	}
	i := 0
	for more && ok {
		if i == p.Len {
			return false
		}
		element := unsafe.Add(at, uintptr(i)*p.elem.Size)
		p.elem.Zero(element)
		if !r.value(p.elem, element, left) {
			return false
		}
		i++
		more, ok = r.another(']')
	}
	return ok && i == p.Len
}
