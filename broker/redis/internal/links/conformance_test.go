package links_test

import (
	"testing"

	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/tcp"
)

func TestConformance(t *testing.T) {
	transporttest.Bus(t, brokers.ForTest(t, brokers.Redis, brokers.Config{Password: "s3cret"}), transport.Config{})
}

func TestConformanceOverTLSWithAUser(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	certificates, err := tcp.Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	server := brokers.ForTest(t, brokers.Redis, brokers.Config{User: "ada", Password: "s3cret", Cert: files.Cert, Key: files.Key, CA: files.CA})
	transporttest.Bus(t, server, transport.Config{TLS: certificates})
}
