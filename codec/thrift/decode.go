package thrift

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
	"unicode/utf8"
	"unsafe"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// decoder reads one message. The first fault ends it.
type decoder struct {
	apache.TProtocol
	memory   *memory
	codec    *protocol
	promised int // bytes that are left and belong to elements already counted
	strings  layout.Strings
	failed   *codec.Error
}

func (d *decoder) fail(text string) {
	if d.failed == nil {
		d.failed = d.codec.fault(d.memory.pos, text)
	}
}

// keep keeps the first error that the library returns.
func (d *decoder) keep(err error) {
	if err == nil || d.failed != nil {
		return
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.fail("the data ends inside a value")
	} else {
		d.fail(err.Error())
	}
	d.failed.Err = err
}

// object reads a struct into at. Fields that are not mentioned are left alone.
func (d *decoder) object(o *object, at unsafe.Pointer, left int) {
	if left == 0 {
		d.fail(tooDeep)
		return
	}
	_, err := d.ReadStructBegin(ctx)
	d.keep(err)
	next := 0 // fields mostly come in their order
	for {
		_, wire, id, err := d.ReadFieldBegin(ctx)
		d.keep(err)
		if d.failed != nil {
			return
		}
		if wire == apache.STOP {
			break
		}
		if next >= len(o.fields) || o.fields[next].id != id {
			known, ok := o.byID[id]
			if !ok {
				d.keep(apache.Skip(ctx, d.TProtocol, wire, 2*left+4)) // an interface is a struct and what it holds
				continue
			}
			next = known
		}
		f := &o.fields[next]
		next++
		into := unsafe.Add(at, f.off)
		if f.pointer != nil {
			*(*unsafe.Pointer)(into) = f.pointer.New()
			into = *(*unsafe.Pointer)(into)
		}
		d.value(f.value, wire, into, left-1)
		if d.failed != nil {
			layout.Under(d.failed, f.step)
			return
		}
	}
	d.keep(d.ReadStructEnd(ctx))
}

// value reads a value whose type, as written, is wire.
func (d *decoder) value(v *value, wire apache.TType, at unsafe.Pointer, left int) {
	if wire != v.wire && !(integers[wire] && integers[v.wire]) && !(wire == apache.SET && v.wire == apache.LIST) {
		d.fail("")
		d.failed.Want, d.failed.Got = v.wire.String(), wire.String()
		return
	}
	var err error
	switch v.kind {
	case layout.Bool:
		*(*bool)(at), err = d.ReadBool(ctx)
	case layout.Int8, layout.Int16, layout.Int32, layout.Int64, layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64:
		d.integer(v, wire, at)
	case layout.Float32:
		d.float32((*float32)(at))
	case layout.Float64:
		*(*float64)(at), err = d.ReadDouble(ctx)
	case layout.String:
		*(*string)(at) = d.text()
	case layout.Bytes:
		*(*[]byte)(at) = append([]byte{}, d.bytes()...)
	case layout.ByteArray, layout.Binary, layout.Text:
		d.binary(v, at)
	case layout.Time:
		*(*time.Time)(at) = d.time()
	case layout.Any:
		*(*any)(at) = d.any(left)
	case layout.Struct:
		d.object(v.obj, at, left)
	case layout.Pointer:
		*(*unsafe.Pointer)(at) = v.typ.New()
		d.object(v.obj, *(*unsafe.Pointer)(at), left)
	case layout.Slice, layout.Array:
		d.list(v, at, left)
	case layout.Map:
		d.mapping(v, at, left)
	}
	d.keep(err)
}

var integers = [...]bool{apache.I08: true, apache.I16: true, apache.I32: true, apache.I64: true, 255: false}

// integer reads an integer of the writer's type into the reader's, which may be wider or narrower.
func (d *decoder) integer(v *value, wire apache.TType, at unsafe.Pointer) {
	n := d.number(wire)
	wholeBits := v.kind == layout.Uint64 && wire == apache.I64 // an i64 has the bits of a uint64
	if !layout.SetInteger(v.kind, at, n) && !wholeBits {
		d.fail("a number out of the range of " + v.typ.Go.String())
	}
}

func (d *decoder) number(wire apache.TType) (n int64) {
	var err error
	switch wire {
	case apache.I08:
		var narrow int8
		narrow, err = d.ReadByte(ctx)
		n = int64(narrow)
	case apache.I16:
		var narrow int16
		narrow, err = d.ReadI16(ctx)
		n = int64(narrow)
	case apache.I32:
		var narrow int32
		narrow, err = d.ReadI32(ctx)
		n = int64(narrow)
	default:
		n, err = d.ReadI64(ctx)
	}
	d.keep(err)
	return n
}

func (d *decoder) float32(at *float32) {
	wide, err := d.ReadDouble(ctx)
	d.keep(err)
	*at = float32(wide)
	if math.IsInf(float64(*at), 0) && !math.IsInf(wide, 0) {
		d.fail("a number out of the range of float32")
	}
}

