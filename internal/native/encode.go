package native

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// maxDepth is the depth to which pointers, slices, arrays, maps and interfaces may nest in one value. Structs do not count: the
// types bound their nesting.
const maxDepth = 128

const (
	nilValue  = "a nil pointer has no value to encode"
	nilTarget = "the target is nil, want a pointer to a value"
	tooDeep   = "more than 128 pointers, slices, arrays, maps and interfaces inside each other; a value that contains itself cannot be encoded"
	endsEarly = "the data ends inside a value"
)

// append appends the value at at. On error it returns dst as it was given.
func (p *plan) append(dst []byte, at unsafe.Pointer) ([]byte, error) {
	if !p.flat {
		return p.appendContained(dst, at)
	}
	out, err := appendOps(dst, p.ops, at, maxDepth)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// appendContained appends a value whose methods may panic.
func (p *plan) appendContained(dst []byte, at unsafe.Pointer) (out []byte, err error) {
	out = dst
	defer codec.Contain(Name, &err)
	longer, wrong := appendOps(dst, p.ops, at, maxDepth)
	if wrong != nil {
		return dst, wrong
	}
	return longer, nil
}

// appendOps appends the value at p as ops describe. left is the number of levels that may follow.
func appendOps(dst []byte, ops []op, p unsafe.Pointer, left int) ([]byte, *codec.Error) {
	for i := range ops {
		o := &ops[i]
		at := unsafe.Add(p, o.off)
		var number uint64
		switch o.code {
		case opBool, opInt8, opUint8: // a bool in memory is 0 or 1
			dst = append(dst, *(*byte)(at))
			continue
		case opInt16:
			number = zigzag(int64(*(*int16)(at)))
		case opInt32:
			number = zigzag(int64(*(*int32)(at)))
		case opInt64:
			number = zigzag(*(*int64)(at))
		case opUint16:
			number = uint64(*(*uint16)(at))
		case opUint32:
			number = uint64(*(*uint32)(at))
		case opUint64:
			number = *(*uint64)(at)
		case opFloat32:
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(*(*float32)(at)))
			continue
		case opFloat64:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(*(*float64)(at)))
			continue
		case opString:
			s := *(*string)(at)
			if len(s) < 0x80 {
				dst = append(dst, byte(len(s)))
			} else {
				dst = appendLong(dst, uint64(len(s)))
			}
			dst = append(dst, s...)
			continue
		default:
			var err *codec.Error
			if dst, err = appendOther(dst, o, at, left); err != nil {
				return dst, under(err, o.path)
			}
			continue
		}
		if number < 0x80 {
			dst = append(dst, byte(number))
		} else {
			dst = appendLong(dst, number)
		}
	}
	return dst, nil
}

// appendOther appends the kinds that are rarer than numbers and strings, or that take longer than a function call.
func appendOther(dst []byte, o *op, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	switch o.code {
	case opComplex64:
		c := *(*complex64)(at)
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(real(c)))
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(imag(c))), nil
	case opComplex128:
		c := *(*complex128)(at)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(real(c)))
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(imag(c))), nil
	case opBytes:
		b := *(*[]byte)(at)
		if b == nil {
			return append(dst, 0), nil
		}
		dst = appendUvarint(dst, uint64(len(b))+1)
		return append(dst, b...), nil
	case opByteArray:
		return append(dst, unsafe.Slice((*byte)(at), o.sub.length)...), nil
	case opTime:
		return appendTime(dst, *(*time.Time)(at)), nil
	case opMarshaler:
		return appendMarshaled(o.sub.marshaler, dst, at)
	}
	if left == 0 {
		return dst, encodeFault(tooDeep)
	}
	switch o.code {
	case opPointer:
		target := *(*unsafe.Pointer)(at)
		if target == nil {
			return append(dst, 0), nil
		}
		return appendOps(append(dst, 1), o.sub.elem.ops, target, left-1)
	case opSlice:
		return appendSlice(dst, o.sub, at, left-1)
	case opArray:
		return appendElements(dst, o.sub.elem, at, o.sub.length, left-1)
	case opMap:
		return o.sub.appendMap(dst, at, left-1)
	case opInterface:
		return appendInterface(dst, o.sub.typ, at, left-1)
	}
	return dst, encodeFault(fmt.Sprintf("operation %d is for decoding", o.code))
}

// sliceHeader is the memory layout of a slice of any type.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func appendSlice(dst []byte, p *plan, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	h := (*sliceHeader)(at)
	if h.data == nil {
		return append(dst, 0), nil
	}
	dst = appendUvarint(dst, uint64(h.len)+1)
	if p.elem.min == 0 {
		return appendPadding(dst, h.len)
	}
	return appendElements(dst, p.elem, h.data, h.len, left)
}

func appendElements(dst []byte, elem *plan, at unsafe.Pointer, n, left int) ([]byte, *codec.Error) {
	if elem.min == 0 {
		return dst, nil
	}
	var err *codec.Error
	for i := range n {
		if dst, err = appendOps(dst, elem.ops, unsafe.Add(at, uintptr(i)*elem.size), left); err != nil {
			return dst, under(err, fmt.Sprintf("/%d", i))
		}
	}
	return dst, nil
}

// maxPadding is the most elements without bytes that a slice may have. In memory they can be free, on the wire each is a byte.
const maxPadding = 1 << 20

// appendPadding writes one zero byte for each of n elements that have no bytes of their own, so that a count is never
// larger than the bytes behind it.
func appendPadding(dst []byte, n int) ([]byte, *codec.Error) {
	if n > maxPadding {
		return dst, encodeFault(fmt.Sprintf("%d elements without content, at most %d can be encoded", n, maxPadding))
	}
	return append(dst, make([]byte, n)...), nil
}

// closeLength puts the number of bytes from start on before them. The caller left one byte at start-1 for it.
func closeLength(dst []byte, start int) []byte {
	n := len(dst) - start
	if n < 0x80 {
		dst[start-1] = byte(n)
		return dst
	}
	var length [10]byte
	prefix := appendLong(length[:0], uint64(n))
	dst[start-1] = prefix[0]
	return slices.Insert(dst, start, prefix[1:]...)
}
