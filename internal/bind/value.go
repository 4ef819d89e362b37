package bind

import (
	"unicode/utf8"

	"github.com/sabir-go/sabir/internal/route"
)

// form is a route.Kind that is faster to compare.
type form byte

const (
	quoted form = iota
	integer
	number
	boolean
)

var forms = map[route.Kind]form{route.Integer: integer, route.Number: number, route.Boolean: boolean}

// appendValue writes text as JSON of the form. Where it is not of the form it returns the rule that is broken.
func appendValue(dst []byte, form form, text string) (out []byte, rule string) {
	ok := false
	switch form {
	case integer:
		ok = isNumber(text, false)
	case number:
		ok = isNumber(text, true)
	case boolean:
		ok = text == "true" || text == "false"
	default:
		if dst, ok = appendText(dst, text); !ok {
			return dst, RuleUTF8
		}
		return dst, ""
	}
	if !ok {
		return dst, RuleKind
	}
	return append(dst, text...), ""
}

// isNumber reports whether s is a number of JSON (RFC 8259, section 6); without fraction it must be an integer of it, so
// without an exponent.
func isNumber(s string, fraction bool) bool {
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	n := digits(s)
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	if s = s[n:]; s == "" || !fraction {
		return s == ""
	}
	if s[0] == '.' {
		if n = digits(s[1:]); n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if n = digits(s); n == 0 {
			return false
		}
		s = s[n:]
	}
	return s == ""
}

// digits counts the decimal digits at the beginning.
func digits(s string) (n int) {
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n
}

// plainByte holds for each byte whether it stands for itself in a string of JSON and is ASCII.
var plainByte = func() (plain [256]bool) {
	for b := byte(' '); b < utf8.RuneSelf; b++ {
		plain[b] = b != '"' && b != '\\'
	}
	return plain
}()

// appendText writes s as a string of JSON. It is false where s is not valid UTF-8.
func appendText(dst []byte, s string) ([]byte, bool) {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	done, i := 0, 0
	for i < len(s) {
		c := s[i]
		switch {
		case plainByte[c]:
			i++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				return dst, false
			}
			i += size
		default:
			dst = append(dst, s[done:i]...)
			if c < ' ' {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			} else {
				dst = append(dst, '\\', c)
			}
			i++
			done = i
		}
	}
	return append(append(dst, s[done:]...), '"'), true
}
