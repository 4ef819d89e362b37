package nats_test

import (
	"testing"

	"github.com/sabir-go/sabir/brokers"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/nats"
	"github.com/sabir-go/sabir/transport/transporttest"
)

func TestConformance(t *testing.T) {
	transporttest.Bus(t, brokers.ForTest(t, brokers.NATS, brokers.Config{Password: "s3cret"}), transport.Config{})
}

func TestConformanceOverTLS(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	server := brokers.ForTest(t, brokers.NATS, brokers.Config{Password: "s3cret", Cert: files.Cert, Key: files.Key, CA: files.CA})
	transporttest.Bus(t, server, transport.Config{TLS: certificates(t, files)})
}
