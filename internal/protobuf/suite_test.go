package protobuf_test

import (
	"bytes"
	"testing"

	"github.com/sabir-go/sabir/internal/codectest"
	"github.com/sabir-go/sabir/internal/protobuf"
)

var features = codectest.Features{
	Refuses: map[string]string{
		"list with a nil pointer": "a repeated field has no place for nothing",
	},
	Evolves:    true,
	Open:       true,
	UTF8:       codectest.UTF8Refused,
	AnyInteger: float64(0), // google.protobuf.Value has doubles only
	Deep:       nestedGroups,
	Hostile: map[string][]byte{
		"a length of 2 GiB":                 {0x0a, 0xff, 0xff, 0xff, 0xff, 0x07, 'a'},
		"a length of 2^64-1":                {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'a'},
		"a tag without a number":            {0x02, 0x00},
		"a number of more than 10 bytes":    append(bytes.Repeat([]byte{0x80}, 11), 1),
		"a field that is not there":         {0xf8, 0x3f},
		"a group that does not end":         bytes.Repeat([]byte{0x7b}, 5000),
		"an end of a group without a start": {0x7c},
	},
}

// nestedGroups is an unknown field: groups inside each other, all of them closed.
func nestedGroups(levels int) []byte {
	return append(bytes.Repeat([]byte{15<<3 | 3}, levels), bytes.Repeat([]byte{15<<3 | 4}, levels)...)
}

func TestConformance(t *testing.T)   { codectest.Run(t, protobuf.Codec, features) }
func FuzzDecodeStructs(f *testing.F) { codectest.Fuzz(f, protobuf.Codec, features) }
func BenchmarkShapes(b *testing.B)   { codectest.Benchmark(b, protobuf.Codec) }
