package gob

import (
	"fmt"
	"unicode"

	"github.com/sabir-go/sabir/codec"
)

const (
	// maxBytes is the longest message that Decode takes, in bytes.
	maxBytes = 64 << 20

	// maxDeepBytes is the longest message that Decode takes into a recursive type or one with interfaces in it, in bytes.
	// The library does not bound how deep such values nest, other than by what fits on its stack, so their length does.
	maxDeepBytes = 1 << 20

	// maxTypes is the number of types that a message may describe.
	maxTypes = 256
)

// inspect looks at the parts of a message before the library does. Each is an unsigned length, then a signed type number, which is
// below 0 for the description of a type, then the rest. The last part is the value.
func inspect(data []byte, deep bool) error {
	limit := maxBytes
	if deep {
		limit = maxDeepBytes
	}
	if len(data) > limit {
		return fault(fmt.Sprintf("%d bytes, at most %d are taken for this type", len(data), limit))
	}
	types := 0
	for at := 0; at < len(data); {
		size, begin, ok := number(data, at)
		if !ok || size == 0 || size > uint64(len(data)-begin) {
			return &codec.Error{Codec: codecName, Offset: int64(at), Message: "a part that is empty or longer than the data"}
		}
		id, _, ok := number(data, begin)
		if !ok {
			return &codec.Error{Codec: codecName, Offset: int64(begin), Message: "the data ends inside a type number"}
		}
		if id&1 == 1 { // the lowest bit is the sign
			types++
		}
		if types > maxTypes {
			return &codec.Error{Codec: codecName, Offset: int64(at), Message: fmt.Sprintf("more than %d types are described", maxTypes)}
		}
		at = begin + int(size)
	}
	return nil
}

// number reads an unsigned number: itself below 128, else the negated count of the bytes that follow, highest first.
func number(data []byte, at int) (n uint64, next int, ok bool) {
	if at >= len(data) {
		return 0, at, false
	}
	first := data[at]
	at++
	if first < 128 {
		return uint64(first), at, true
	}
	size := 256 - int(first)
	if size > 8 || size > len(data)-at {
		return 0, at, false
	}
	for _, b := range data[at : at+size] {
		n = n<<8 | uint64(b)
	}
	return n, at + size, true
}

// printable keeps a message on one line.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}
