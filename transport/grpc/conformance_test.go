package grpc_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/grpc"
	"github.com/sabir-go/sabir/transport/tcp"
)

func TestConformanceOfGRPC(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return "grpc://:0", transport.Config{} })
}

func TestConformanceOfGRPCOverTLS(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return "grpc+tls://:0", mutualTLS(t) })
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

func BenchmarkGRPC(b *testing.B)        { transporttest.Benchmark(b, "grpc://:0", transport.Config{}) }
func BenchmarkGRPCOverTLS(b *testing.B) { transporttest.Benchmark(b, "grpc+tls://:0", mutualTLS(b)) }
