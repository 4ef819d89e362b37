package msgpack

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/sabir-go/sabir/internal/document"
)

const endsEarly = "the data ends inside a value"

func (format) Next(data []byte, at int, t *document.Token) (int, string) {
	if at >= len(data) {
		return at, endsEarly
	}
	b := data[at]
	at++
	switch {
	case b < fixMap:
		t.Kind, t.Bits = document.Uint, uint64(b)
		return at, ""
	case b < fixArray:
		t.Kind, t.N = document.Map, int(b&15)
		return at, ""
	case b < fixStr:
		t.Kind, t.N = document.List, int(b&15)
		return at, ""
	case b < nilByte:
		return run(data, at, int(b&31), document.Text, t)
	case b >= negFixInt:
		t.Kind, t.Bits = document.Int, uint64(int64(int8(b)))
		return at, ""
	}
	return long(data, at, b, t)
}

// long reads a value of more bytes than its first one, b.
func long(data []byte, at int, b byte, t *document.Token) (int, string) {
	switch b {
	case nilByte:
		t.Kind = document.Nil
		return at, ""
	case falseByte, trueByte:
		t.Kind, t.Bits = document.Bool, uint64(b&1)
		return at, ""
	case fixExt1, fixExt1 + 1, fixExt4, fixExt8, fixExt16:
		return extension(data, at, 1<<(b-fixExt1), t)
	}
	size := int(sizeOf[b])
	if size == 0 {
		return at, "the byte c1, which MessagePack does not use"
	}
	if len(data)-at < size {
		return at, endsEarly
	}
	n := unsigned(data[at:], size)
	length := int(min(n, math.MaxInt)) // an int may have 32 bits
	at += size
	switch b {
	case uint8b, uint16b, uint32b, uint64b:
		t.Kind, t.Bits = document.Uint, n
	case int8b, int16b, int32b, int64b:
		shift := 64 - 8*size
		t.Kind, t.Bits = document.Int, uint64(int64(n<<shift)>>shift)
		if int64(t.Bits) >= 0 {
			t.Kind = document.Uint
		}
	case float32b:
		t.Kind, t.Bits = document.Float, math.Float64bits(float64(math.Float32frombits(uint32(n))))
	case float64b:
		t.Kind, t.Bits = document.Float, n
	case str8, str16, str32:
		return run(data, at, length, document.Text, t)
	case bin8, bin16, bin32:
		return run(data, at, length, document.Bytes, t)
	case array16, array32:
		t.Kind, t.N = document.List, length
	case map16, map32:
		t.Kind, t.N = document.Map, length
	default: // ext8, ext16, ext32
		return extension(data, at, length, t)
	}
	return at, ""
}

// sizeOf is the number of bytes of number or length after the first byte; 0 elsewhere.
var sizeOf = [256]uint8{
	bin8: 1, bin16: 2, bin32: 4, ext8: 1, ext16: 2, ext32: 4, float32b: 4, float64b: 8,
	uint8b: 1, uint16b: 2, uint32b: 4, uint64b: 8, int8b: 1, int16b: 2, int32b: 4, int64b: 8,
	str8: 1, str16: 2, str32: 4, array16: 2, array32: 4, map16: 2, map32: 4,
}

func unsigned(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(b))
	case 4:
		return uint64(binary.BigEndian.Uint32(b))
	}
	return binary.BigEndian.Uint64(b)
}

// run reads n bytes of text or bytes.
func run(data []byte, at, n int, kind document.Kind, t *document.Token) (int, string) {
	if n > len(data)-at {
		return at, endsEarly
	}
	t.Kind, t.Data = kind, data[at:at+n]
	return at + n, ""
}

// extension reads the type and n bytes of an extension.
func extension(data []byte, at, n int, t *document.Token) (int, string) {
	if n >= len(data)-at { // there is the type as well
		return at, endsEarly
	}
	kind, body := data[at], data[at+1:at+1+n]
	at += 1 + n
	t.Kind = document.Other
	if kind != timestamps {
		return at, ""
	}
	var seconds int64
	var nanos uint64
	switch n {
	case 4:
		seconds = int64(binary.BigEndian.Uint32(body))
	case 8:
		both := binary.BigEndian.Uint64(body)
		seconds, nanos = int64(both&(1<<34-1)), both>>34
	case 12:
		seconds, nanos = int64(binary.BigEndian.Uint64(body[4:])), uint64(binary.BigEndian.Uint32(body))
	default:
		return at, "a timestamp that has neither 4 nor 8 nor 12 bytes"
	}
	if nanos > 999_999_999 {
		return at, "a timestamp with more than 999999999 nanoseconds"
	}
	t.Kind, t.At = document.Time, time.Unix(seconds, int64(nanos)).UTC()
	return at, ""
}
