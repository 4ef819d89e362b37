package moleculer

import (
	"encoding/binary"
	"math"
)

// The first bytes of items of CBOR that JavaScript has in a way of its own, and the kinds of others, which are in the upper three bits.
const (
	longUint, longNegative, longFloat = 0x1b, 0x3b, 0xfb
	secondsTag, lastTag               = 0xc1, 0xc3 // of times, and of integers of any size
	nullItem                          = 0xf6
	bytesKind, textKind               = 2, 3
)

// cborItem returns the end of the first item of CBOR in data, without those that it contains, where its text or bytes begin, and its argument.
// The end is 0 where the data end within it.
func cborItem(data []byte) (body, end int, argument uint64) {
	body, argument = 1, uint64(data[0]&0x1f)
	switch {
	case argument > 27: // no length
		argument = 0
	case argument >= 24:
		body += 1 << (argument - 24)
		if body > len(data) {
			return 0, 0, 0
		}
		argument = 0
		for _, b := range data[1:body] {
			argument = argument<<8 | uint64(b)
		}
	}
	if kind := data[0] >> 5; kind != bytesKind && kind != textKind {
		return body, body, argument
	}
	if argument > uint64(len(data)-body) {
		return 0, 0, 0
	}
	return body, body + int(argument), argument
}

// withFloats puts floats in the place of the integers of 64 bits in CBOR that package codec/cbor wrote, as far as a float holds them exactly.
func withFloats(data []byte) {
	for len(data) > 0 {
		_, end, argument := cborItem(data)
		if first := data[0]; argument <= 1<<53 && (first == longUint || first == longNegative) {
			f := float64(argument)
			if first == longNegative {
				f = -1 - f
			}
			data[0] = longFloat
			binary.BigEndian.PutUint64(data[1:], math.Float64bits(f))
		}
		data = data[end:]
	}
}

// mended is CBOR without what JavaScript writes and no other reader takes: a text that was cut within a character, such as an emoji, ends with U+FFFD,
// and a Date that is none is null, as in JSON.
func mended(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		body, end, _ := cborItem(data)
		if end == 0 {
			return append(out, data...)
		}
		if data[0] == secondsTag && end < len(data) {
			_, n, bits := cborItem(data[end:])
			if n > 0 && isNaN(data[end], bits) {
				out = append(out, nullItem)
				data = data[end+n:]
				continue
			}
		}
		start := len(out)
		out = append(out, data[:end]...)
		if data[0]>>5 == textKind {
			replaceHalves(out[start+body:])
		}
		data = data[end:]
	}
	return out
}

// isNaN reports whether an item is a float, of 16, 32 or 64 bits, that is no number.
func isNaN(first byte, bits uint64) bool {
	switch first {
	case 0xf9:
		return bits&0x7c00 == 0x7c00 && bits&0x3ff != 0
	case 0xfa:
		return math.IsNaN(float64(math.Float32frombits(uint32(bits))))
	case longFloat:
		return math.IsNaN(math.Float64frombits(bits))
	}
	return false
}

// replaceHalves puts U+FFFD in the place of each half of a character (a surrogate). Both have three bytes.
func replaceHalves(text []byte) {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == 0xed && text[i+1] >= 0xa0 {
			copy(text[i:], "\ufffd")
		}
	}
}

// withoutMeanings is mended CBOR in which times and large integers are the values that they are made of, which can be passed over whatever they are.
func withoutMeanings(data []byte) []byte {
	data = mended(data)
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		_, end, _ := cborItem(data)
		if end == 0 {
			return append(out, data...)
		}
		if first := data[0]; first < 0xc0 || first > lastTag {
			out = append(out, data[:end]...)
		}
		data = data[end:]
	}
	return out
}
