package bind

// members returns the rest of an object after its "{"; nil if body begins with something else.
func members(body []byte) []byte {
	if body = trimSpace(body); len(body) == 0 || body[0] != '{' {
		return nil
	}
	return body[1:]
}

// object makes an object of the members that stand in dst from start on, each with a comma before it, and of those that
// stand in inner, with the "}" behind them. inner is nil for none. What comes out is JSON if the body was, and only then.
func object(dst []byte, start int, inner []byte) []byte {
	if len(dst) == start {
		dst = append(dst, '{')
	} else {
		dst[start] = '{'
		if next := trimSpace(inner); inner != nil && (len(next) == 0 || next[0] != '}') {
			dst = append(dst, ',')
		}
	}
	if inner == nil {
		return append(dst, '}')
	}
	return append(dst, inner...)
}

// trimSpace removes JSON's white space from the beginning (RFC 8259, section 2).
func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

func blank(b []byte) bool { return len(trimSpace(b)) == 0 }
