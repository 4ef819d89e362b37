package kcp_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/kcp"
)

func TestConformance(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return "kcp://:0", transport.Config{} })
}

func BenchmarkKCP(b *testing.B) { transporttest.Benchmark(b, "kcp://:0", transport.Config{}) }

func TestPacketSizes(t *testing.T) { transporttest.PacketSizes(t, "kcp", 1500) }
