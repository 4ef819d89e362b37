package compress

import (
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"
)

// s2Method writes the block format of https://github.com/klauspost/compress/tree/master/s2.
type s2Method struct{}

func (s2Method) Compress(dst, src []byte) []byte {
	start, most := len(dst), s2.MaxEncodedLen(len(src))
	if most < 0 { // more than the format has space for
		return dst
	}
	dst = slices.Grow(dst, most)
	return dst[:start+len(s2.Encode(dst[start:start+most], src))]
}

func (s2Method) Size(src []byte) (uint64, error) {
	size, err := s2.DecodedLen(src)
	if err != nil || size < 0 {
		return 0, fmt.Errorf("an s2 value that does not say its size: %w", s2.ErrCorrupt)
	}
	return uint64(size), nil
}

func (s2Method) Decompress(dst, src []byte) ([]byte, error) {
	out, err := s2.Decode(dst[len(dst):cap(dst)], src)
	if err != nil {
		return dst, err
	}
	if len(out) > cap(dst)-len(dst) {
		return dst, errors.New("longer than it announced")
	}
	return dst[:len(dst)+len(out)], nil
}
