package json

import (
	"bytes"
	"fmt"

	"github.com/sabir-go/sabir/codec"
)

// tooDeep returns the index of the first bracket in text that opens more than limit levels, or -1.
//
// The library's own limit is fixed at 10000 levels, so text is looked at before the library sees it. That covers every
// target alike: typed, any, skipped, and types with an UnmarshalJSON that may recurse as it likes. Only brackets and
// strings matter here; whether text is JSON at all is the library's business. As far as text is valid, the depth
// counted is exact, and the library goes no further than that.
func tooDeep(text []byte, limit int) int {
	// Text nests no deeper than it has opening brackets. Most messages do not have many, and counting is quick.
	if bytes.Count(text, []byte{'['})+bytes.Count(text, []byte{'{'}) <= limit {
		return -1
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			depth++
			if depth > limit {
				return i
			}
		case ']', '}':
			depth--
		case '"':
			i = closingQuote(text, i)
		}
	}
	return -1
}

// closingQuote returns the index of the quote that ends the string which begins at text[start], or len(text).
func closingQuote(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// tooDeep is the error of a text that nests too deep at that offset, or of a value, for which the offset is -1.
func (c *jsonCodec) tooDeep(offset int) *codec.Error {
	return &codec.Error{Codec: Name, Offset: int64(offset), Message: fmt.Sprintf("nested deeper than the limit of %d levels", c.maxDepth)}
}
