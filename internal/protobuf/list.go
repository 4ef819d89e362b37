package protobuf

import (
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

func appendList(dst []byte, f *field, at unsafe.Pointer, n, left int) ([]byte, *codec.Error) {
	if n == 0 {
		return dst, nil
	}
	size := f.typ.Elem.Size
	if !f.packed {
		var err *codec.Error
		for i := range n {
			dst = appendVarint(dst, f.tag)
			if dst, err = appendValue(dst, &f.value, unsafe.Add(at, uintptr(i)*size), left); err != nil {
				return dst, layout.UnderIndex(err, i)
			}
		}
		return dst, nil
	}
	dst = appendVarint(dst, f.tag)
	start := len(dst) + 1
	dst = append(dst, 0)
	switch f.value.kind {
	case layout.Float32:
		for _, bits := range unsafe.Slice((*uint32)(at), n) {
			dst = protowire.AppendFixed32(dst, bits)
		}
	case layout.Float64:
		for _, bits := range unsafe.Slice((*uint64)(at), n) {
			dst = protowire.AppendFixed64(dst, bits)
		}
	default:
		for i := range n {
			dst = appendVarint(dst, integer(f.value.kind, unsafe.Add(at, uintptr(i)*size)))
		}
	}
	return closeLength(dst, start), nil
}

// repeats counts how often a field with this tag, whose value data begins with, follows itself.
func repeats(tag uint64, data []byte) int {
	n := 1
	for {
		size := protowire.ConsumeFieldValue(protowire.Number(tag>>3), protowire.Type(tag&7), data)
		if size < 0 {
			return n
		}
		if data = data[size:]; len(data) == 0 {
			return n
		}
		following, size := consumeTag(data)
		if following != tag {
			return n
		}
		data = data[size:]
		n++
	}
}

// packed decodes the elements of a packed list, which fill data.
func (d *decoder) packed(f *field, data []byte, at unsafe.Pointer, counts []int) *codec.Error {
	count := packedCount(f.value.wire, data)
	var n int
	if f.shape == list {
		h := (*layout.SliceHeader)(at)
		n = h.Len
		if h.Cap-n < count {
			made := f.typ.MakeSlice(max(n+count, 2*n)) // twice, since a list may come in any number of parts
			if n > 0 {
				reflect.Copy(valueAt(f.typ, unsafe.Pointer(&made)), valueAt(f.typ, at))
			}
			*h = made
		}
		h.Len = n + count
		at = h.Data
	} else {
		n = counts[f.slot]
		if n+count > f.typ.Len {
			return wrongLength(f.typ, n+count)
		}
		counts[f.slot] += count
	}
	size := f.typ.Elem.Size
	for i := range count {
		used, err := d.value(&f.value, data, unsafe.Add(at, uintptr(n+i)*size), 0)
		if err != nil {
			return layout.UnderIndex(err, n+i)
		}
		data = data[used:]
	}
	if len(data) > 0 {
		return d.fault(data, "a list that ends inside an element")
	}
	return nil
}

// packedCount is the number of elements that end in data.
func packedCount(wire protowire.Type, data []byte) int {
	switch wire {
	case protowire.Fixed32Type:
		return len(data) / 4
	case protowire.Fixed64Type:
		return len(data) / 8
	}
	n := 0
	for _, b := range data {
		n += int(^b >> 7)
	}
	return n
}
