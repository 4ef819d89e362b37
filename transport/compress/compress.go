// Package compress makes values smaller before they go over links, by S2, which is fast, or Zstandard, which makes them
// smaller. Two nodes compress what they send each other where both have joined with the same method:
//
//	node := sabir.NewNode(sabir.Join("tcp://:7700", compress.S2(4096)))
//
// By default nothing is compressed, which is right within a data centre.
package compress

import (
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/compression"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/option"
)

const (
	s2Name   = "s2"
	zstdName = "zstd"
)

func init() {
	compression.Register(s2Name, s2Method{})
	compression.Register(zstdName, zstdMethod{})
}

// S2 compresses values of at least above bytes by S2.
func S2(above int) cluster.Option { return method{s2Name, above, option.Caller()} }

// Zstd compresses values of at least above bytes by Zstandard.
func Zstd(above int) cluster.Option { return method{zstdName, above, option.Caller()} }

// method is an option of Join.
type method struct {
	name  string
	above int
	at    option.Site
}

func (m method) ApplyJoin(c *joining.Config) {
	c.Once("a method of package compress", m.at)
	c.Compression, c.CompressAbove = m.name, m.above
}
