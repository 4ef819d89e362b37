package protobuf

import (
	"fmt"
	"math"
	"reflect"
	"time"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// decoder is one decoding of a whole message.
type decoder struct {
	data    []byte
	strings layout.Strings
}

const (
	badUTF8     = "a string that is not valid UTF-8"
	badLength   = "a length beyond the end of the data"
	brokenTag   = "a tag that is broken or has no valid number"
	brokenField = "a field that ends early or is broken"
)

// at makes a fault at the start of rest, which ends where the whole data or a message in it ends.
func (d *decoder) fault(rest []byte, text string) *codec.Error {
	return fault(d.offset(rest), text)
}

// offset returns the number of bytes of the data before b, a part of it.
func (d *decoder) offset(b []byte) int {
	if cap(b) == 0 {
		return len(d.data)
	}
	return cap(d.data) - cap(b)
}

// message decodes data, all of it, into at. Fields that are not mentioned are left alone.
func (d *decoder) message(m *message, data []byte, at unsafe.Pointer, left int) *codec.Error {
	var counts []int
	if m.arrays > 0 {
		counts = make([]int, m.arrays)
	}
	next := 0 // fields mostly come in their order
	for len(data) > 0 {
		tag, size := consumeTag(data)
		if size < 0 {
			return d.fault(data, brokenTag)
		}
		i, ok := m.find(tag, next)
		if !ok {
			skipped := protowire.ConsumeFieldValue(protowire.Number(tag>>3), protowire.Type(tag&7), data[size:])
			if skipped < 0 {
				return d.fault(data, brokenField)
			}
			data = data[size+skipped:]
			continue
		}
		next = i + 1
		f := &m.fields[i]
		used, err := d.field(f, tag, data[size:], at, left, counts)
		if err != nil {
			return layout.Under(err, f.step)
		}
		data = data[size+used:]
	}
	return d.arrays(m, counts)
}

// find returns the field that a tag is for, looking first at the one that is expected and the one before it.
func (m *message) find(tag uint64, next int) (int, bool) {
	if next < len(m.fields) && m.fields[next].tag == tag {
		return next, true
	}
	if next > 0 && m.fields[next-1].tag == tag {
		return next - 1, true
	}
	i, ok := m.byNumber[protowire.Number(tag>>3)]
	return i, ok
}

// consumeTag reads a tag, whose number is checked. size is negative where it is broken.
func consumeTag(data []byte) (tag uint64, size int) {
	if data[0] < 0x80 {
		tag, size = uint64(data[0]), 1
	} else {
		tag, size = protowire.ConsumeVarint(data)
	}
	if size > 0 && !protowire.Number(min(tag>>3, 1<<30)).IsValid() {
		return 0, -1
	}
	return tag, size
}

// arrays checks that each array has all of its elements or, where it is not mentioned, none.
func (d *decoder) arrays(m *message, counts []int) *codec.Error {
	if counts == nil {
		return nil
	}
	for i := range m.fields {
		f := &m.fields[i]
		if f.shape == array && counts[f.slot] != 0 && counts[f.slot] != f.typ.Len {
			return layout.Under(wrongLength(f.typ, counts[f.slot]), f.step)
		}
	}
	return nil
}

func wrongLength(t *layout.Type, n int) *codec.Error {
	return &codec.Error{Codec: codecName, Offset: -1, Want: fmt.Sprintf("%d elements for %s", t.Len, t.Go), Got: fmt.Sprint(n)}
}

// field decodes one occurrence of f at the beginning of data, and returns how many bytes it takes.
func (d *decoder) field(f *field, tag uint64, data []byte, base unsafe.Pointer, left int, counts []int) (int, *codec.Error) {
	at := unsafe.Add(base, f.off)
	wire := protowire.Type(tag & 7)
	if f.packed && wire == protowire.BytesType {
		b, used := protowire.ConsumeBytes(data)
		if used < 0 {
			return 0, d.fault(data, "a list that ends early")
		}
		return used, d.packed(f, b, at, counts)
	}
	if wire != f.value.wire {
		return 0, d.otherWire(data, f.value.wire, wire)
	}
	switch f.shape {
	case optional:
		at = d.target(f, at)
	case list:
		if (*layout.SliceHeader)(at).Len == 0 {
			*(*layout.SliceHeader)(at) = f.typ.MakeSlice(repeats(tag, data))
			(*layout.SliceHeader)(at).Len = 0
		}
		n := (*layout.SliceHeader)(at).Len
		used, err := d.value(&f.value, data, f.typ.GrowSlice(at), left)
		if err != nil {
			return 0, layout.UnderIndex(err, n)
		}
		return used, nil
	case array:
		n := counts[f.slot]
		if n == f.typ.Len {
			return 0, wrongLength(f.typ, n+1)
		}
		counts[f.slot]++
		at = unsafe.Add(at, uintptr(n)*f.typ.Elem.Size)
	case mapping:
		return d.entry(f, data, at, left)
	}
	return d.value(&f.value, data, at, left)
}

func (d *decoder) otherWire(data []byte, want, got protowire.Type) *codec.Error {
	err := d.fault(data, "")
	err.Want, err.Got = wireName(want), wireName(got)
	return err
}

func wireName(t protowire.Type) string {
	switch t {
	case protowire.VarintType:
		return "a varint"
	case protowire.Fixed32Type:
		return "4 bytes"
	case protowire.Fixed64Type:
		return "8 bytes"
	case protowire.BytesType:
		return "bytes with their length"
	case protowire.StartGroupType, protowire.EndGroupType:
		return "a group"
	}
	return fmt.Sprintf("wire type %d", t)
}

// target returns the value that the pointer at at points to. It makes that value where the pointer is nil.
func (d *decoder) target(f *field, at unsafe.Pointer) unsafe.Pointer {
	if *(*unsafe.Pointer)(at) == nil {
		*(*unsafe.Pointer)(at) = f.typ.New()
	}
	return *(*unsafe.Pointer)(at)
}

// value decodes the value that data begins with and returns how many bytes it has.
func (d *decoder) value(v *value, data []byte, at unsafe.Pointer, left int) (int, *codec.Error) {
	switch v.wire {
	case protowire.VarintType:
		n, used := consumeVarint(data)
		if used < 0 {
			return 0, d.fault(data, "a number that is broken or longer than 10 bytes")
		}
		if !setInteger(v.kind, n, at) {
			return 0, d.fault(data, "a number out of the range of "+v.typ.Go.String())
		}
		return used, nil
	case protowire.Fixed32Type:
		n, used := protowire.ConsumeFixed32(data)
		if used < 0 {
			return 0, d.fault(data, "the data ends inside a number")
		}
		*(*uint32)(at) = n
		return used, nil
	case protowire.Fixed64Type:
		n, used := protowire.ConsumeFixed64(data)
		if used < 0 {
			return 0, d.fault(data, "the data ends inside a number")
		}
		*(*uint64)(at) = n
		return used, nil
	}
	n, used := consumeVarint(data)
	if used < 0 || n > uint64(len(data)-used) {
		return 0, d.fault(data, badLength)
	}
	end := used + int(n)
	return end, d.bytes(v, data[used:end], len(data)-end, at, left)
}

func consumeVarint(data []byte) (uint64, int) {
	if len(data) > 0 && data[0] < 0x80 {
		return uint64(data[0]), 1
	}
	return protowire.ConsumeVarint(data)
}

// setInteger stores n. It is false where the kind does not hold it.
func setInteger(kind layout.Kind, n uint64, at unsafe.Pointer) bool {
	switch kind {
	case layout.Bool:
		*(*bool)(at) = n != 0
		return true
	case layout.Int8:
		*(*int8)(at) = int8(n)
		return n == uint64(int8(n))
	case layout.Int16:
		*(*int16)(at) = int16(n)
		return n == uint64(int16(n))
	case layout.Int32:
		*(*int32)(at) = int32(n)
		return n == uint64(int32(n))
	case layout.Uint8:
		*(*uint8)(at) = uint8(n)
		return n == uint64(uint8(n))
	case layout.Uint16:
		*(*uint16)(at) = uint16(n)
		return n == uint64(uint16(n))
	case layout.Uint32:
		*(*uint32)(at) = uint32(n)
		return n == uint64(uint32(n))
	}
	*(*uint64)(at) = n
	return true
}

// bytes decodes a value that has a length before it. rest is the number of bytes of its message that follow it.
func (d *decoder) bytes(v *value, b []byte, rest int, at unsafe.Pointer, left int) *codec.Error {
	switch v.kind {
	case layout.String:
		if !utf8.Valid(b) {
			return d.fault(b, badUTF8)
		}
		*(*string)(at) = d.strings.Copy(b, rest)
		return nil
	case layout.Bytes:
		*(*[]byte)(at) = append([]byte{}, b...)
		return nil
	case layout.ByteArray:
		if len(b) != v.typ.Len {
			return wrongLength(v.typ, len(b))
		}
		copy(unsafe.Slice((*byte)(at), v.typ.Len), b)
		return nil
	case layout.Binary, layout.Text:
		if v.kind == layout.Text && !utf8.Valid(b) {
			return d.fault(b, badUTF8)
		}
		if err := v.typ.Unmarshal(at, b); err != nil {
			wrong := d.fault(b, err.Error())
			wrong.Err = err
			return wrong
		}
		return nil
	}
	if left == 0 {
		return d.fault(b, "more than 128 messages inside each other")
	}
	switch v.kind {
	case layout.Pointer:
		if *(*unsafe.Pointer)(at) == nil {
			*(*unsafe.Pointer)(at) = v.typ.New()
		}
		return d.message(v.msg, b, *(*unsafe.Pointer)(at), left-1)
	case layout.Time:
		return d.time(b, (*time.Time)(at))
	case kindDuration:
		return d.duration(b, (*time.Duration)(at))
	case layout.Any:
		decoded, err := d.any(b, left-1, *(*any)(at))
		*(*any)(at) = decoded
		return err
	case layout.Custom:
		return d.generated(v.typ, b, at)
	}
	return d.message(v.msg, b, at, left-1)
}

func (d *decoder) generated(t *layout.Type, b []byte, at unsafe.Pointer) *codec.Error {
	target := valueAt(t, at)
	if target.IsNil() {
		target.Set(reflect.New(t.Go.Elem()))
	}
	if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(b, target.Interface().(proto.Message)); err != nil {
		wrong := d.fault(b, err.Error())
		wrong.Err = err
		return wrong
	}
	return nil
}

// valueAt is the value of type t at at, which can be set.
func valueAt(t *layout.Type, at unsafe.Pointer) reflect.Value { return reflect.NewAt(t.Go, at).Elem() }

// time decodes a google.protobuf.Timestamp. One that comes again changes the parts that it has.
func (d *decoder) time(data []byte, at *time.Time) *codec.Error {
	var parts [3]uint64 // by number
	if !at.IsZero() {
		parts[1], parts[2] = uint64(at.Unix()), uint64(at.Nanosecond())
	}
	if err := d.seconds(data, &parts, "a time that is broken"); err != nil {
		return err
	}
	if parts[2] >= uint64(time.Second) {
		return d.fault(data, "a time with more than 999999999 nanoseconds")
	}
	*at = time.Unix(int64(parts[1]), int64(parts[2])).UTC()
	return nil
}

// duration decodes a google.protobuf.Duration. One that comes again changes the parts that it has.
func (d *decoder) duration(data []byte, at *time.Duration) *codec.Error {
	parts := [3]uint64{1: uint64(*at / time.Second), 2: uint64(*at % time.Second)}
	if err := d.seconds(data, &parts, "a duration that is broken"); err != nil {
		return err
	}
	seconds, nanos := int64(parts[1]), int64(parts[2])
	if nanos <= -int64(time.Second) || nanos >= int64(time.Second) || seconds < 0 && nanos > 0 || seconds > 0 && nanos < 0 {
		return d.fault(data, "a duration whose nanoseconds are a second or more, or of another sign than its seconds")
	}
	const most = math.MaxInt64 / int64(time.Second)
	if seconds > most || seconds < -most || seconds == most && nanos > math.MaxInt64%int64(time.Second) || seconds == -most && nanos < math.MinInt64%int64(time.Second) {
		return d.fault(data, "a duration of more than 292 years")
	}
	*at = time.Duration(seconds)*time.Second + time.Duration(nanos)
	return nil
}

// seconds reads the two fields of a google.protobuf.Timestamp or Duration into the parts of their numbers.
func (d *decoder) seconds(data []byte, parts *[3]uint64, broken string) *codec.Error {
	for len(data) > 0 {
		tag, size := consumeTag(data)
		if size < 0 {
			return d.fault(data, broken)
		}
		number, wire := protowire.Number(tag>>3), protowire.Type(tag&7)
		if number > 2 || wire != protowire.VarintType {
			skipped := protowire.ConsumeFieldValue(number, wire, data[size:])
			if skipped < 0 {
				return d.fault(data, broken)
			}
			data = data[size+skipped:]
			continue
		}
		n, used := consumeVarint(data[size:])
		if used < 0 {
			return d.fault(data, broken)
		}
		parts[number] = n
		data = data[size+used:]
	}
	return nil
}
