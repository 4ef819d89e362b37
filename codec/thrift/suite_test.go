package thrift_test

import (
	"bytes"
	"testing"

	"github.com/sabir-go/sabir/codec/thrift"
	"github.com/sabir-go/sabir/internal/codectest"
)

var binaryFeatures = codectest.Features{
	Refuses:  map[string]string{"list with a nil pointer": "a list has no place for nothing"},
	Evolves:  true,
	Widens:   true,
	KeepsNil: true,
	UTF8:     codectest.UTF8Refused,
	Deep: func(levels int) []byte { // structs in field 2, a list of them for the tree
		return bytes.Repeat([]byte{0x0c, 0, 2}, levels)
	},
	Hostile: map[string][]byte{
		"a string of 2 GiB":               {0x0b, 0, 1, 0x7f, 0xff, 0xff, 0xff, 'a'},
		"a string of -1 bytes":            {0x0b, 0, 1, 0xff, 0xff, 0xff, 0xff, 'a'},
		"a list of 2^31-1 structs":        {0x0f, 0, 1, 0x0c, 0x7f, 0xff, 0xff, 0xff, 0},
		"a map of 2^31-1 entries":         {0x0d, 0, 1, 0x0b, 0x08, 0x7f, 0xff, 0xff, 0xff, 0},
		"an unknown type":                 {0x63, 0, 1, 0},
		"lists that claim the same bytes": append([]byte{0x0f, 0, 1}, bytes.Repeat([]byte{0x0f, 0, 0, 0, 100}, 50)...),
	},
}

var compactFeatures = codectest.Features{
	Refuses:  binaryFeatures.Refuses,
	Evolves:  true,
	Widens:   true,
	KeepsNil: true,
	UTF8:     codectest.UTF8Refused,
	Deep:     func(levels int) []byte { return bytes.Repeat([]byte{0x2c}, levels) },
	Hostile: map[string][]byte{
		"a string of 2 GiB":        {0x18, 0xff, 0xff, 0xff, 0xff, 0x07, 'a'},
		"a list of 2^31-1 structs": {0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0},
		"a map of 2^31-1 entries":  {0x1b, 0xff, 0xff, 0xff, 0xff, 0x07, 0x85, 0},
		"an unknown type":          {0x1f, 0},
	},
}

func TestConformanceOfTheBinaryProtocol(t *testing.T) {
	codectest.Run(t, thrift.Codec, binaryFeatures)
}
func TestConformanceOfTheCompactProtocol(t *testing.T) {
	codectest.Run(t, thrift.Compact, compactFeatures)
}
func FuzzDecodeBinary(f *testing.F)  { codectest.Fuzz(f, thrift.Codec, binaryFeatures) }
func FuzzDecodeCompact(f *testing.F) { codectest.Fuzz(f, thrift.Compact, compactFeatures) }
func BenchmarkBinary(b *testing.B)   { codectest.Benchmark(b, thrift.Codec) }
func BenchmarkCompact(b *testing.B)  { codectest.Benchmark(b, thrift.Compact) }
