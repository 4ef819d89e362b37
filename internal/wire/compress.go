package wire

import (
	"fmt"

	"github.com/sabir-go/sabir/internal/compression"
)

// linked reports whether the program has imported the package that knows the compression.
func (c Compression) linked() bool { return compression.Lookup(string(c)) != nil }

// compress is [compression.Compress] by c.
func (c Compression) compress(dst, src []byte) ([]byte, bool) {
	return compression.Compress(string(c), dst, src)
}

// decompress is [compression.Decompress] by c.
func (c Compression) decompress(dst, src []byte, most int) ([]byte, error) {
	out, err := compression.Decompress(string(c), dst, src, most)
	if err != nil {
		return out, fmt.Errorf("wire: %w", err)
	}
	return out, nil
}