// bytes reads a string as a part of the data. The library would make a copy of each, and of a text another one.
func (d *decoder) bytes() []byte {
	var n int64
	if d.codec.compact {
		length, size := binary.Uvarint(d.memory.data[d.memory.pos:])
		if size <= 0 || length > math.MaxInt32 {
			d.fail("a length that is broken or above 2147483647")
			return nil
		}
		d.memory.pos += size
		n = int64(length)
	} else {
		n = d.number(apache.I32)
	}
	if d.failed == nil && (n < 0 || n > int64(len(d.memory.data)-d.memory.pos)) {
		d.fail(fmt.Sprintf("a length of %d, but only %d bytes are left", n, len(d.memory.data)-d.memory.pos))
	}
	if d.failed != nil {
		return nil
	}
	start := d.memory.pos
	d.memory.pos += int(n)
	return d.memory.data[start:d.memory.pos]
}

func (d *decoder) text() string {
	b := d.bytes()
	if !utf8.Valid(b) {
		d.fail("a string that is not valid UTF-8")
	}
	return d.strings.Copy(b, len(d.memory.data)-d.memory.pos)
}

func (d *decoder) binary(v *value, at unsafe.Pointer) {
	b := d.bytes()
	if d.failed != nil {
		return
	}
	if v.kind == layout.ByteArray {
		if len(b) != v.typ.Len {
			d.wrongLength(v.typ, len(b))
			return
		}
		copy(unsafe.Slice((*byte)(at), v.typ.Len), b)
		return
	}
	if v.kind == layout.Text && !utf8.Valid(b) {
		d.fail("a string that is not valid UTF-8")
		return
	}
	d.keep(v.typ.Unmarshal(at, b))
}

func (d *decoder) wrongLength(t *layout.Type, n int) {
	d.fail("")
	d.failed.Want, d.failed.Got = fmt.Sprintf("%d elements for %s", t.Len, t.Go), fmt.Sprint(n)
}

func (d *decoder) time() time.Time {
	_, err := d.ReadStructBegin(ctx)
	d.keep(err)
	var seconds, nanos int64
	for d.failed == nil {
		_, wire, id, err := d.ReadFieldBegin(ctx)
		d.keep(err)
		if d.failed != nil || wire == apache.STOP {
			break
		}
		switch {
		case id == 1 && wire == apache.I64:
			seconds = d.number(wire)
		case id == 2 && wire == apache.I32:
			nanos = d.number(wire)
		default:
			d.keep(apache.Skip(ctx, d.TProtocol, wire, layout.MaxDepth))
		}
	}
	d.keep(d.ReadStructEnd(ctx))
	if nanos < 0 || nanos >= int64(time.Second) {
		d.fail("a time whose nanoseconds are not 0 to 999999999")
	}
	if d.failed != nil {
		return time.Time{}
	}
	return time.Unix(seconds, nanos).UTC()
}

// promise takes note of n elements to come, each of which has at least a byte. It fails where there are not as many bytes.
func (d *decoder) promise(n int) bool {
	if d.failed != nil {
		return false
	}
	if free := len(d.memory.data) - d.memory.pos - d.promised; n > free {
		d.fail(fmt.Sprintf("a count of %d elements, but only %d bytes for them", n, max(free, 0)))
		return false
	}
	d.promised += n
	return true
}

func (d *decoder) list(v *value, at unsafe.Pointer, left int) {
	wire, n, err := d.ReadListBegin(ctx)
	d.keep(err)
	if left == 0 {
		d.fail(tooDeep)
	}
	if !d.promise(n) {
		return
	}
	if v.kind == layout.Array {
		if n != v.typ.Len {
			d.wrongLength(v.typ, n)
			return
		}
	} else {
		made := v.typ.MakeSlice(n)
		*(*layout.SliceHeader)(at) = made
		at = made.Data
	}
	for i := range n {
		d.promised--
		d.value(v.elem, wire, unsafe.Add(at, uintptr(i)*v.elem.typ.Size), left-1)
		if d.failed != nil {
			layout.UnderIndex(d.failed, i)
			return
		}
	}
}

func (d *decoder) mapping(v *value, at unsafe.Pointer, left int) {
	key, elem, n, err := d.ReadMapBegin(ctx)
	d.keep(err)
	if left == 0 {
		d.fail(tooDeep)
	}
	if !d.promise(n) {
		return
	}
	if v.typ.Texts && key == apache.STRING && elem == apache.STRING {
		*(*map[string]string)(at) = d.texts(n)
		return
	}
	entries := v.typ.MakeMap(n)
	defer entries.Release()
	for i := range n {
		d.promised--
		entries.Clear()
		d.value(v.key, key, entries.Key, left-1)
		if d.failed == nil {
			d.value(v.elem, elem, entries.Elem, left-1)
		}
		if d.failed == nil && !entries.Put() {
			d.fail("a map with the same key twice")
		}
		if d.failed != nil {
			layout.Under(d.failed, entries.Step(i))
			return
		}
	}
	entries.Store(at)
}

// texts reads n entries, whose bytes are known to be there, of the most common map.
func (d *decoder) texts(n int) map[string]string {
	made := make(map[string]string, n)
	for range n {
		d.promised--
		key := d.text()
		made[key] = d.text()
		if d.failed != nil {
			layout.Under(d.failed, "/"+layout.Escape(key))
			return nil
		}
	}
	if len(made) < n {
		d.fail("a map with the same key twice")
	}
	return made
}
