package layout

import (
	"strconv"
	"unsafe"
)

func index(i int) string { return "/" + strconv.Itoa(i) }

// Strings of up to maxShared bytes are copied into blocks of blockBytes, since one allocation for many is faster.
const (
	maxShared  = 256
	blockBytes = 1024
)

// Strings makes the strings of one message. Short ones share blocks of up to 1 KiB, so a string that is kept can hold up to
// that much. The zero value is ready.
type Strings struct {
	block []byte
}

// Copy returns b as a string. rest is the number of bytes that the message has after b; a block is never larger than that and b.
func (s *Strings) Copy(b []byte, rest int) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > maxShared {
		return string(b)
	}
	if cap(s.block)-len(s.block) < len(b) {
		s.block = make([]byte, 0, min(rest+len(b), blockBytes))
	}
	start := len(s.block)
	s.block = append(s.block, b...)
	return unsafe.String(&s.block[start], len(b))
}
