package json

import (
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
	if !r.take('"') {
		return nil, false
	}
	data, start := r.data, r.pos
	for i := start; i < len(data); {
		b := data[i]
		if plainByte[b] {
			i++
			continue
		}
		switch {
		case b == '"':
			r.pos = i + 1
			return data[start:i], true
		case b == '\\':
			return r.escaped(start, i)
		case b < ' ':
			return nil, false
		case b < utf8.RuneSelf:
			i++ // 0x7f
		default:
			c, size := utf8.DecodeRune(data[i:])
			if c == utf8.RuneError && size == 1 {
				return nil, false
			}
			i += size
		}
	}
	return nil, false
}

// escaped reads on a string that began at start and has its first escape at i.
func (r *reader) escaped(start, i int) ([]byte, bool) {
	data := r.data
	out := append(r.scratch[:0], data[start:i]...)
	for i < len(data) {
		b := data[i]
		switch {
		case b == '"':
			r.pos, r.scratch = i+1, out
			return out, true
		case b == '\\':
			c, next, ok := escape(data, i+1)
			if !ok {
				return nil, false
			}
			out, i = utf8.AppendRune(out, c), next
		case b < ' ':
			return nil, false
		case b < utf8.RuneSelf:
			out = append(out, b)
			i++
		default:
			c, size := utf8.DecodeRune(data[i:])
			if c == utf8.RuneError && size == 1 {
				return nil, false
			}
			out = append(out, data[i:i+size]...)
			i += size
		}
	}
	return nil, false
}

// escape reads what is behind a backslash.
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
