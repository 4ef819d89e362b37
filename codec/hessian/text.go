package hessian

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// A string is cut into chunks of at most so many UTF-16 units, and binary data into chunks of so many bytes, as Java's
// strings are.
const chunkUnits = 0x8000

const highBits = 0x8080808080808080

// isASCII looks at eight bytes at a time.
func isASCII(s string) bool {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; len(b) >= 8; b = b[8:] {
		if binary.NativeEndian.Uint64(b)&highBits != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendString writes s. It returns false where s is not valid UTF-8.
func appendString(dst []byte, s string) ([]byte, bool) {
	if isASCII(s) {
		for len(s) > chunkUnits {
			dst = append(dst, tagStringChunk, chunkUnits>>8, 0)
			dst = append(dst, s[:chunkUnits]...)
			s = s[chunkUnits:]
		}
		return append(appendStringHead(dst, len(s)), s...), true
	}
	if !utf8.ValidString(s) {
		return dst, false
	}
	units := 0
	for _, r := range s {
		units += utf16.RuneLen(r)
	}
	for units > chunkUnits {
		end, size := cut(s)
		dst = append(dst, tagStringChunk, byte(size>>8), byte(size))
		dst = appendUnits(dst, s[:end])
		s, units = s[end:], units-size
	}
	return appendUnits(appendStringHead(dst, units), s), true
}

// appendShort writes s if it has at most 31 bytes, all ASCII, and there is space for it. Otherwise it returns nil. It looks
// at the bytes while it copies them, several at a time; the last of them may be copied twice.
func appendShort(dst []byte, s string) []byte {
	start, n := len(dst), len(s)
	if n > 31 || cap(dst)-start <= n {
		return nil
	}
	dst = dst[: start+1+n : cap(dst)]
	dst[start] = byte(n)
	from, to := unsafe.Slice(unsafe.StringData(s), n), dst[start+1:]
	var all uint64
	switch {
	case n >= 8:
		for i := 0; i < n-8; i += 8 {
			word := binary.NativeEndian.Uint64(from[i:])
			all |= word
			binary.NativeEndian.PutUint64(to[i:], word)
		}
		word := binary.NativeEndian.Uint64(from[n-8:])
		all |= word
		binary.NativeEndian.PutUint64(to[n-8:], word)
	case n >= 4:
		first, last := binary.NativeEndian.Uint32(from), binary.NativeEndian.Uint32(from[n-4:])
		all = uint64(first | last)
		binary.NativeEndian.PutUint32(to, first)
		binary.NativeEndian.PutUint32(to[n-4:], last)
	default:
		for i, c := range from {
			all |= uint64(c)
			to[i] = c
		}
	}
	if all&highBits != 0 {
		return nil
	}
	return dst
}

func appendStringHead(dst []byte, units int) []byte {
	switch {
	case units <= 31:
		return append(dst, byte(tagString+units))
	case units <= 1023:
		return append(dst, byte(tagStringShort+units>>8), byte(units))
	}
	return append(dst, tagStringLast, byte(units>>8), byte(units))
}

// cut returns how many bytes of s are in one chunk and how many units they are. A pair of surrogates stays together.
func cut(s string) (end, units int) {
	for i, r := range s {
		n := utf16.RuneLen(r)
		if units+n > chunkUnits {
			return i, units
		}
		units += n
	}
	return len(s), units
}

// appendUnits writes valid UTF-8 with characters beyond the basic plane as two surrogates of three bytes each.
func appendUnits(dst []byte, s string) []byte {
	done := 0
	for i := 0; i < len(s); i++ {
		if s[i] < 0xf0 {
			continue
		}
		r, _ := utf8.DecodeRuneInString(s[i:])
		high, low := utf16.EncodeRune(r)
		dst = append(dst, s[done:i]...)
		dst = appendSurrogate(appendSurrogate(dst, high), low)
		i += 3
		done = i + 1
	}
	return append(dst, s[done:]...)
}

func appendSurrogate(dst []byte, r rune) []byte {
	return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
}

func appendBinary(dst, b []byte) []byte {
	for len(b) > chunkUnits {
		dst = append(dst, tagBinaryChunk, chunkUnits>>8, 0)
		dst = append(dst, b[:chunkUnits]...)
		b = b[chunkUnits:]
	}
	switch {
	case len(b) <= 15:
		dst = append(dst, byte(tagBinary+len(b)))
	case len(b) <= 1023:
		dst = append(dst, byte(tagBinaryShort+len(b)>>8), byte(len(b)))
	default:
		dst = binary.BigEndian.AppendUint16(append(dst, tagBinaryLast), uint16(len(b)))
	}
	return append(dst, b...)
}

// stringHead reads the number of units that follow a string's tag, and whether another chunk follows those.
func (d *Decoder) stringHead(tag byte) (units int, more bool) {
	switch {
	case tag <= 0x1f:
		return int(tag), false
	case tag >= 0x30 && tag <= 0x33:
		return int(tag-tagStringShort)<<8 | int(d.bits(1)), false
	case tag == tagStringLast || tag == tagStringChunk:
		return int(d.bits(2)), tag == tagStringChunk
	}
	d.pos--
	d.mismatch("string")
	return 0, false
}

// rawString reads a string whose tag the caller has taken. Where it can it returns a part of the data; shared is then true.
func (d *Decoder) rawString(tag byte) (s string, shared bool) {
	units, more := d.stringHead(tag)
	if units <= len(d.data)-d.pos && !more && d.fault == nil {
		s = unsafe.String(unsafe.SliceData(d.data[d.pos:]), units)
		if isASCII(s) {
			d.pos += units
			return s, true
		}
	}
	raw, plain := d.units(units)
	if plain && !more && d.fault == nil {
		return unsafe.String(unsafe.SliceData(raw), len(raw)), true
	}
	var text strings.Builder
	for d.fault == nil {
		text.Write(raw)
		if !more {
			break
		}
		units, more = d.stringHead(d.byte())
		raw, _ = d.units(units)
	}
	if d.fault != nil {
		return "", false
	}
	return joinSurrogates(text.String()), false
}

// units reads n UTF-16 units. plain means that they are valid UTF-8 as they stand: no surrogates.
func (d *Decoder) units(n int) (raw []byte, plain bool) {
	start := d.pos
	plain = true
	for n > 0 && d.fault == nil {
		b := d.data[d.pos:]
		if len(b) == 0 {
			d.fail(endsEarly)
			break
		}
		if b[0] < utf8.RuneSelf {
			d.pos, n = d.pos+1, n-1
			continue
		}
		r, size := utf8.DecodeRune(b)
		switch {
		case size > 1:
			n -= utf16.RuneLen(r)
		case len(b) >= 3 && b[0] == 0xed && b[1]&0xe0 == 0xa0 && b[2]&0xc0 == 0x80: // a surrogate
			size, plain = 3, false
			n--
		default:
			d.fail("a string that is not UTF-8")
		}
		d.pos += size
	}
	if n < 0 {
		d.fail("a string or chunk that ends inside a character")
	}
	return d.data[start:d.pos], plain
}

// joinSurrogates makes UTF-8 of text in which characters beyond the basic plane may be two surrogates of three bytes.
func joinSurrogates(s string) string {
	if strings.IndexByte(s, 0xed) < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		high := surrogate(s[i:])
		if high < 0 {
			out = append(out, s[i])
			i++
			continue
		}
		r := rune(utf8.RuneError)
		if low := surrogate(s[i+3:]); low >= 0 {
			r = utf16.DecodeRune(high, low)
		}
		i += 3
		if r != utf8.RuneError {
			i += 3
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// surrogate returns the surrogate at the start of s, or -1.
func surrogate(s string) rune {
	if len(s) < 3 || s[0] != 0xed || s[1]&0xe0 != 0xa0 {
		return -1
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f)
}

// name reads a string that is not kept: the name of a type, class or field. It may be a part of the data.
func (d *Decoder) name() string {
	s, _ := d.rawString(d.byte())
	return s
}

// Strings of up to maxShared bytes are copied into blocks of blockBytes, since one allocation for many is faster. A
// block is never larger than what is left of the data.
const (
	maxShared  = 128
	blockBytes = 512
)

// string reads a string whose tag the caller has taken.
func (d *Decoder) string(tag byte) string {
	s, shared := d.rawString(tag)
	if !shared || s == "" {
		return s
	}
	return d.keep(s)
}

// keep copies a part of the data.
func (d *Decoder) keep(s string) string {
	if len(s) > maxShared || len(s) == 0 {
		return strings.Clone(s)
	}
	if cap(d.block)-len(d.block) < len(s) {
		d.block = make([]byte, 0, min(len(d.data)-d.pos+len(s), blockBytes))
	}
	start := len(d.block)
	d.block = append(d.block, s...)
	return unsafe.String(&d.block[start], len(s))
}

// binary reads binary data whose tag the caller has taken. The result is the caller's own.
func (d *Decoder) binary(tag byte) []byte {
	b := d.rawBinary(tag)
	if tag != tagBinaryChunk || d.fault != nil {
		return append([]byte{}, b...)
	}
	all := append([]byte{}, b...)
	for tag == tagBinaryChunk && d.fault == nil {
		tag = d.byte()
		all = append(all, d.rawBinary(tag)...)
	}
	return all
}

// rawBinary reads one chunk, a part of the data.
func (d *Decoder) rawBinary(tag byte) []byte {
	switch {
	case tag >= 0x20 && tag <= 0x2f:
		return d.take(int(tag - tagBinary))
	case tag >= 0x34 && tag <= 0x37:
		return d.take(int(tag-tagBinaryShort)<<8 | int(d.bits(1)))
	case tag == tagBinaryLast || tag == tagBinaryChunk:
		return d.take(int(d.bits(2)))
	}
	d.pos--
	d.mismatch("binary")
	return nil
}
