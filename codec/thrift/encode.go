package thrift

import (
	"fmt"
	"math"
	"time"
	"unicode/utf8"
	"unsafe"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

const (
	tooDeep  = "more than 128 structs, lists and maps inside each other"
	notUTF8  = "a string that is not valid UTF-8, which Thrift has no place for"
	nilEntry = "a nil pointer in a list or a map, which Thrift has no place for"
)

// encoder writes one message. The first fault ends it.
type encoder struct {
	apache.TProtocol
	codec  *protocol
	failed *codec.Error
}

func (e *encoder) fail(text string) {
	if e.failed == nil {
		e.failed = e.codec.fault(-1, text)
	}
}

// keep keeps the first error that the library returns.
func (e *encoder) keep(err error) {
	if err != nil && e.failed == nil {
		e.failed = e.codec.fault(-1, err.Error())
		e.failed.Err = err
	}
}

// object writes the struct at at. left is the number of levels that may follow inside it.
func (e *encoder) object(o *object, at unsafe.Pointer, left int) {
	if left == 0 {
		e.fail(tooDeep + "; a value that contains itself cannot be encoded")
		return
	}
	e.keep(e.WriteStructBegin(ctx, ""))
	for i := range o.fields {
		f := &o.fields[i]
		from := unsafe.Add(at, f.off)
		if f.optional {
			first := *(*unsafe.Pointer)(from) // of a slice and an interface it is nil where they are
			if first == nil {
				continue
			}
			if f.pointer != nil {
				from = first
			}
		}
		e.keep(e.WriteFieldBegin(ctx, f.name, f.value.wire, f.id))
		e.value(f.value, from, left-1)
		if e.failed != nil {
			layout.Under(e.failed, f.step)
			return
		}
	}
	e.keep(e.WriteFieldStop(ctx))
	e.keep(e.WriteStructEnd(ctx))
}

func (e *encoder) value(v *value, at unsafe.Pointer, left int) {
	switch v.kind {
	case layout.Bool:
		e.keep(e.WriteBool(ctx, *(*bool)(at)))
	case layout.Int8:
		e.keep(e.WriteByte(ctx, *(*int8)(at)))
	case layout.Int16:
		e.keep(e.WriteI16(ctx, *(*int16)(at)))
	case layout.Uint8:
		e.keep(e.WriteI16(ctx, int16(*(*uint8)(at))))
	case layout.Int32:
		e.keep(e.WriteI32(ctx, *(*int32)(at)))
	case layout.Uint16:
		e.keep(e.WriteI32(ctx, int32(*(*uint16)(at))))
	case layout.Int64, layout.Uint64:
		e.keep(e.WriteI64(ctx, *(*int64)(at)))
	case layout.Uint32:
		e.keep(e.WriteI64(ctx, int64(*(*uint32)(at))))
	case layout.Float32:
		e.keep(e.WriteDouble(ctx, float64(*(*float32)(at))))
	case layout.Float64:
		e.keep(e.WriteDouble(ctx, *(*float64)(at)))
	case layout.String:
		e.text(*(*string)(at))
	case layout.Bytes:
		e.binary(*(*[]byte)(at))
	case layout.ByteArray:
		e.binary(unsafe.Slice((*byte)(at), v.typ.Len))
	case layout.Binary, layout.Text:
		e.marshaled(v, at)
	case layout.Time:
		e.time(*(*time.Time)(at))
	case layout.Any:
		e.any(*(*any)(at), left)
	case layout.Struct:
		e.object(v.obj, at, left)
	case layout.Pointer:
		target := *(*unsafe.Pointer)(at)
		if target == nil {
			e.fail(nilEntry)
			return
		}
		e.object(v.obj, target, left)
	case layout.Slice:
		h := (*layout.SliceHeader)(at)
		e.list(v, h.Data, h.Len, left)
	case layout.Array:
		e.list(v, at, v.typ.Len, left)
	case layout.Map:
		e.mapping(v, at, left)
	}
}

func (e *encoder) text(s string) {
	if !utf8.ValidString(s) {
		e.fail(notUTF8)
		return
	}
	if e.fits(len(s)) {
		e.keep(e.WriteString(ctx, s))
	}
}

func (e *encoder) binary(b []byte) {
	if e.fits(len(b)) {
		e.keep(e.WriteBinary(ctx, b))
	}
}

// fits reports whether Thrift can express the length n.
func (e *encoder) fits(n int) bool {
	if n > math.MaxInt32 {
		e.fail(fmt.Sprintf("a length of %d, at most 2147483647 is possible", n))
		return false
	}
	return true
}

func (e *encoder) marshaled(v *value, at unsafe.Pointer) {
	b, err := v.typ.Marshal(nil, at)
	if err != nil {
		e.keep(err)
		return
	}
	if v.kind == layout.Text && !utf8.Valid(b) {
		e.fail(notUTF8)
		return
	}
	e.binary(b)
}

func (e *encoder) time(t time.Time) {
	e.keep(e.WriteStructBegin(ctx, ""))
	e.keep(e.WriteFieldBegin(ctx, "seconds", apache.I64, 1))
	e.keep(e.WriteI64(ctx, t.Unix()))
	e.keep(e.WriteFieldBegin(ctx, "nanoseconds", apache.I32, 2))
	e.keep(e.WriteI32(ctx, int32(t.Nanosecond())))
	e.keep(e.WriteFieldStop(ctx))
	e.keep(e.WriteStructEnd(ctx))
}

func (e *encoder) list(v *value, at unsafe.Pointer, n, left int) {
	if left == 0 {
		e.fail(tooDeep)
		return
	}
	if !e.fits(n) {
		return
	}
	e.keep(e.WriteListBegin(ctx, v.elem.wire, n))
	for i := range n {
		e.value(v.elem, unsafe.Add(at, uintptr(i)*v.elem.typ.Size), left-1)
		if e.failed != nil {
			layout.UnderIndex(e.failed, i)
			return
		}
	}
}

func (e *encoder) mapping(v *value, at unsafe.Pointer, left int) {
	if left == 0 {
		e.fail(tooDeep)
		return
	}
	if *(*unsafe.Pointer)(at) == nil { // in a list or a map
		e.keep(e.WriteMapBegin(ctx, v.key.wire, v.elem.wire, 0))
		return
	}
	if v.typ.Texts {
		e.texts(*(*map[string]string)(at))
		return
	}
	entries, n := v.typ.Entries(at)
	// A panic in a method of the caller's leaves the buffer to the garbage collector.
	if e.fits(n) {
		e.keep(e.WriteMapBegin(ctx, v.key.wire, v.elem.wire, n))
	}
	for i := 0; e.failed == nil && entries.Next(); i++ {
		e.value(v.key, entries.Key, left-1)
		e.value(v.elem, entries.Elem, left-1)
		if e.failed != nil {
			layout.Under(e.failed, entries.Step(i))
		}
	}
	entries.Release()
}

// texts is mapping for the most common map.
func (e *encoder) texts(m map[string]string) {
	if !e.fits(len(m)) {
		return
	}
	e.keep(e.WriteMapBegin(ctx, apache.STRING, apache.STRING, len(m)))
	for key, elem := range m {
		e.text(key)
		e.text(elem)
		if e.failed != nil {
			layout.Under(e.failed, "/"+layout.Escape(key))
			return
		}
	}
}
