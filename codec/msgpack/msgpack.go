package msgpack

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/document"
)

// codecName is the name of this codec in URLs, flags and handshakes.
const codecName = "msgpack"

// Codec is the MessagePack codec as it is registered, for sabir.Codecs: see [codec.Codec].
var Codec = document.New(format{})

func init() { codec.Register(Codec) }

// The first bytes, as the specification names them.
const (
	fixMap     = 0x80
	fixArray   = 0x90
	fixStr     = 0xa0
	nilByte    = 0xc0
	falseByte  = 0xc2
	trueByte   = 0xc3
	bin8       = 0xc4
	bin16      = 0xc5
	bin32      = 0xc6
	ext8       = 0xc7
	ext16      = 0xc8
	ext32      = 0xc9
	float32b   = 0xca
	float64b   = 0xcb
	uint8b     = 0xcc
	uint16b    = 0xcd
	uint32b    = 0xce
	uint64b    = 0xcf
	int8b      = 0xd0
	int16b     = 0xd1
	int32b     = 0xd2
	int64b     = 0xd3
	fixExt1    = 0xd4
	fixExt4    = 0xd6
	fixExt8    = 0xd7
	fixExt16   = 0xd8
	str8       = 0xd9
	str16      = 0xda
	str32      = 0xdb
	array16    = 0xdc
	array32    = 0xdd
	map16      = 0xde
	map32      = 0xdf
	negFixInt  = 0xe0
	timestamps = 0xff // the extension type -1
)

// format is MessagePack for package document.
type format struct{}

func (format) Name() string { return codecName }

func (format) AppendNil(dst []byte) []byte { return append(dst, nilByte) }

func (format) AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, trueByte)
	}
	return append(dst, falseByte)
}

func (f format) AppendInt(dst []byte, v int64) []byte {
	switch {
	case v >= 0:
		return f.AppendUint(dst, uint64(v))
	case v >= -32:
		return append(dst, byte(v))
	case v >= math.MinInt8:
		return append(dst, int8b, byte(v))
	case v >= math.MinInt16:
		return append(dst, int16b, byte(v>>8), byte(v))
	case v >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(dst, int32b), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, int64b), uint64(v))
}

func (format) AppendUint(dst []byte, v uint64) []byte {
	switch {
	case v < 128:
		return append(dst, byte(v))
	case v <= math.MaxUint8:
		return append(dst, uint8b, byte(v))
	case v <= math.MaxUint16:
		return append(dst, uint16b, byte(v>>8), byte(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, uint32b), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, uint64b), v)
}

func (format) AppendFloat32(dst []byte, v float32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, float32b), math.Float32bits(v))
}

func (format) AppendFloat64(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, float64b), math.Float64bits(v))
}

func (format) AppendText(dst []byte, v string) []byte {
	if len(v) < 32 {
		dst = append(dst, fixStr|byte(len(v)))
	} else {
		dst = appendLength(dst, len(v), str8, str16, str32)
	}
	return append(dst, v...)
}

func (format) AppendBytes(dst, v []byte) []byte {
	return append(appendLength(dst, len(v), bin8, bin16, bin32), v...)
}

func (format) AppendList(dst []byte, n int) []byte {
	if n < 16 {
		return append(dst, fixArray|byte(n))
	}
	return appendLength(dst, n, 0, array16, array32)
}

func (format) AppendMap(dst []byte, n int) []byte {
	if n < 16 {
		return append(dst, fixMap|byte(n))
	}
	return appendLength(dst, n, 0, map16, map32)
}

// appendLength writes a length behind the first byte for its size. one is 0 where there is no form with a length of one byte.
func appendLength(dst []byte, n int, one, two, four byte) []byte {
	switch {
	case n <= math.MaxUint8 && one != 0:
		return append(dst, one, byte(n))
	case n <= math.MaxUint16:
		return append(dst, two, byte(n>>8), byte(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, four), uint32(n))
}

// AppendTime writes the smallest of the three timestamp forms that holds t.
func (format) AppendTime(dst []byte, t time.Time) ([]byte, error) {
	seconds, nanos := t.Unix(), uint64(t.Nanosecond())
	switch {
	case seconds>>34 != 0:
		dst = binary.BigEndian.AppendUint32(append(dst, ext8, 12, timestamps), uint32(nanos))
		return binary.BigEndian.AppendUint64(dst, uint64(seconds)), nil
	case nanos == 0 && seconds <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, fixExt4, timestamps), uint32(seconds)), nil
	}
	return binary.BigEndian.AppendUint64(append(dst, fixExt8, timestamps), nanos<<34|uint64(seconds)), nil
}
