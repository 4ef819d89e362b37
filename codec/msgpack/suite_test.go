package msgpack_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/internal/codectest"
)

var features = codectest.Features{
	Evolves:      true,
	Widens:       true,
	KeepsNil:     true,
	BytesPerByte: 256,
	Deep:         func(levels int) []byte { return []byte(strings.Repeat("\x91", levels)) },
	Hostile: map[string][]byte{
		"a list of 4 billion":         []byte("\xdd\xff\xff\xff\xff\x01\x02"),
		"a map of 4 billion":          []byte("\xdf\xff\xff\xff\xff\xa1a\x02"),
		"text of 4 GB":                []byte("\xdb\xff\xff\xff\xffabc"),
		"bytes of 4 GB":               []byte("\xc6\xff\xff\xff\xffabc"),
		"an extension of 4 GB":        []byte("\xc9\xff\xff\xff\xff\xffabc"),
		"lists that claim each other": []byte(strings.Repeat("\xdc\x03\x00", 100) + strings.Repeat("\xc0", 800)),
		"the byte c1":                 []byte("\xc1"),
		"a timestamp of 3 bytes":      []byte("\xc7\x03\xffabc"),
		"a timestamp of 2^30 nanos":   []byte("\xd7\xff\xff\xff\xff\xff\x00\x00\x00\x00"),
		"a nil key":                   []byte("\x82\xa2id\xa1a\xc0"),
	},
}

func TestConformance(t *testing.T) { codectest.Run(t, msgpack.Codec, features) }

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, msgpack.Codec, features) }

func BenchmarkShapes(b *testing.B) { codectest.Benchmark(b, msgpack.Codec) }
