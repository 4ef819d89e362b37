package bind

import "strings"

// decodePath decodes a part of a path that a parameter takes: one segment, or the rest of the path, in which something must
// stand between all slashes, encoded or not. It is false for what a Router lets no path have.
func decodePath(raw string, rest bool) (string, bool) {
	value, i := raw, 0
	for i < len(raw) && !unusual[raw[i]] {
		i++
	}
	if i == len(raw) {
		return raw, true
	}
	if strings.IndexByte(raw, '%') >= 0 {
		decoded, ok := appendDecoded(make([]byte, 0, len(raw)), raw, false)
		if !ok {
			return "", false
		}
		value = string(decoded)
	}
	start := 0
	for i := 0; i <= len(value); i++ {
		if i < len(value) && value[i] != '/' && value[i] != '\\' {
			if value[i] == 0 {
				return "", false
			}
			continue
		}
		switch part := value[start:i]; {
		case part == "." || part == "..":
			return "", false
		case part == "" && rest:
			return "", false
		}
		start = i + 1
	}
	return value, true
}

// unusual marks the bytes that make a closer check of a value necessary.
var unusual = [256]bool{0: true, '%': true, '.': true, '/': true, '\\': true}

// appendDecoded replaces escapes by the bytes that they stand for, and with plus also "+" by a space, as HTML forms write
// it. It is false where a "%" has no two hexadecimal digits behind it.
func appendDecoded(dst []byte, raw string, plus bool) ([]byte, bool) {
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '%':
			if i+2 >= len(raw) || nibble[raw[i+1]] > 15 || nibble[raw[i+2]] > 15 {
				return dst, false
			}
			dst = append(dst, nibble[raw[i+1]]<<4|nibble[raw[i+2]])
			i += 2
		case c == '+' && plus:
			dst = append(dst, ' ')
		default:
			dst = append(dst, c)
		}
	}
	return dst, true
}

// nibble is the value of a hexadecimal digit; 255 for other bytes.
var nibble = func() (values [256]byte) {
	for i := range values {
		values[i] = 255
	}
	for i, c := range "0123456789" {
		values[c] = byte(i)
	}
	for i, c := range "abcdef" {
		values[c], values[c-'a'+'A'] = byte(10+i), byte(10+i)
	}
	return values
}()
