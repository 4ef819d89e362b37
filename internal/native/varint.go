package native

import (
	"encoding/binary"
	"math/bits"
)

// Numbers of more than eight bits are varints: seven bits a byte, the lowest first, the top bit set in all but the last
// byte (as in Protocol Buffers). Signed numbers are zigzagged first: 0, -1, 1, -2 … become 0, 1, 2, 3 …

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// appendLong appends a number of two bytes and more; callers append shorter ones themselves, since a call costs more.
func appendLong(dst []byte, v uint64) []byte {
	if v >= 1<<35 && v < 1<<63 && cap(dst)-len(dst) >= 9 { // shorter ones take less time byte by byte
		return appendWord(dst, v)
	}
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// continued is the top bits of eight bytes.
const continued = 0x8080808080808080

// appendWord is appendLong of a number that fits nine bytes, for which dst has space: eight bytes at once.
func appendWord(dst []byte, v uint64) []byte {
	size := (bits.Len64(v) + 6) / 7
	w := v&(1<<28-1) | v>>28&(1<<28-1)<<32
	w = w&0x00003fff00003fff | w&0x0fffc0000fffc000<<2
	w = w&0x007f007f007f007f | w&0x3f803f803f803f80<<1
	at := len(dst)
	dst = dst[:at+9]
	binary.LittleEndian.PutUint64(dst[at:], w|continued&(1<<(8*uint(size-1))-1))
	dst[at+8] = byte(v >> 56)
	return dst[:at+size]
}

// readWord is readLong from eight bytes at once; the size is 0 where the number is longer, or not as it should be.
func readWord(w uint64) (v uint64, size int) {
	last := ^w & continued
	size = bits.TrailingZeros64(last)/8 + 1
	w &= last ^ (last - 1)
	if last == 0 || w>>(8*uint(size-1)) == 0 {
		return 0, 0
	}
	return squeezed(w), size
}

// squeezed takes the top bit out of each of eight bytes.
func squeezed(w uint64) uint64 {
	w = w&0x007f007f007f007f | w&0x7f007f007f007f00>>1
	w = w&0x00003fff00003fff | w&0x3fff00003fff0000>>2
	return w&0x0fffffff | w&0x0fffffff00000000>>4
}

func appendUvarint(dst []byte, v uint64) []byte {
	if v < 0x80 {
		return append(dst, byte(v))
	}
	return appendLong(dst, v)
}

// readLong returns the number at the start of data, the bytes it took, and what is wrong with it, "" if nothing.
func readLong(data []byte) (v uint64, size int, wrong string) {
	for i, b := range data {
		if i == 9 && b > 1 {
			return 0, 0, "a number with more than 64 bits"
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b >= 0x80 {
			continue
		}
		if b == 0 && i > 0 {
			return 0, 0, "a number in more bytes than it needs"
		}
		return v, i + 1, ""
	}
	return 0, 0, endsEarly
}
