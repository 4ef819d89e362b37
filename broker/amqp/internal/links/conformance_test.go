package links_test

import (
	"testing"

	_ "github.com/sabir-go/sabir/broker/amqp"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

func TestConformance(t *testing.T) {
	transporttest.Bus(t, brokers.ForTest(t, brokers.RabbitMQ, brokers.Config{Password: "s3cret"}), transport.Config{})
}

func BenchmarkBatchedEcho(b *testing.B) {
	transporttest.BenchmarkBus(b, brokers.ForTestShared(b, brokers.RabbitMQ).URL(), transport.Config{})
}
