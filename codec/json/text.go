package json

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// plainByte holds for each byte whether it stands for itself in a string of JSON and is ASCII.
var plainByte = func() (plain [256]bool) {
	for b := byte(' '); b < utf8.RuneSelf; b++ {
		plain[b] = b != '"' && b != '\\'
	}
	return plain
}()

const hex = "0123456789abcdef"

// appendString writes s in quotes. It returns false where s is not valid UTF-8.
func appendString(dst []byte, s string) ([]byte, bool) {
	text := unsafe.Slice(unsafe.StringData(s), len(s)) // only read
	plain := plainPrefix(text)
	if plain == len(text) { // one look at the capacity for all
		start, end := len(dst)+1, len(dst)+1+len(text)
		dst = slices.Grow(dst, len(text)+2)[:end+1]
		dst[start-1] = '"'
		copy(dst[start:end], text)
		dst[end] = '"'
		return dst, true
	}
	if !utf8.Valid(text[plain:]) {
		return dst, false
	}
	dst = append(append(dst, '"'), text[:plain]...)
	for _, b := range text[plain:] {
		if plainByte[b] || b >= utf8.RuneSelf {
			dst = append(dst, b)
		} else {
			dst = appendEscape(dst, b)
		}
	}
	return append(dst, '"'), true
}

func appendEscape(dst []byte, b byte) []byte {
	c := byte('u')
	switch b {
	case '"', '\\':
		c = b
	case '\b':
		c = 'b'
	case '\f':
		c = 'f'
	case '\n':
		c = 'n'
	case '\r':
		c = 'r'
	case '\t':
		c = 't'
	}
	if dst = append(dst, '\\', c); c != 'u' {
		return dst
	}
	return append(dst, '0', '0', hex[b>>4], hex[b&15])
}

// appendFloat writes f as ECMAScript does (ECMA-262, section 6.1.6.1.20), and so does encoding/json. It returns false for
// what JSON cannot express.
func appendFloat(dst []byte, f float64, bits int) ([]byte, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, false
	}
	limit := int64(1e15)
	if bits == 32 {
		limit = 1 << 24 // beyond, the shortest digits are not the exact ones
	}
	if whole := int64(f); float64(whole) == f && whole > -limit && whole < limit && (whole != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, whole, 10), true
	}
	form := byte('f')
	if abs := math.Abs(f); abs != 0 && (bits == 64 && (abs < 1e-6 || abs >= 1e21) || bits == 32 && (float32(abs) < 1e-6 || float32(abs) >= 1e21)) {
		form = 'e'
	}
	dst = strconv.AppendFloat(dst, f, form, -1, bits)
	if n := len(dst); form == 'e' && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09 is e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst, true
}
