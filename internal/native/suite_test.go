package native_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/codectest"
	"github.com/sabir-go/sabir/internal/native"
)

var features = codectest.Features{
	KeepsNil:     true,
	UTF8:         codectest.UTF8Kept,
	BytesPerByte: bytesPerByte,
	Hostile: map[string][]byte{
		"a hash alone":             make([]byte, 8),
		"the hash of another type": []byte(strings.Repeat("\x55", 100)),
	},
}

func TestConformance(t *testing.T) { codectest.Run(t, native.Codec(), features) }

func FuzzShapes(f *testing.F) { codectest.Fuzz(f, native.Codec(), features) }

func BenchmarkShapes(b *testing.B) { codectest.Benchmark(b, native.Codec()) }
