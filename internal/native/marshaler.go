package native

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

func hasMarshaler(t reflect.Type) bool {
	m, _ := layout.MarshalerOf(t)
	return m != nil
}

// appendMarshaled appends what a value's own method returns, with its length before it.
func appendMarshaled(m *layout.Marshaler, dst []byte, at unsafe.Pointer) ([]byte, *codec.Error) {
	start := len(dst) + 1
	out, err := m.Append(append(dst, 0), at)
	if err != nil {
		return dst, refused(-1, err)
	}
	return closeLength(out, start), nil
}

func refused(offset int, err error) *codec.Error {
	f := fault(offset, err.Error())
	f.Err = errors.Unwrap(err)
	return f
}

// marshaler reads a value by its own method, which must copy what it keeps, so that data is safe also where it is shared.
func (d *decoder) marshaler(m *layout.Marshaler, at unsafe.Pointer) {
	start := d.pos
	data := d.take(d.uvarint())
	if d.fault != nil {
		return
	}
	if err := m.Decode(at, data); err != nil {
		d.fault = refused(start, err)
	}
}
