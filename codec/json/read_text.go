package json

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string.
func (r *reader) text() (string, bool) {
	b, ok := r.unquoted()
	if !ok {
		return "", false
	}
	return r.strings.Copy(b, len(r.data)-r.pos), true
}

// name reads the name of a member. It is good until the next string is read.
func (r *reader) name() ([]byte, bool) { return r.unquoted() }

// raw reads a string without escapes; one with them is left to the library.
func (r *reader) raw() ([]byte, bool) {
	start := r.pos
	b, ok := r.unquoted()
	return b, ok && r.pos-start == len(b)+2
}

// unquoted reads a string. What it returns is good until the next string is read.
func (r *reader) unquoted() ([]byte, bool) {
	if r.peek() != '"' {
		return nil, false
	}
	data, start := r.data, r.pos+1
	i := start + plainPrefix(data[start:])
	if i == len(data) {
		return nil, false
	}
	if data[i] == '"' {
		r.pos = i + 1
		return data[start:i], true
	}
	return r.irregular(start, i)
}

// irregular reads on a string that began at start and has a byte at i that is not plain.
func (r *reader) irregular(start, i int) ([]byte, bool) {
	data := r.data
	end := i + untilSyntax(data[i:])
	if end == len(data) || data[end] < ' ' {
		return nil, false
	}
	if data[end] == '"' {
		r.pos = end + 1
		return data[start:end], utf8.Valid(data[i:end])
	}
	return r.escaped(start, end)
}

// escaped reads on a string that began at start and has its first escape at i.
func (r *reader) escaped(start, i int) ([]byte, bool) {
	data := r.data
	out := append(r.scratch[:0], data[start:i]...)
	for i < len(data) && data[i] == '\\' {
		c, next, ok := escape(data, i+1)
		if !ok {
			return nil, false
		}
		if c < utf8.RuneSelf {
			out = append(out, byte(c))
		} else {
			out = utf8.AppendRune(out, c)
		}
		i = next + untilSyntax(data[next:])
		out = append(out, data[next:i]...)
	}
	if i == len(data) || data[i] != '"' {
		return nil, false
	}
	r.pos, r.scratch = i+1, out
	return out, utf8.Valid(out) // what an escape stands for is valid and whole, so this is about the rest
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// plainPrefix returns how many bytes at the start of b stand for themselves in a string and are ASCII. It looks at eight at a
// time: after the subtractions, the lowest byte with its high bit set is the first that is not plain.
func plainPrefix(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if odd := (((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones) | (w - ' '*ones) | w) & highs; odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(b) && plainByte[b[i]] {
		i++
	}
	return i
}

// untilSyntax returns how many bytes at the start of b are no quote, backslash or control character.
func untilSyntax(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if odd := (((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones) | (w - ' '*ones)) & ^w & highs; odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(b) && (plainByte[b[i]] || b[i] >= utf8.RuneSelf) {
		i++
	}
	return i
}

// escape reads an escape sequence after its backslash.
func escape(data []byte, at int) (c rune, next int, ok bool) {
	if at >= len(data) {
		return 0, at, false
	}
	switch b := data[at]; b {
	case '"', '\\', '/':
		return rune(b), at + 1, true
	case 'b':
		return '\b', at + 1, true
	case 'f':
		return '\f', at + 1, true
	case 'n':
		return '\n', at + 1, true
	case 'r':
		return '\r', at + 1, true
	case 't':
		return '\t', at + 1, true
	case 'u':
	default:
		return 0, at, false
	}
	c, ok = hexRune(data, at+1)
	if !ok || !utf16.IsSurrogate(c) {
		return c, at + 5, ok
	}
	if at+7 > len(data) || data[at+5] != '\\' || data[at+6] != 'u' {
		return 0, at, false
	}
	low, ok := hexRune(data, at+7)
	c = utf16.DecodeRune(c, low)
	return c, at + 11, ok && c != utf8.RuneError
}

func hexRune(data []byte, at int) (c rune, ok bool) {
	if at+4 > len(data) {
		return 0, false
	}
	for _, b := range data[at : at+4] {
		switch {
		case b >= '0' && b <= '9':
			b -= '0'
		case b >= 'a' && b <= 'f':
			b -= 'a' - 10
		case b >= 'A' && b <= 'F':
			b -= 'A' - 10
		default:
			return 0, false
		}
		c = c<<4 | rune(b)
	}
	return c, true
}
