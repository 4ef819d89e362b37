package gob_test

import (
	"testing"

	"github.com/sabir-go/sabir/codec/gob"
	"github.com/sabir-go/sabir/internal/codectest"
)

var features = codectest.Features{
	Refuses: map[string]string{
		"embedded unexported struct": "gob leaves it out",
		"list with a nil pointer":    "gob has no nil",
	},
	Evolves:            true,
	Widens:             true,
	ZeroPointersAreNil: true,
	UTF8:               codectest.UTF8Kept,
	FirstBytes:         32 << 20, // encoding/gob allocates up to 10 MiB for a list before it reads its elements
	Hostile: map[string][]byte{
		"a part of 2^60 bytes":       []byte("\xf8\x10\x00\x00\x00\x00\x00\x00\x00abc"),
		"an empty part":              []byte("\x00\x00\x00"),
		"a length of 9 bytes":        []byte("\xf7\x01\x02\x03\x04\x05\x06\x07\x08\x09"),
		"a value of unknown type":    []byte("\x04\xff\x84\x00\x05"),
		"a description cut short":    []byte("\x02\xff\x81"),
		"a type described by itself": []byte("\x05\xff\x81\x02\x01\x02"),
	},
}

func TestConformance(t *testing.T) { codectest.Run(t, gob.Codec, features) }

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, gob.Codec, features) }

func BenchmarkShapes(b *testing.B) { codectest.Benchmark(b, gob.Codec) }
