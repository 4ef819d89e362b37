package utp_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/utp"
)

func TestConformance(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return "utp://:0", transport.Config{} })
}

func BenchmarkUTP(b *testing.B) { transporttest.Benchmark(b, "utp://:0", transport.Config{}) }

func TestPacketSizes(t *testing.T) { transporttest.PacketSizes(t, "utp", 1438) }
