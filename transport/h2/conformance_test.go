package h2_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/h2"
)

func TestConformance(t *testing.T) {
	for _, scheme := range []string{"grpc+tcp", "h2c"} {
		t.Run(scheme, func(t *testing.T) {
			transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return scheme + "://:0", transport.Config{} })
		})
	}
}

func BenchmarkH2(b *testing.B) { transporttest.Benchmark(b, "h2c://:0", transport.Config{}) }
