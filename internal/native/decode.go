package native

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// decoder is one decoding. The first fault ends it.
type decoder struct {
	data     []byte
	pos      int
	promised int  // bytes behind pos that belong to elements already counted
	share    int  // strings and byte slices of at least so many bytes become parts of data; see shareNone and shareAll
	shared   bool // one has
	block    []byte
	fault    *codec.Error
}

// What decoder.share is, besides a number of bytes.
const (
	shareAll  = 0
	shareNone = math.MaxInt
)

// whole decodes a value that must fill the data.
func (d *decoder) whole(p *plan, at unsafe.Pointer) error {
	if p.flat {
		d.run(p.ops, at, maxDepth)
	} else if err := d.contained(p, at); err != nil {
		return err
	}
	if d.fault == nil && d.pos != len(d.data) {
		d.fail(fmt.Sprintf("%d bytes after the end of the value", len(d.data)-d.pos))
	}
	if d.fault != nil {
		return d.fault
	}
	return nil
}

// contained runs what may call methods of the value. Its error is their panic.
func (d *decoder) contained(p *plan, at unsafe.Pointer) (err error) {
	defer codec.Contain(Name, &err)
	d.run(p.ops, at, maxDepth)
	return nil
}

// run decodes into at as ops describe. left is the number of levels that may follow. On false there is a fault.
func (d *decoder) run(ops []op, p unsafe.Pointer, left int) bool {
	for i := range ops {
		o := &ops[i]
		at := unsafe.Add(p, o.off)
		switch o.code {
		case opInt32:
			v := unzigzag(d.uvarint())
			if v != int64(int32(v)) {
				d.outOfRange("int32")
			}
			*(*int32)(at) = int32(v)
		case opInt64:
			*(*int64)(at) = unzigzag(d.uvarint())
		case opUint64:
			*(*uint64)(at) = d.uvarint()
		case opFloat32:
			*(*float32)(at) = math.Float32frombits(d.uint32())
		case opFloat64:
			*(*float64)(at) = math.Float64frombits(d.uint64())
		case opString:
			*(*string)(at) = d.string()
		case opBool:
			b := d.byte()
			if b > 1 {
				d.fail(fmt.Sprintf("a bool of %d, want 0 or 1", b))
			}
			*(*bool)(at) = b == 1
		case opInt8, opUint8:
			*(*byte)(at) = d.byte()
		default:
			d.other(o, at, left)
		}
		if d.fault != nil {
			under(d.fault, o.path)
			return false
		}
	}
	return true
}

// other decodes the kinds that are rare, or that take longer than a function call.
func (d *decoder) other(o *op, at unsafe.Pointer, left int) bool {
	switch o.code {
	case opInt16:
		v := unzigzag(d.uvarint())
		*(*int16)(at) = int16(v)
		return v == int64(int16(v)) || d.outOfRange("int16")
	case opUint16:
		v := d.uvarint()
		*(*uint16)(at) = uint16(v)
		return v == uint64(uint16(v)) || d.outOfRange("uint16")
	case opUint32:
		v := d.uvarint()
		*(*uint32)(at) = uint32(v)
		return v == uint64(uint32(v)) || d.outOfRange("uint32")
	case opComplex64:
		*(*complex64)(at) = complex(math.Float32frombits(d.uint32()), math.Float32frombits(d.uint32()))
	case opComplex128:
		*(*complex128)(at) = complex(math.Float64frombits(d.uint64()), math.Float64frombits(d.uint64()))
	case opBytes:
		*(*[]byte)(at) = d.bytes()
	case opByteArray:
		copy(unsafe.Slice((*byte)(at), o.sub.length), d.take(uint64(o.sub.length)))
	case opTime:
		*(*time.Time)(at) = d.time()
	case opMarshaler:
		d.marshaler(o.sub.marshaler, at)
	case opInt8To16:
		*(*int16)(at) = int16(int8(d.byte()))
	case opInt8To32:
		*(*int32)(at) = int32(int8(d.byte()))
	case opInt8To64:
		*(*int64)(at) = int64(int8(d.byte()))
	case opUint8To16:
		*(*uint16)(at) = uint16(d.byte())
	case opUint8To32:
		*(*uint32)(at) = uint32(d.byte())
	case opUint8To64:
		*(*uint64)(at) = uint64(d.byte())
	case opFloat32To64:
		*(*float64)(at) = float64(math.Float32frombits(d.uint32()))
	case opComplex64To128:
		*(*complex128)(at) = complex(float64(math.Float32frombits(d.uint32())), float64(math.Float32frombits(d.uint32())))
	case opZero:
		reflect.NewAt(o.sub.typ, at).Elem().SetZero()
	case opSkip:
		return d.skip(o.sub.skip, o.sub.place, left)
	default:
		if left == 0 {
			return d.fail("more than 128 pointers, slices, arrays, maps and interfaces inside each other")
		}
		return d.nested(o, at, left-1)
	}
	return d.fault == nil
}

// nested decodes a value that counts as a level of nesting.
func (d *decoder) nested(o *op, at unsafe.Pointer, left int) bool {
	p := o.sub
	switch o.code {
	case opPointer:
		if !d.presence() {
			*(*unsafe.Pointer)(at) = nil
			return d.fault == nil
		}
		return d.pointer(p, at, left)
	case opBox:
		return d.pointer(p, at, left)
	case opSlice:
		return d.slice(p, at, left)
	case opArray:
		return d.array(p, at, left)
	case opMap:
		return d.mapping(p, at, left)
	case opInterface:
		return d.anyValue(p.typ, at, left)
	}
	panic(fmt.Sprintf("native: no operation %d", o.code))
}

