package cbor

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/document"
)

// codecName is the name of this codec in URLs, flags and handshakes.
const codecName = "cbor"

// Codec is the CBOR codec as it is registered, for sabir.Codecs: see [codec.Codec].
var Codec = document.New(format{})

func init() { codec.Register(Codec) }

// The major types in the upper three bits of the first byte (RFC 8949, section 3.1).
const (
	majorUint   = 0 << 5
	majorNeg    = 1 << 5
	majorBytes  = 2 << 5
	majorText   = 3 << 5
	majorList   = 4 << 5
	majorMap    = 5 << 5
	majorTag    = 6 << 5
	majorSimple = 7 << 5
)

// The lower five bits: a value up to 23, how many bytes the value takes, or that there is no length.
const (
	oneByte    = 24
	twoBytes   = 25
	fourBytes  = 26
	eightBytes = 27
	indefinite = 31
)

// The lower five bits of major type 7 (section 3.3).
const (
	simpleFalse     = 20
	simpleTrue      = 21
	simpleNull      = 22
	simpleUndefined = 23
)

// The tags that mean something here (section 3.4).
const (
	tagTime           = iota // text, as RFC 3339 has it
	tagSeconds               // since 1970
	tagBignum                // bytes, highest first
	tagNegativeBignum        // -1 less the number in the bytes
)

// format is CBOR for package document.
type format struct{}

func (format) Name() string { return codecName }

// appendHead writes a major type with its argument.
func appendHead(dst []byte, major byte, n uint64) []byte {
	switch {
	case n < oneByte:
		return append(dst, major|byte(n))
	case n <= math.MaxUint8:
		return append(dst, major|oneByte, byte(n))
	case n <= math.MaxUint16:
		return append(dst, major|twoBytes, byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, major|fourBytes), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|eightBytes), n)
}

func (format) AppendNil(dst []byte) []byte { return append(dst, majorSimple|simpleNull) }

func (format) AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, majorSimple|simpleTrue)
	}
	return append(dst, majorSimple|simpleFalse)
}

func (format) AppendInt(dst []byte, v int64) []byte {
	if v < 0 {
		return appendHead(dst, majorNeg, uint64(^v))
	}
	return appendHead(dst, majorUint, uint64(v))
}

func (format) AppendUint(dst []byte, v uint64) []byte { return appendHead(dst, majorUint, v) }

func (format) AppendFloat32(dst []byte, v float32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, majorSimple|fourBytes), math.Float32bits(v))
}

func (format) AppendFloat64(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, majorSimple|eightBytes), math.Float64bits(v))
}

func (format) AppendText(dst []byte, v string) []byte {
	return append(appendHead(dst, majorText, uint64(len(v))), v...)
}

func (format) AppendBytes(dst, v []byte) []byte {
	return append(appendHead(dst, majorBytes, uint64(len(v))), v...)
}

func (format) AppendList(dst []byte, n int) []byte { return appendHead(dst, majorList, uint64(n)) }

func (format) AppendMap(dst []byte, n int) []byte { return appendHead(dst, majorMap, uint64(n)) }

// AppendTime refuses times that have no form in RFC 3339, so that no reader could read them: years beyond 9999, or an offset of
// 24 hours and more. Seconds since 1970, which can be read, may give such a time.
func (format) AppendTime(dst []byte, t time.Time) ([]byte, error) {
	dst = append(appendHead(dst, majorTag, tagTime), majorText|oneByte, 0)
	start := len(dst)
	dst, err := t.AppendText(dst)
	if err != nil {
		return dst, err
	}
	n := len(dst) - start
	if n >= oneByte {
		dst[start-1] = byte(n)
		return dst, nil
	}
	// The length fits into the first byte.
	dst[start-2] = majorText | byte(n)
	return append(dst[:start-1], dst[start:]...), nil
}
