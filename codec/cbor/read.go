package cbor

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/sabir-go/sabir/internal/document"
)

const (
	endsEarly = "the data ends inside a value"
	reserved  = "a first byte that CBOR does not use"
	tooLow    = "an integer below -2^63"
)

// maxTags is the number of tags that may stand before one value.
const maxTags = 16

func (format) Next(data []byte, at int, t *document.Token) (int, string) {
	if at >= len(data) {
		return at, endsEarly
	}
	b := data[at]
	major, low := b&0xe0, b&0x1f
	if major == majorSimple {
		return simple(data, at+1, low, t)
	}
	if low == indefinite {
		return withoutLength(data, at+1, major, t)
	}
	at, n, fault := argument(data, at+1, low)
	if fault != "" {
		return at, fault
	}
	switch major {
	case majorUint:
		t.Kind, t.Bits = document.Uint, n
	case majorNeg:
		if n > math.MaxInt64 {
			return at, tooLow
		}
		t.Kind, t.Bits = document.Int, ^n
	case majorText, majorBytes:
		if n > uint64(len(data)-at) {
			return at, endsEarly
		}
		t.Kind, t.Data = document.Text, data[at:at+int(n)]
		if major == majorBytes {
			t.Kind = document.Bytes
		}
		at += int(n)
	case majorList, majorMap:
		if n > uint64(len(data)-at) {
			return at, endsEarly
		}
		t.Kind, t.N = document.List, int(n)
		if major == majorMap {
			t.Kind = document.Map
		}
	case majorTag:
		return tagged(data, at, n, t)
	}
	return at, ""
}

// argument reads the argument of an item (RFC 8949, section 3), which begins in the lower bits of the first byte.
func argument(data []byte, at int, low byte) (int, uint64, string) {
	if low < oneByte {
		return at, uint64(low), ""
	}
	if low > eightBytes {
		return at, 0, reserved
	}
	size := 1 << (low - oneByte)
	if len(data)-at < size {
		return at, 0, endsEarly
	}
	switch low {
	case oneByte:
		return at + 1, uint64(data[at]), ""
	case twoBytes:
		return at + 2, uint64(binary.BigEndian.Uint16(data[at:])), ""
	case fourBytes:
		return at + 4, uint64(binary.BigEndian.Uint32(data[at:])), ""
	}
	return at + 8, binary.BigEndian.Uint64(data[at:]), ""
}

// simple reads an item of major type 7: a float, false, true, null, undefined, or the end of an indefinite length.
func simple(data []byte, at int, low byte, t *document.Token) (int, string) {
	switch low {
	case simpleFalse, simpleTrue:
		t.Kind, t.Bits = document.Bool, uint64(low&1)
		return at, ""
	case simpleNull, simpleUndefined:
		t.Kind = document.Nil
		return at, ""
	case indefinite:
		t.Kind = document.Break
		return at, ""
	case twoBytes, fourBytes, eightBytes:
	default:
		return at, "a simple value that is neither false, true, null nor undefined"
	}
	at, n, fault := argument(data, at, low)
	if fault != "" {
		return at, fault
	}
	t.Kind = document.Float
	switch low {
	case twoBytes:
		n = math.Float64bits(half(uint16(n)))
	case fourBytes:
		n = math.Float64bits(float64(math.Float32frombits(uint32(n))))
	}
	t.Bits = n
	return at, ""
}

// half is a float of 16 bits (RFC 8949, appendix D).
func half(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		v = math.Inf(1)
		if fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(fraction+1024, exponent-25)
	}
	if bits>>15 == 1 {
		v = -v
	}
	return v
}

// withoutLength reads the head of a list or map that ends with a break, or a whole string in pieces (section 3.2).
func withoutLength(data []byte, at int, major byte, t *document.Token) (int, string) {
	switch major {
	case majorList:
		t.Kind, t.N = document.List, document.Indefinite
		return at, ""
	case majorMap:
		t.Kind, t.N = document.Map, document.Indefinite
		return at, ""
	case majorText, majorBytes:
	default:
		return at, reserved
	}
	var whole []byte
	for {
		if at >= len(data) {
			return at, endsEarly
		}
		b := data[at]
		at++
		if b == majorSimple|indefinite {
			t.Kind, t.Data = document.Text, whole
			if major == majorBytes {
				t.Kind = document.Bytes
			}
			return at, ""
		}
		if b&0xe0 != major || b&0x1f == indefinite {
			return at, "a string in pieces that has a piece of another kind"
		}
		next, n, fault := argument(data, at, b&0x1f)
		if fault != "" {
			return next, fault
		}
		if n > uint64(len(data)-next) {
			return next, endsEarly
		}
		whole = append(whole, data[next:next+int(n)]...)
		at = next + int(n)
	}
}

// tagged reads the item under the tag n.
func tagged(data []byte, at int, n uint64, t *document.Token) (int, string) {
	for range maxTags {
		if at < len(data) && data[at]&0xe0 == majorTag {
			var fault string
			if at, n, fault = argument(data, at+1, data[at]&0x1f); fault != "" {
				return at, fault
			}
			continue
		}
		at, fault := format{}.Next(data, at, t)
		if fault != "" {
			return at, fault
		}
		return at, meaning(n, t)
	}
	return at, "more tags before a value than 16"
}

// meaning changes the token that tag n is on into the tag's meaning (section 3.4).
func meaning(n uint64, t *document.Token) (fault string) {
	switch n {
	case tagTime:
		at, err := time.Parse(time.RFC3339Nano, string(t.Data))
		if t.Kind != document.Text || err != nil {
			return "a time that is no text such as 2006-01-02T15:04:05Z (RFC 3339)"
		}
		t.Kind, t.At = document.Time, at
	case tagSeconds:
		return seconds(t)
	case tagBignum, tagNegativeBignum:
		return bignum(n, t)
	}
	if t.Kind == document.Break {
		return "a tag on no value"
	}
	return ""
}

func seconds(t *document.Token) (fault string) {
	switch t.Kind {
	case document.Uint, document.Int:
		if t.Kind == document.Uint && t.Bits > math.MaxInt64 {
			return "a time beyond 2^63 seconds"
		}
		t.At = time.Unix(int64(t.Bits), 0).UTC()
	case document.Float:
		f := math.Float64frombits(t.Bits)
		if !(math.Abs(f) < 1<<62) {
			return "a time beyond 2^62 seconds"
		}
		whole, part := math.Modf(f)
		t.At = time.Unix(int64(whole), int64(part*1e9)).UTC()
	default:
		return "a time that is no number of seconds"
	}
	t.Kind = document.Time
	return ""
}

func bignum(tag uint64, t *document.Token) (fault string) {
	if t.Kind != document.Bytes {
		return "a bignum that is not made of bytes"
	}
	n := uint64(0)
	for i, b := range t.Data {
		if i < len(t.Data)-8 && b != 0 {
			return "an integer of more than 64 bits"
		}
		n = n<<8 | uint64(b)
	}
	t.Kind, t.Bits = document.Uint, n
	if tag == tagNegativeBignum {
		if n > math.MaxInt64 {
			return tooLow
		}
		t.Kind, t.Bits = document.Int, ^n
	}
	return ""
}
