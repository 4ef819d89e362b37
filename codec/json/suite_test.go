package json_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/codectest"
)

// doc: suite
var features = codectest.Features{
	Refuses: map[string]string{
		"infinities":      "JSON has no text for them",
		"complex numbers": "JSON has no form for them",
	},
	Evolves:    true,
	Widens:     true,
	Sorted:     true,
	AnyInteger: float64(0),
	Deep:       func(levels int) []byte { return []byte(strings.Repeat("[", levels)) },
	Hostile: map[string][]byte{
		"a name twice":          []byte(`{"a":1,"a":2}`),
		"half a surrogate":      []byte(`"\ud800"`),
		"a number out of range": []byte(`1e999`),
		"brackets":              []byte(strings.Repeat(`{"children":[`, 1000)),
	},
}

func TestConformance(t *testing.T) { codectest.Run(t, json.Codec, features) }

func FuzzShapes(f *testing.F) { codectest.Fuzz(f, json.Codec, features) }

func BenchmarkShapes(b *testing.B) { codectest.Benchmark(b, json.Codec) }

// end
