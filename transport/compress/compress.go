// Package compress links the compression methods of sabir.Compress into a program: "s2", which is fast, and "zstd", which
// makes values smaller. Import it for its side effect, on each node that compresses:
//
//	import _ "github.com/sabir-go/sabir/transport/compress"
//
//	node := sabir.NewNode(sabir.Join("tcp://:7700", sabir.Compress("s2", 4096)))
//
// Two nodes compress what they send each other where both have switched the same method on.
package compress

import "github.com/sabir-go/sabir/internal/compression"

func init() {
	compression.Register("s2", s2Method{})
	compression.Register("zstd", zstdMethod{})
}
