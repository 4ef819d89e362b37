package mem_test

import (
	"testing"

	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/mem"
	"github.com/sabir-go/sabir/transport/transporttest"
)

func TestConformance(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) {
		return "mem://conformance", transport.Config{Name: "dialler"}
	})
}

func BenchmarkMem(b *testing.B) { transporttest.Benchmark(b, "mem://", transport.Config{}) }
