package quic_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/quic"
	"github.com/sabir-go/sabir/transport/tcp"
)

func TestConformance(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return "quic://:0", transport.Config{} })
}

func TestConformanceWithCertificates(t *testing.T) {
	brokers.Long(t)
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return "quic://:0", mutualTLS(t) })
}

// mutualTLS is a Config for both sides on 127.0.0.1.
func mutualTLS(t testing.TB) transport.Config {
	t.Helper()
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1", "localhost")
	config, err := tcp.Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	return transport.Config{TLS: config}
}

func BenchmarkQUIC(b *testing.B) { transporttest.Benchmark(b, "quic://:0", transport.Config{}) }

func TestPacketSizes(t *testing.T) { transporttest.PacketSizes(t, "quic", 1452) }
