package protobuf

import (
	"slices"
	"time"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

const (
	tooDeep  = "more than 128 messages inside each other; a value that contains itself cannot be encoded"
	notUTF8  = "a string that is not valid UTF-8, which Protocol Buffers has no place for"
	nilEntry = "a nil pointer in a list or a map, which Protocol Buffers has no place for"
)

// appendMessage appends the fields of the value at at. left is the number of messages that may follow inside it.
func appendMessage(dst []byte, m *message, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	for i := range m.fields {
		f := &m.fields[i]
		var err *codec.Error
		if dst, err = appendField(dst, f, unsafe.Add(at, f.off), left); err != nil {
			return dst, layout.Under(err, f.step)
		}
	}
	return dst, nil
}

func appendField(dst []byte, f *field, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	switch f.shape {
	case single:
		return appendSingle(dst, f, at, left)
	case always:
		return appendValue(appendVarint(dst, f.tag), &f.value, at, left)
	case optional:
		target := *(*unsafe.Pointer)(at)
		if target == nil {
			return dst, nil
		}
		return appendValue(appendVarint(dst, f.tag), &f.value, target, left)
	case list:
		h := (*layout.SliceHeader)(at)
		return appendList(dst, f, h.Data, h.Len, left)
	case array:
		return appendList(dst, f, at, f.typ.Len, left)
	}
	return appendMap(dst, f, at, left)
}

// appendSingle appends a field unless it is zero.
func appendSingle(dst []byte, f *field, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	var number uint64
	switch f.value.kind {
	case layout.String:
		s := *(*string)(at)
		if s == "" {
			return dst, nil
		}
		if !utf8.ValidString(s) {
			return dst, fault(-1, notUTF8)
		}
		return appendString(appendVarint(dst, f.tag), s), nil
	case layout.Bytes:
		if b := *(*[]byte)(at); len(b) > 0 {
			return protowire.AppendBytes(appendVarint(dst, f.tag), b), nil
		}
		return dst, nil
	case layout.Float32:
		if bits := *(*uint32)(at); bits != 0 {
			return protowire.AppendFixed32(appendVarint(dst, f.tag), bits), nil
		}
		return dst, nil
	case layout.Float64:
		if bits := *(*uint64)(at); bits != 0 {
			return protowire.AppendFixed64(appendVarint(dst, f.tag), bits), nil
		}
		return dst, nil
	case layout.ByteArray, layout.Struct:
		out, err := appendValue(appendVarint(dst, f.tag), &f.value, at, left)
		if err != nil || out[len(out)-1] == 0 && isEmpty(f, out[len(dst):]) {
			return dst, err
		}
		return out, nil
	case layout.Time:
		if (*time.Time)(at).IsZero() {
			return dst, nil
		}
		return appendValue(appendVarint(dst, f.tag), &f.value, at, left)
	case kindDuration:
		if *(*time.Duration)(at) == 0 {
			return dst, nil
		}
		return appendValue(appendVarint(dst, f.tag), &f.value, at, left)
	case layout.Any:
		if *(*any)(at) == nil {
			return dst, nil
		}
		return appendValue(appendVarint(dst, f.tag), &f.value, at, left)
	case layout.Custom:
		if *(*unsafe.Pointer)(at) == nil {
			return dst, nil
		}
		return appendValue(appendVarint(dst, f.tag), &f.value, at, left)
	default:
		number = integer(f.value.kind, at)
	}
	if number == 0 {
		return dst, nil
	}
	return appendVarint(appendVarint(dst, f.tag), number), nil
}

// appendVarint is protowire's, which is too large for the compiler to put the common case of one byte in place.
func appendVarint(dst []byte, n uint64) []byte {
	if n < 0x80 {
		return append(dst, byte(n))
	}
	return protowire.AppendVarint(dst, n)
}

func appendString(dst []byte, s string) []byte {
	return append(appendVarint(dst, uint64(len(s))), s...)
}

// isEmpty reports whether written, a tag, a length and what it counts, means no more than its absence: a message without fields
// or an array of zero bytes.
func isEmpty(f *field, written []byte) bool {
	body := written[protowire.SizeVarint(f.tag):]
	if f.value.kind == layout.Struct {
		return len(body) == 1
	}
	_, size := protowire.ConsumeVarint(body)
	for _, b := range body[size:] {
		if b != 0 {
			return false
		}
	}
	return true
}

// integer reads an integer or a bool as the wire has it: the sign extended to 64 bits.
func integer(kind layout.Kind, at unsafe.Pointer) uint64 {
	switch kind {
	case layout.Bool, layout.Uint8: // a bool in memory is 0 or 1
		return uint64(*(*uint8)(at))
	case layout.Int8:
		return uint64(*(*int8)(at))
	case layout.Int16:
		return uint64(*(*int16)(at))
	case layout.Int32:
		return uint64(*(*int32)(at))
	case layout.Uint16:
		return uint64(*(*uint16)(at))
	case layout.Uint32:
		return uint64(*(*uint32)(at))
	}
	return *(*uint64)(at)
}

// appendValue appends a value without its tag, whether it is zero or not.
func appendValue(dst []byte, v *value, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	switch v.kind {
	case layout.String:
		s := *(*string)(at)
		if !utf8.ValidString(s) {
			return dst, fault(-1, notUTF8)
		}
		return appendString(dst, s), nil
	case layout.Bytes:
		return protowire.AppendBytes(dst, *(*[]byte)(at)), nil
	case layout.ByteArray:
		return protowire.AppendBytes(dst, unsafe.Slice((*byte)(at), v.typ.Len)), nil
	case layout.Float32:
		return protowire.AppendFixed32(dst, *(*uint32)(at)), nil
	case layout.Float64:
		return protowire.AppendFixed64(dst, *(*uint64)(at)), nil
	case layout.Binary, layout.Text:
		return appendMarshaled(dst, v, at)
	case layout.Time, kindDuration, layout.Any, layout.Struct, layout.Pointer, layout.Custom:
		return appendInner(dst, v, at, left)
	}
	return appendVarint(dst, integer(v.kind, at)), nil
}

func appendMarshaled(dst []byte, v *value, at unsafe.Pointer) ([]byte, *codec.Error) {
	start := len(dst) + 1
	out, err := v.typ.Marshal(append(dst, 0), at)
	if err != nil {
		wrong := fault(-1, err.Error())
		wrong.Err = err
		return dst, wrong
	}
	if v.kind == layout.Text && !utf8.Valid(out[start:]) {
		return dst, fault(-1, notUTF8)
	}
	return closeLength(out, start), nil
}

// appendInner appends the length and the fields of a message.
func appendInner(dst []byte, v *value, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	if left == 0 {
		return dst, fault(-1, tooDeep)
	}
	start := len(dst) + 1
	dst = append(dst, 0)
	var err *codec.Error
	switch v.kind {
	case layout.Struct:
		dst, err = appendMessage(dst, v.msg, at, left-1)
	case layout.Pointer:
		target := *(*unsafe.Pointer)(at)
		if target == nil {
			return dst, fault(-1, nilEntry)
		}
		dst, err = appendMessage(dst, v.msg, target, left-1)
	case layout.Time:
		t := *(*time.Time)(at)
		dst = appendSeconds(dst, t.Unix(), int64(t.Nanosecond()))
	case kindDuration:
		d := *(*time.Duration)(at)
		dst = appendSeconds(dst, int64(d/time.Second), int64(d%time.Second)) // both have the sign
	case layout.Any:
		dst, err = appendAny(dst, *(*any)(at), left-1)
	case layout.Custom:
		dst, err = appendGenerated(dst, v.typ, at)
	}
	if err != nil {
		return dst, err
	}
	return closeLength(dst, start), nil
}

func appendGenerated(dst []byte, t *layout.Type, at unsafe.Pointer) ([]byte, *codec.Error) {
	if *(*unsafe.Pointer)(at) == nil {
		return dst, fault(-1, nilEntry)
	}
	m := valueAt(t, at).Interface().(proto.Message)
	out, err := proto.MarshalOptions{}.MarshalAppend(dst, m)
	if err != nil {
		return dst, &codec.Error{Codec: codecName, Offset: -1, Message: err.Error(), Err: err}
	}
	return out, nil
}

// appendSeconds writes a google.protobuf.Timestamp or Duration: field 1 has the seconds, of a time since 1970, field 2 the nanoseconds.
func appendSeconds(dst []byte, seconds, nanos int64) []byte {
	if seconds != 0 {
		dst = protowire.AppendVarint(append(dst, 1<<3), uint64(seconds))
	}
	if nanos != 0 {
		dst = protowire.AppendVarint(append(dst, 2<<3), uint64(nanos))
	}
	return dst
}

// closeLength puts the number of bytes from start on before them. The caller left one byte at start-1 for it.
func closeLength(dst []byte, start int) []byte {
	n := len(dst) - start
	if n < 0x80 {
		dst[start-1] = byte(n)
		return dst
	}
	var buffer [10]byte
	length := protowire.AppendVarint(buffer[:0], uint64(n))
	dst[start-1] = length[0]
	return slices.Insert(dst, start, length[1:]...)
}