func (d *decoder) pointer(p *plan, at unsafe.Pointer, left int) bool {
	target := reflect.New(p.typ.Elem()).UnsafePointer()
	*(*unsafe.Pointer)(at) = target
	return d.run(p.elem.ops, target, left)
}

// fail records a fault at the current place and returns false.
func (d *decoder) fail(message string) bool {
	if d.fault == nil {
		d.fault = fault(d.pos, message)
	}
	return false
}

func (d *decoder) outOfRange(want string) bool {
	if d.fault == nil {
		d.fault = &codec.Error{Codec: Name, Offset: int64(d.pos), Want: want, Got: "a number out of its range"}
	}
	return false
}

func (d *decoder) underIndex(i int) { under(d.fault, fmt.Sprintf("/%d", i)) }

func (d *decoder) byte() byte {
	if d.pos >= len(d.data) {
		d.fail(endsEarly)
		return 0
	}
	b := d.data[d.pos]
	d.pos++
	return b
}

// presence reads the byte before a value that may be absent.
func (d *decoder) presence() bool {
	b := d.byte()
	if b > 1 {
		d.fail(fmt.Sprintf("a pointer that starts with %d, want 0 for nil or 1", b))
	}
	return b == 1
}

func (d *decoder) uvarint() uint64 {
	if d.pos < len(d.data) {
		if b := d.data[d.pos]; b < 0x80 {
			d.pos++
			return uint64(b)
		}
	}
	return d.longUvarint()
}

func (d *decoder) longUvarint() uint64 {
	if len(d.data)-d.pos >= 2 {
		if low, high := d.data[d.pos], d.data[d.pos+1]; low >= 0x80 && high-1 < 0x7f { // two bytes, the common case
			d.pos += 2
			return uint64(low&0x7f) | uint64(high)<<7
		}
	}
	rest := d.data[d.pos:]
	if len(rest) >= 9 {
		w := binary.LittleEndian.Uint64(rest)
		if v, size := readWord(w); size > 0 {
			d.pos += size
			return v
		}
		if ninth := rest[8]; w&continued == continued && ninth-1 < 0x7f {
			d.pos += 9
			return squeezed(w) | uint64(ninth)<<56
		}
	}
	v, size, wrong := readLong(rest)
	if wrong != "" {
		d.fail(wrong)
	}
	d.pos += size
	return v
}

func (d *decoder) uint32() uint32 {
	if len(d.data)-d.pos < 4 {
		d.fail(endsEarly)
		return 0
	}
	v := binary.LittleEndian.Uint32(d.data[d.pos:])
	d.pos += 4
	return v
}

func (d *decoder) uint64() uint64 {
	if len(d.data)-d.pos < 8 {
		d.fail(endsEarly)
		return 0
	}
	v := binary.LittleEndian.Uint64(d.data[d.pos:])
	d.pos += 8
	return v
}

// take returns the next n bytes of the data itself, or nil and a fault.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.data)-d.pos) {
		d.fail(endsEarly)
		return nil
	}
	start := d.pos
	d.pos += int(n)
	return d.data[start:d.pos:d.pos]
}

// Strings of up to maxShared bytes are copied into blocks of blockBytes, since one allocation for many is faster. A
// block is never larger than what is left of the data, and there is none for a string that little follows.
const (
	maxShared  = 256
	blockBytes = 1024
)

func (d *decoder) string() string {
	b := d.take(d.uvarint())
	if len(b) == 0 {
		return ""
	}
	if len(b) >= d.share {
		d.shared = true
		return unsafe.String(&b[0], len(b))
	}
	if rest := len(d.data) - d.pos; cap(d.block)-len(d.block) < len(b) {
		if len(b) > maxShared || len(b) > rest {
			return string(b)
		}
		d.block = make([]byte, 0, min(rest+len(b), blockBytes))
	}
	start := len(d.block)
	d.block = append(d.block, b...)
	return unsafe.String(&d.block[start], len(b))
}

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n == 0 {
		return nil
	}
	b := d.take(n - 1)
	if d.fault != nil || len(b) >= d.share {
		d.shared = true
		return b
	}
	return append([]byte{}, b...)
}

// count reads the number of elements of a slice or map, each of which takes at least least bytes, or one byte of padding. It
// is -1 for nil.
func (d *decoder) count(least uint64) (n int, ok bool) {
	v := d.uvarint()
	if d.fault != nil {
		return 0, false
	}
	if v == 0 {
		return -1, true
	}
	v--
	free := max(0, len(d.data)-d.pos-d.promised)
	if v > uint64(free)/max(least, 1) {
		return 0, d.fail(fmt.Sprintf("a count of %d elements, but only %d bytes for them", v, free))
	}
	return int(v), true
}

// padding reads the zero bytes that stand for elements without content.
func (d *decoder) padding(n int) bool {
	for _, b := range d.take(uint64(n)) {
		if b != 0 {
			return d.fail("an element without content that is not a zero byte")
		}
	}
	return d.fault == nil
}
