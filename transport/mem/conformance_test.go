package mem_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/mem"
)

func TestConformance(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) {
		return "mem://conformance", transport.Config{Name: "dialler"}
	})
}

func BenchmarkMem(b *testing.B) { transporttest.Benchmark(b, "mem://", transport.Config{}) }
