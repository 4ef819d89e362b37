package tcp_test

import (
	"path/filepath"
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/tcp"
)

func TestConformanceOfTCP(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return "tcp://:0", transport.Config{} })
}

func TestConformanceOfUnix(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return unixAddress(t), transport.Config{} })
}

func TestConformanceOfTLS(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return "tls://:0", mutualTLS(t) })
}

func unixAddress(t testing.TB) string { return "unix://" + filepath.Join(t.TempDir(), "s") }

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

func BenchmarkTCP(b *testing.B)  { transporttest.Benchmark(b, "tcp://:0", transport.Config{}) }
func BenchmarkUnix(b *testing.B) { transporttest.Benchmark(b, unixAddress(b), transport.Config{}) }
func BenchmarkTLS(b *testing.B)  { transporttest.Benchmark(b, "tls://:0", mutualTLS(b)) }
